/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "intake/source.h"
#include "intake/walk.h"

/* Sources are looked after this often while events flow. */
#define TICK_NS 20000000u

/* What the process of a source says beside its events. */
static void on_note(void *context, const struct record *record)
{
	struct source *source = context;

	source_note(source, record);
	if (source->role == ROLE_RELAY && record->kind == RECORD_LISTED) {
		relay_note_listed(source, (const void *)record);
	} else if (source->role == ROLE_RELAY && record->kind == RECORD_LIST_END) {
		relay_note_end(source, source->intake->mono_ns);
	}
}

struct intake *intake_create(const struct intake_sink *sink, const char *program)
{
	struct intake *intake = calloc(1, sizeof(*intake));

	if (!intake) {
		return NULL;
	}
	intake->sink = sink;
	intake->program = program;
	intake->note = on_note;
	intake->merge = merge_create(sink);
	intake->hosts = hosts_create();
	intake->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!intake->merge || !intake->hosts || intake->epoll_fd < 0) {
		intake_destroy(intake);
		return NULL;
	}
	return intake;
}

void intake_set_reader(struct intake *intake, const char *reader)
{
	intake->reader = reader;
}

void intake_destroy(struct intake *intake)
{
	uint32_t i;

	if (!intake) {
		return;
	}
	/* All are killed before any is waited for, and all are stopped before any goes. */
	for (i = 0; i < intake->n; i++) {
		child_kill(&intake->sources[i]->child);
	}
	for (i = 0; i < intake->n; i++) {
		source_stop(intake->sources[i]);
	}
	for (i = 0; i < intake->n; i++) {
		source_destroy(intake->sources[i]);
	}
	hosts_destroy(intake->hosts);
	free(intake->sources);
	merge_destroy(intake->merge);
	if (intake->epoll_fd >= 0) {
		close(intake->epoll_fd);
	}
	free(intake);
}

/* --- attaching and letting go ------------------------------------------------------------------
 */

static enum status no_room(char *error, size_t size, const char *text)
{
	snprintf(error, size, "%s: no room for more than %u sources", text, INTAKE_MAX_SOURCES);
	return STATUS_FULL;
}

/* The source of a relay daemon, which lists its sessions. */
static struct source *need_relay(struct intake *intake, const struct url *url, bool hidden)
{
	char text[URL_MAX];
	struct source *relay;

	url_format_relay(url, text, sizeof(text));
	relay = intake_find(intake, text);
	if (!relay) {
		relay = intake_add(intake, ROLE_RELAY, text);
		if (!relay) {
			return NULL;
		}
		relay->url = *url;
		relay->url.kind = URL_RELAY;
		relay->hidden = hidden;
	}
	relay->wanted = true;
	relay->hidden = relay->hidden && hidden;
	return relay;
}

static void want_session(struct source *session)
{
	if (!session->wanted) {
		session->wanted = true;
		session->retry_ns = 0;
		source_say(session, SOURCE_STARTING, "%s", "");
	}
}

static enum status attach_relay(struct intake *intake, const struct url *url, bool all)
{
	struct source *relay = need_relay(intake, url, false);
	uint32_t i;

	if (!relay) {
		return STATUS_FULL;
	}
	relay->named = true;
	relay->attach_all = relay->attach_all || all;
	for (i = 0; all && i < intake->n; i++) {
		if (intake->sources[i]->relay == relay) {
			want_session(intake->sources[i]);
		}
	}
	return STATUS_OK;
}

static enum status attach_session(struct intake *intake, const struct url *url)
{
	struct source *relay = need_relay(intake, url, true), *session;
	char text[URL_MAX + 300];

	if (!relay) {
		return STATUS_FULL;
	}
	url_format_session(url, url->host, url->session, text, sizeof(text));
	session = intake_find(intake, text);
	if (!session) {
		session = intake_add(intake, ROLE_SESSION, text);
		if (!session) {
			return STATUS_FULL;
		}
		session->url = *url;
		session->relay = relay;
	}
	session->named = true;
	want_session(session);
	return STATUS_OK;
}

/* A recording that is a source already, maybe by another name. */
static bool has_trace(const struct intake *intake, const char *path, uint64_t identity)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		const struct source *source = intake->sources[i];

		/* What was deleted may have left its place to this one: looked at again. */
		if (source->role == ROLE_TRACE &&
				(strcmp(source->text, path) == 0 ||
						(source->identity == identity &&
								walk_identity(source->text) ==
										identity))) {
			return true;
		}
	}
	return false;
}

static enum status attach_trace(struct intake *intake, const char *path)
{
	struct source *source;
	const char *name = strrchr(path, '/');
	uint64_t identity = walk_identity(path);

	if (has_trace(intake, path, identity)) {
		return STATUS_OK;
	}
	source = intake_add(intake, ROLE_TRACE, path);
	if (!source) {
		return STATUS_FULL;
	}
	source->url.kind = URL_DIRECTORY;
	source->identity = identity;
	snprintf(source->url.session, sizeof(source->url.session), "%s",
			name && name[1] ? name + 1 : path);
	source->named = true;
	source->wanted = true;
	return STATUS_OK;
}

static enum status attach_directory(
		struct intake *intake, const char *path, char *error, size_t error_size)
{
	struct walk walk;
	enum status status = walk_traces(&walk, path, error, error_size);
	uint32_t i;

	for (i = 0; status == STATUS_OK && i < walk.n; i++) {
		status = attach_trace(intake, walk.paths[i]);
		if (status != STATUS_OK) {
			no_room(error, error_size, path);
		}
	}
	if (status == STATUS_OK && walk.full) {
		snprintf(error, error_size, "%s: more than %u traces, or deeper than %d folders",
				path, WALK_MAX_TRACES, WALK_MAX_DEPTH);
		status = STATUS_FULL;
	}
	walk_release(&walk);
	return status;
}

enum status intake_attach(struct intake *intake, const char *text, char *error, size_t error_size)
{
	struct url url;
	enum status status = url_parse(&url, text, error, error_size);

	if (status != STATUS_OK) {
		return status;
	}
	if (url.kind == URL_DIRECTORY) {
		return attach_directory(intake, text, error, error_size);
	}
	status = url.kind == URL_RELAY ? attach_relay(intake, &url, true)
				       : attach_session(intake, &url);
	return status == STATUS_OK ? status : no_room(error, error_size, text);
}

enum status intake_set_clock(struct intake *intake, const uint8_t *uuid, int64_t offset_ns)
{
	return merge_set_clock(intake->merge, uuid, offset_ns);
}

enum status intake_offer(struct intake *intake, const char *text, char *error, size_t error_size)
{
	struct url url;
	enum status status = url_parse(&url, text, error, error_size);

	if (status != STATUS_OK) {
		return status;
	}
	if (url.kind != URL_RELAY) {
		snprintf(error, error_size, "%s: expected net://RELAY[:PORT]", text);
		return STATUS_INVALID;
	}
	status = attach_relay(intake, &url, false);
	return status == STATUS_OK ? status : no_room(error, error_size, text);
}

/* A session that its relay daemon still lists stays in sight, to be picked again. */
static void detach_session(struct intake *intake, struct source *session)
{
	source_stop(session);
	session->wanted = false;
	session->named = false;
	if (session->listed.present && !session->relay->hidden) {
		source_say(session, SOURCE_OFFERED, "%s", "");
	} else {
		intake_remove(intake, session);
	}
}

static void detach_relay(struct intake *intake, struct source *relay)
{
	uint32_t i = 0;

	while (i < intake->n) {
		if (intake->sources[i]->relay == relay) {
			intake_remove(intake, intake->sources[i]);
		} else {
			i++;
		}
	}
	intake_remove(intake, relay);
}

enum status intake_detach(struct intake *intake, const char *text, char *error, size_t error_size)
{
	struct source *source = intake_find(intake, text);
	char canonical[URL_MAX + 300];
	struct url url;

	if (!source && url_parse(&url, text, error, error_size) == STATUS_OK) {
		if (url.kind == URL_RELAY) {
			url_format_relay(&url, canonical, sizeof(canonical));
			source = intake_find(intake, canonical);
		} else if (url.kind == URL_SESSION) {
			url_format_session(
					&url, url.host, url.session, canonical, sizeof(canonical));
			source = intake_find(intake, canonical);
		}
	}
	if (!source) {
		snprintf(error, error_size, "%s is not a source here; screen 7 lists them", text);
		return STATUS_NOT_FOUND;
	}
	if (source->role == ROLE_RELAY) {
		detach_relay(intake, source);
	} else if (source->role == ROLE_SESSION) {
		detach_session(intake, source);
	} else {
		intake_remove(intake, source);
	}
	return STATUS_OK;
}

/* --- stepping -----------------------------------------------------------------------------------
 */

static void on_left(void *context, struct input_queue *queue, enum input_queue_status why)
{
	(void)context;
	source_left(queue->context, why);
}

/* Whose descriptors are readable. */
static void collect_attention(struct intake *intake)
{
	struct epoll_event events[64];
	int n = epoll_wait(intake->epoll_fd, events, 64, 0), i;

	for (i = 0; i < n; i++) {
		struct source *source = intake_find_id(intake, events[i].data.u32);

		if (source) {
			source->attention = true;
		}
	}
}

static void look_after_all(struct intake *intake)
{
	uint32_t i;
	uint64_t deadline_ns = UINT64_MAX;

	collect_attention(intake);
	/* Listings may add sources behind the current one. */
	for (i = 0; i < intake->n; i++) {
		source_listen(intake->sources[i], intake->mono_ns);
		source_tick(intake->sources[i], intake->mono_ns);
	}
	for (i = 0; i < intake->n; i++) {
		uint64_t due_ns = source_deadline(intake->sources[i]);

		deadline_ns = due_ns < deadline_ns ? due_ns : deadline_ns;
	}
	intake->tick_ns = deadline_ns;
}

bool intake_step(struct intake *intake, uint32_t budget, uint64_t mono_ns)
{
	bool more;

	intake->mono_ns = mono_ns;
	more = merge_step(intake->merge, budget, mono_ns, on_left, intake);
	if (!more || mono_ns >= intake->tick_ns) {
		look_after_all(intake);
		if (more && intake->tick_ns > mono_ns + TICK_NS) {
			intake->tick_ns = mono_ns + TICK_NS;
		}
	}
	return more;
}

static bool is_heard(const struct source *source)
{
	return source->running && (!source->queue.joined || merge_wants(&source->queue));
}

bool intake_arm(struct intake *intake)
{
	bool nothing = true;
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		if (is_heard(intake->sources[i]) && !ring_arm(intake->sources[i]->child.ring)) {
			nothing = false;
		}
	}
	return nothing;
}

void intake_rest(struct intake *intake, uint64_t until_ns)
{
	for (uint32_t i = 0; i < intake->n; i++) {
		if (intake->sources[i]->running && intake->sources[i]->role == ROLE_SESSION) {
			ring_rest_until(intake->sources[i]->child.ring, until_ns);
		}
	}
}

int intake_fd(const struct intake *intake)
{
	return intake->epoll_fd;
}

uint64_t intake_deadline(const struct intake *intake)
{
	uint64_t merge_ns = merge_deadline(intake->merge);

	return merge_ns < intake->tick_ns ? merge_ns : intake->tick_ns;
}

/* --- questions ----------------------------------------------------------------------------------
 */

bool intake_ended(const struct intake *intake)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		const struct source *source = intake->sources[i];

		if (source->role != ROLE_TRACE || source->running ||
				source->state == SOURCE_STARTING) {
			return false;
		}
	}
	return intake->n > 0;
}

uint32_t intake_failed(
		const struct intake *intake, bool broken, uint32_t index, char *out, size_t size)
{
	uint32_t i, n = 0;

	for (i = 0; i < intake->n; i++) {
		const struct source *source = intake->sources[i];

		if (source->hidden ||
				(source->state != SOURCE_REFUSED &&
						(source->state != SOURCE_BROKEN || !broken))) {
			continue;
		}
		if (n++ == index) {
			snprintf(out, size, "%s: %s", source->text, source->detail);
		}
	}
	return n;
}

bool intake_has_live(const struct intake *intake)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		if (intake->sources[i]->role != ROLE_TRACE) {
			return true;
		}
	}
	return false;
}

void intake_tell_progress(struct intake *intake)
{
	intake->tell_progress = true;
}

bool intake_any_events(const struct intake *intake)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		if (intake->sources[i]->queue.events > 0) {
			return true;
		}
	}
	return false;
}

bool intake_is_lost(struct intake *intake, const char *text)
{
	const struct source *source = intake_find(intake, text);

	return source && source->role == ROLE_SESSION && source->attached_ids &&
	       source->relay->answered && !source->listed.present && !source->next.present;
}

uint64_t intake_changes(const struct intake *intake)
{
	return intake->changes;
}

bool intake_listed(const struct intake *intake)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		const struct source *source = intake->sources[i];

		if (source->role == ROLE_RELAY && !source->answered &&
				source->state != SOURCE_BROKEN && source->state != SOURCE_REFUSED) {
			return false;
		}
	}
	return true;
}
