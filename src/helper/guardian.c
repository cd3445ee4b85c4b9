/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/guardian.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "helper/calibrate.h"
#include "helper/child.h"
#include "helper/lines.h"

#define QUEUE_BYTES   (4u << 20)
#define OUT_BYTES     (16u << 20)
#define OUT_ENOUGH    (1u << 20) /* the worker's rows wait from here on */
#define BEAT_NS       1000000000u
#define UNDO_TRY_NS   20000000000u /* one try; a stopped application holds a call up for 5 s */
#define UNDO_PAUSE_NS 2000000000u
#define UNDO_NS       60000000000u
#define SECOND_NS     1000000000u

/* Requests of our own. */
#define ID_UNDO  (-1)
#define ID_SWEEP (-2)

enum phase {
	PHASE_SERVING = 0,
	PHASE_LAST, /* the input has ended: what was asked is answered, then comes the undo */
	PHASE_UNDOING,
	PHASE_OVER,
};

struct request {
	json_int_t id;
	char *text; /* with its newline */
	size_t length;
	bool destroys;
};

struct guardian {
	const struct helper *helper;
	enum phase phase;
	int exit_code;
	uint64_t now_ns, lease_ns, beat_ns, undo_try_ns, undo_end_ns;
	int signal_fd;
	struct line_in in;
	struct line_out out;
	bool out_broken; /* nobody reads */
	bool holding;    /* a session of ours may be there */
	bool plain;      /* --undo: sentences instead of JSON */
	char console[256];

	struct prober prober;
	struct helper own; /* the helper, with the prober */
	struct child worker;
	bool busy;          /* with the first of the queue, or with a request of our own */
	json_int_t busy_id; /* its number */
	uint64_t busy_since_ns;
	struct request queue[CONTROL_MAX_QUEUE];
	uint32_t n_queue;
	size_t queue_bytes;
};

/* --- answers --- */

static void put(struct guardian *guardian, const char *bytes, size_t length)
{
	if (!line_out_add(&guardian->out, bytes, length)) {
		guardian->out_broken = true; /* a console that does not read for so long is none */
	}
}

static void answer(struct guardian *guardian, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	if (text) {
		put(guardian, text, strlen(text));
		put(guardian, "\n", 1);
	}
	free(text);
	json_decref(line);
}

static void answer_failure(
		struct guardian *guardian, json_int_t id, const char *error, const char *help)
{
	answer(guardian, json_pack("{sI sb so so}", "id", id, "ok", 0, "error", answer_text(error),
					 "help", answer_text(help)));
}

static void notice(struct guardian *guardian, const char *text)
{
	if (guardian->plain) {
		puts(text);
	} else {
		answer(guardian, json_pack("{si so}", "id", 0, "notice", answer_text(text)));
	}
}

/* --- the queue --- */

static void queue_drop(struct guardian *guardian, uint32_t at)
{
	struct request *request = &guardian->queue[at];

	guardian->queue_bytes -= request->length;
	free(request->text);
	guardian->n_queue--;
	memmove(request, request + 1, (guardian->n_queue - at) * sizeof(*request));
}

static void queue_add(struct guardian *guardian, json_int_t id, bool destroys, const char *text,
		size_t length)
{
	struct request request = {.id = id, .length = length + 1, .destroys = destroys};

	if (guardian->n_queue == CONTROL_MAX_QUEUE ||
			guardian->queue_bytes + request.length > QUEUE_BYTES) {
		answer_failure(guardian, id, "too many requests wait already",
				"wait for answers, or give some up");
		return;
	}
	request.text = malloc(request.length);
	if (!request.text) {
		answer_failure(guardian, id, "out of memory", "");
		return;
	}
	memcpy(request.text, text, length);
	request.text[length] = '\n';
	guardian->queue[guardian->n_queue++] = request;
	guardian->queue_bytes += request.length;
}

/* --- the worker --- */

static void worker_kill(struct guardian *guardian)
{
	child_kill(&guardian->worker, guardian->helper);
	guardian->busy = false;
}

/* While no worker is busy: one from before does not know of the new probe, and is ended. */
static void probe_start(struct guardian *guardian)
{
	if (prober_start(&guardian->prober, &guardian->helper->rights, guardian->now_ns)) {
		worker_kill(guardian);
	}
}

/* The probe is there before a worker, which is to know of it. */
static bool worker_start(struct guardian *guardian)
{
	if (!guardian->plain && !guardian->busy && guardian->phase < PHASE_UNDOING) {
		probe_start(guardian);
	}
	return guardian->worker.pid > 0 ||
	       child_start(&guardian->worker, guardian->helper, guardian->signal_fd);
}

/* Hands a line over; at most one is with the worker. */
static bool worker_give(struct guardian *guardian, json_int_t id, const char *text, size_t length)
{
	if (!worker_start(guardian) || !line_out_add(&guardian->worker.out, text, length)) {
		return false;
	}
	guardian->busy = true;
	guardian->busy_id = id;
	guardian->busy_since_ns = guardian->now_ns;
	return true;
}

static bool worker_ask(struct guardian *guardian, json_int_t id, const char *verb)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "{\"id\":%d,\"do\":\"%s\"}\n", (int)id, verb);

	return worker_give(guardian, id, text, (size_t)length);
}

static void undo_failed(struct guardian *guardian, const char *why)
{
	fprintf(stderr, "pythiatop-control: cannot undo %s: %s\n", guardian->helper->owner.session,
			why);
	guardian->undo_try_ns = guardian->now_ns + UNDO_PAUSE_NS;
}

/* The one that the worker was busy with has its last line, or will have none. */
static void request_over(struct guardian *guardian)
{
	guardian->busy = false;
	if (guardian->busy_id > 0 && guardian->n_queue > 0) {
		queue_drop(guardian, 0);
	}
}

/* The worker ended, or was ended, in the middle of something. */
static void request_failed(struct guardian *guardian, const char *error, const char *help)
{
	bool was_busy = guardian->busy;

	worker_kill(guardian);
	if (!was_busy) {
		return;
	}
	if (guardian->busy_id > 0) {
		answer_failure(guardian, guardian->busy_id, error, help);
	} else if (guardian->busy_id == ID_UNDO) {
		undo_failed(guardian, error);
	} else {
		notice(guardian, "what dead helpers left could not be undone so far; try "
				 "`pythiatop-control --undo`");
		guardian->exit_code = 1;
		guardian->phase = guardian->plain ? PHASE_OVER : guardian->phase;
	}
	request_over(guardian);
}

/* --- lines from the worker --- */

static void swept(struct guardian *guardian, const char *text)
{
	json_t *line = json_loads(text, 0, NULL);
	const char *undone = json_string_value(json_object_get(line, "undone"));
	const json_t *left = json_object_get(line, "left");
	char said[512];

	if (undone) {
		snprintf(said, sizeof(said), "undid %s, whose owner is gone", undone);
		notice(guardian, said);
	} else if (left) {
		const char *help = json_string_value(json_object_get(left, "help"));

		snprintf(said, sizeof(said), "could not undo %s, whose owner is gone: %s%s%s",
				json_string_value(json_object_get(left, "session")),
				json_string_value(json_object_get(left, "error")),
				help && help[0] ? ": " : "", help ? help : "");
		notice(guardian, said);
	}
	json_decref(line);
}

static void undo_over(struct guardian *guardian, bool done)
{
	if (done) {
		owner_remove(&guardian->helper->owner);
		guardian->holding = false;
		guardian->phase = PHASE_OVER;
	} else {
		undo_failed(guardian, "the session daemon refuses");
	}
}

static void take_answer(struct guardian *guardian, char mark, const char *text, size_t length)
{
	bool destroyed;

	if (!guardian->busy) {
		return;
	}
	if (guardian->busy_id > 0) {
		put(guardian, text, length);
		put(guardian, "\n", 1);
	} else if (guardian->busy_id == ID_SWEEP && mark == ANSWER_ROW) {
		swept(guardian, text);
	}
	if (mark == ANSWER_ROW) {
		return;
	}
	if (guardian->busy_id == ID_UNDO) {
		undo_over(guardian, mark == ANSWER_OK);
	} else if (guardian->busy_id == ID_SWEEP && guardian->plain) {
		guardian->exit_code = mark == ANSWER_OK ? 0 : 1;
		guardian->phase = PHASE_OVER;
	}
	destroyed = guardian->busy_id > 0 && mark == ANSWER_OK && guardian->queue[0].destroys;
	request_over(guardian);
	if (destroyed) {
		owner_remove(&guardian->helper->owner);
		guardian->holding = false;
	}
}

static void read_worker(struct guardian *guardian)
{
	enum status status = line_in_read(&guardian->worker.in, guardian->worker.from);
	char *text, why[128];
	size_t length;
	enum line line;

	while ((line = line_in_next(&guardian->worker.in, &text, &length)) == LINE_WHOLE) {
		if (length > 0) {
			take_answer(guardian, text[0], text + 1, length - 1);
		}
	}
	if (line == LINE_TOO_LONG) {
		request_failed(guardian, "an answer was too long", "");
	} else if (status == STATUS_END || status == STATUS_IO) {
		child_describe_end(&guardian->worker, why, sizeof(why));
		request_failed(guardian, why,
				"its host's session daemon may be of another "
				"version; try again");
	}
}

/* --- requests --- */

static void hello(struct guardian *guardian, json_int_t id, const json_t *request)
{
	const json_t *protocol = json_object_get(request, "protocol");
	const char *console = json_string_value(json_object_get(request, "console"));
	const struct passwd *user = getpwuid(geteuid());
	char host[256] = "";

	if (json_integer_value(protocol) != CONTROL_PROTOCOL) {
		answer_failure(guardian, id,
				"this pythiatop-control (" PT_VERSION
				") speaks another version of the protocol",
				"install the same version of pythiatop here and there");
		return;
	}
	snprintf(guardian->console, sizeof(guardian->console), "%s", console ? console : "");
	gethostname(host, sizeof(host) - 1);
	answer(guardian, json_pack("{sI sb si ss so so si ss sb si sf}", "id", id, "ok", 1,
					 "protocol", CONTROL_PROTOCOL, "version", PT_VERSION,
					 "host", answer_text(host), "user",
					 answer_text(user ? user->pw_name : ""), "pid",
					 (int)getpid(), "session", guardian->helper->owner.session,
					 "read_only", (int)guardian->helper->rights.read_only,
					 "lease_ms", CONTROL_LEASE_MS, "event_ns",
					 calibrate_event_ns()));
}

static void give_up(struct guardian *guardian, json_int_t id, const json_t *request)
{
	json_int_t of = json_integer_value(json_object_get(request, "of"));
	uint32_t i;

	for (i = 0; i < guardian->n_queue && guardian->queue[i].id != of; i++) {
	}
	if (i == guardian->n_queue) {
		answer_failure(guardian, id, "there is no such request", "");
		return;
	}
	if (i == 0 && guardian->busy && guardian->busy_id == of) {
		request_failed(guardian, "given up", "");
	} else {
		answer_failure(guardian, of, "given up", "");
		queue_drop(guardian, i);
	}
	answer(guardian, json_pack("{sI sb}", "id", id, "ok", 1));
}

/* A session must have its record before it may come to be. */
static bool may_create(struct guardian *guardian, json_int_t id)
{
	char error[PATH_MAX + 128];

	if (guardian->helper->rights.read_only || guardian->holding) {
		return true; /* the worker has the right words */
	}
	if (!owner_write(&guardian->helper->owner, guardian->console, error, sizeof(error))) {
		answer_failure(guardian, id, error,
				"without a record on disk nobody could undo after a crash");
		return false;
	}
	guardian->holding = true;
	return true;
}

static void take_request(struct guardian *guardian, const char *text, size_t length)
{
	json_error_t error;
	json_t *request = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	const char *verb = json_string_value(json_object_get(request, "do"));

	if (!json_is_object(request)) {
		answer_failure(guardian, 0, request ? "a request is a JSON object" : error.text,
				"send {\"id\":1,\"do\":\"hello\",\"protocol\":2}");
	} else if (id <= 0) {
		answer_failure(guardian, 0, "a request has a positive number as its \"id\"", "");
	} else if (!verb) {
		answer_failure(guardian, id, "a request has a text \"do\"", "");
	} else if (strcmp(verb, "hello") == 0) {
		hello(guardian, id, request);
	} else if (strcmp(verb, "renew") == 0) {
		answer(guardian, json_pack("{sI sb}", "id", id, "ok", 1));
	} else if (strcmp(verb, "give_up") == 0) {
		give_up(guardian, id, request);
	} else if (strcmp(verb, WORKER_UNDO) == 0 || strcmp(verb, WORKER_SWEEP) == 0) {
		answer_failure(guardian, id, "unknown request", "");
	} else if (strcmp(verb, "create") != 0 || may_create(guardian, id)) {
		queue_add(guardian, id, strcmp(verb, "destroy") == 0, text, length);
	}
	json_decref(request);
}

static void renew(struct guardian *guardian)
{
	guardian->lease_ns = guardian->now_ns + CONTROL_LEASE_MS * 1000000ull;
	if (guardian->holding) {
		owner_renew(&guardian->helper->owner);
	}
}

static void read_input(struct guardian *guardian)
{
	enum status status = line_in_read(&guardian->in, STDIN_FILENO);
	enum line line;
	char *text;
	size_t length;

	while ((line = line_in_next(&guardian->in, &text, &length)) != LINE_NONE) {
		renew(guardian);
		if (line == LINE_TOO_LONG) {
			answer_failure(guardian, 0, "a line is longer than 1 MiB",
					"send shorter requests");
		} else if (length > 0) {
			take_request(guardian, text, length);
		}
	}
	if (status == STATUS_END || status == STATUS_IO) {
		guardian->phase = PHASE_LAST;
	}
}

/* --- the end --- */

static void begin_undo(struct guardian *guardian)
{
	uint32_t i;

	if (guardian->phase >= PHASE_UNDOING) {
		return;
	}
	guardian->phase = guardian->holding ? PHASE_UNDOING : PHASE_OVER;
	guardian->undo_end_ns = guardian->now_ns + UNDO_NS;
	guardian->undo_try_ns = guardian->now_ns;
	for (i = guardian->n_queue; i > 0; i--) {
		answer_failure(guardian, guardian->queue[i - 1].id,
				"the lease has ended: everything is undone",
				"start pythiatop-control again");
		queue_drop(guardian, i - 1);
	}
	/* Whatever call it is in could take longer than the undo may wait. */
	worker_kill(guardian);
	prober_kill(&guardian->prober);
}

static void read_signal(struct guardian *guardian)
{
	struct signalfd_siginfo info;

	if (read(guardian->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		begin_undo(guardian);
	}
}

/* --- the loop --- */

/* Should it end by itself, a worker that knows the new one is needed; a busy one comes to its end.
 */
static void tend_prober(struct guardian *guardian)
{
	char text[1024];

	while (prober_hear(&guardian->prober, text, sizeof(text))) {
		notice(guardian, text);
	}
	if (prober_tend(&guardian->prober, guardian->now_ns)) {
		notice(guardian, "pythiatop-probe has ended: what it recorded is off");
		if (!guardian->busy) {
			worker_kill(guardian);
		}
	} else if (guardian->prober.pid == 0 && !guardian->busy &&
			guardian->phase < PHASE_UNDOING) {
		probe_start(guardian);
	}
}

/* What the clock alone brings about. */
static void check_clock(struct guardian *guardian)
{
	uint64_t call_ns = guardian->helper->rights.call_seconds * SECOND_NS;
	char why[160];

	if (guardian->phase == PHASE_UNDOING) {
		call_ns = UNDO_TRY_NS;
	}
	if (guardian->busy && guardian->now_ns - guardian->busy_since_ns >= call_ns) {
		snprintf(why, sizeof(why), "no answer from the session daemon within %u s",
				(unsigned)(call_ns / SECOND_NS));
		request_failed(guardian, why,
				"it, or a traced process or relay daemon that it waits for, is "
				"stopped or cut off; the call was killed");
	}
	if (guardian->phase < PHASE_UNDOING && !guardian->plain &&
			(guardian->now_ns >= guardian->lease_ns ||
					(guardian->phase == PHASE_LAST && guardian->n_queue == 0) ||
					guardian->out_broken)) {
		begin_undo(guardian);
	}
	if (guardian->phase == PHASE_UNDOING && !guardian->busy) {
		if (guardian->now_ns >= guardian->undo_end_ns) {
			guardian->exit_code = 1; /* the record is left, for the next start */
			guardian->phase = PHASE_OVER;
		} else if (guardian->now_ns >= guardian->undo_try_ns &&
				!worker_ask(guardian, ID_UNDO, WORKER_UNDO)) {
			undo_failed(guardian, strerror(errno));
		}
	}
	if (guardian->worker.pid > 0 && guardian->now_ns >= guardian->beat_ns) {
		guardian->beat_ns = guardian->now_ns + BEAT_NS;
		tend_prober(guardian);
		if (line_out_pending(&guardian->worker.out) == 0) {
			line_out_add(&guardian->worker.out, "\n", 1);
		}
	}
}

static void give_next(struct guardian *guardian)
{
	const struct request *next = &guardian->queue[0];

	if (guardian->busy || guardian->n_queue == 0 || guardian->phase >= PHASE_UNDOING) {
		/* Someone must outlive us. */
		if (guardian->holding && guardian->phase < PHASE_UNDOING) {
			worker_start(guardian);
		}
		return;
	}
	if (!worker_give(guardian, next->id, next->text, next->length)) {
		answer_failure(guardian, next->id, "cannot start a process", strerror(errno));
		queue_drop(guardian, 0);
	}
}

enum { FD_SIGNAL, FD_IN, FD_OUT, FD_FROM, FD_TO, N_FDS };

static void wait_for(struct guardian *guardian, struct pollfd fds[N_FDS])
{
	const struct child *worker = &guardian->worker;
	bool reads = guardian->phase == PHASE_SERVING && !guardian->plain;
	bool writes = line_out_pending(&guardian->out) > 0 && !guardian->out_broken;
	/* The undo's answer is for us alone, whatever the console has not read. */
	bool listens = worker->pid > 0 &&
		       (guardian->phase == PHASE_UNDOING ||
				       line_out_pending(&guardian->out) < OUT_ENOUGH);

	fds[FD_SIGNAL] = (struct pollfd){.fd = guardian->signal_fd, .events = POLLIN};
	fds[FD_IN] = (struct pollfd){.fd = reads ? STDIN_FILENO : -1, .events = POLLIN};
	/* Without anything to write, only whether anybody is there is of interest. */
	fds[FD_OUT] = (struct pollfd){
			.fd = guardian->out_broken || guardian->plain ? -1 : STDOUT_FILENO,
			.events = writes ? POLLOUT : 0};
	fds[FD_FROM] = (struct pollfd){.fd = listens ? worker->from : -1, .events = POLLIN};
	fds[FD_TO] = (struct pollfd){.fd = worker->pid > 0 && line_out_pending(&worker->out) > 0
							   ? worker->to
							   : -1,
			.events = POLLOUT};
	if (poll(fds, N_FDS, guardian->busy || guardian->phase != PHASE_SERVING ? 100 : 500) < 0) {
		memset(fds, 0, N_FDS * sizeof(*fds));
	}
}

static void turn(struct guardian *guardian)
{
	struct pollfd fds[N_FDS];

	wait_for(guardian, fds);
	guardian->now_ns = clock_monotonic_ns();
	if (fds[FD_SIGNAL].revents) {
		read_signal(guardian);
	}
	if (fds[FD_FROM].revents) {
		read_worker(guardian);
	}
	if (fds[FD_IN].revents) {
		read_input(guardian);
	}
	check_clock(guardian);
	give_next(guardian);
	if (guardian->worker.pid > 0 && line_out_pending(&guardian->worker.out) > 0 &&
			line_out_write(&guardian->worker.out, guardian->worker.to, false) ==
					STATUS_IO) {
		line_out_release(&guardian->worker.out); /* its end will be seen */
	}
	if (fds[FD_OUT].revents & POLLOUT) {
		guardian->out_broken |=
				line_out_write(&guardian->out, STDOUT_FILENO, false) == STATUS_IO;
	} else if (fds[FD_OUT].revents & (POLLERR | POLLHUP | POLLNVAL)) {
		guardian->out_broken = true;
	}
}

static bool begin(struct guardian *guardian, const struct helper *helper)
{
	sigset_t signals;

	memset(guardian, 0, sizeof(*guardian));
	guardian->own = *helper;
	guardian->own.prober = &guardian->prober;
	guardian->helper = &guardian->own;
	prober_init(&guardian->prober);
	guardian->now_ns = clock_monotonic_ns();
	guardian->lease_ns = guardian->now_ns + CONTROL_LEASE_MS * 1000000ull;
	child_init(&guardian->worker);
	line_out_init(&guardian->out, OUT_BYTES);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	guardian->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return guardian->signal_fd >= 0 && line_in_init(&guardian->in, CONTROL_MAX_LINE);
}

/* What was answered last still gets out, if somebody reads it. */
static void flush(struct guardian *guardian)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	while (!guardian->out_broken && line_out_pending(&guardian->out) > 0 &&
			poll(&out, 1, 200) > 0 && (out.revents & POLLOUT) &&
			line_out_write(&guardian->out, STDOUT_FILENO, false) != STATUS_IO) {
	}
}

static int run(struct guardian *guardian)
{
	if (!worker_ask(guardian, ID_SWEEP, WORKER_SWEEP)) {
		fprintf(stderr, "pythiatop-control: %s\n", strerror(errno));
		return 1;
	}
	while (guardian->phase != PHASE_OVER) {
		turn(guardian);
	}
	flush(guardian);
	prober_end(&guardian->prober);
	worker_kill(guardian);
	while (guardian->n_queue > 0) {
		queue_drop(guardian, guardian->n_queue - 1);
	}
	line_in_release(&guardian->in);
	line_out_release(&guardian->out);
	close(guardian->signal_fd);
	return guardian->exit_code;
}

int guardian_run(const struct helper *helper)
{
	struct guardian guardian;

	return begin(&guardian, helper) ? run(&guardian) : 1;
}

int guardian_undo(const struct helper *helper)
{
	struct guardian guardian;

	if (!begin(&guardian, helper)) {
		return 1;
	}
	guardian.plain = true;
	return run(&guardian);
}
