/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/points.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/paths.h"
#include "control/hosts.h"
#include "pythiatop/text.h"

#define PATIENCE_NS 30000000000u /* for a host's hello; each ask has its own deadline */

struct printing {
	struct control_hosts *hosts;
	FILE *out, *err;
	uint32_t next; /* the host whose turn it is */
	bool asked, failed;
	uint64_t since_ns;
};

static const char *shown(const char *text, char *safe, size_t size)
{
	text_escape(safe, size, text);
	return safe;
}

static void complain(struct printing *printing, const char *message)
{
	char safe[2048];

	fprintf(printing->err, "pythiatop: %s\n", shown(message, safe, sizeof(safe)));
	printing->failed = true;
}

static void next_host(struct printing *printing)
{
	printing->next++;
	printing->asked = false;
	printing->since_ns = clock_monotonic_ns();
}

static void print_session(FILE *out, const struct control_session *session)
{
	char name[512], output[4096];

	fprintf(out, "session %-24s %-8s ", shown(session->name, name, sizeof(name)),
			session->active ? "active" : "stopped");
	if (session->live_timer_us > 0) {
		fprintf(out, "live %.3g s  ", (double)session->live_timer_us / 1e6);
	} else {
		fprintf(out, "not live  ");
	}
	fprintf(out, "%s\n", shown(session->output, output, sizeof(output)));
}

static void print_point(FILE *out, const struct control_point *point)
{
	static const char *const types[] = {
			[CONTROL_FIELD_OTHER] = "other",
			[CONTROL_FIELD_INTEGER] = "integer",
			[CONTROL_FIELD_ENUM] = "enum",
			[CONTROL_FIELD_FLOAT] = "float",
			[CONTROL_FIELD_STRING] = "string",
	};
	char name[1024];
	uint32_t i;

	fprintf(out, "%-48s", shown(point->name, name, sizeof(name)));
	for (i = 0; i < point->n_fields; i++) {
		fprintf(out, "%s%s:%s", i ? ", " : " ",
				shown(point->fields[i].name, name, sizeof(name)),
				types[point->fields[i].type]);
	}
	for (i = 0; i < point->n_uses; i++) {
		fprintf(out, "%s%s%s", i ? ", " : "  [on in ",
				shown(point->uses[i].session, name, sizeof(name)),
				point->uses[i].partial ? " (partly)" : "");
	}
	fputs(point->n_uses ? "]\n" : "\n", out);
}

static void take_points(void *context, const struct control_answer *answer)
{
	struct printing *printing = context;
	char safe[1024];
	uint32_t i;

	if (answer->status != STATUS_OK) {
		complain(printing, answer->message);
	}
	for (i = 0; i < answer->n_points; i++) {
		print_point(printing->out, &answer->points[i]);
	}
	for (i = 0; i < answer->n_lacks; i++) {
		fprintf(printing->out, "no %s: ", shown(answer->lacks[i].what, safe, sizeof(safe)));
		fprintf(printing->out, "%s\n", shown(answer->lacks[i].message, safe, sizeof(safe)));
	}
	next_host(printing);
}

static void take_sessions(void *context, const struct control_answer *answer)
{
	struct printing *printing = context;
	uint32_t i;

	if (answer->status != STATUS_OK) {
		complain(printing, answer->message);
		next_host(printing);
		return;
	}
	for (i = 0; i < answer->n_sessions; i++) {
		print_session(printing->out, &answer->sessions[i]);
	}
	if (!control_ask_points(printing->hosts, answer->host, 0, take_points, printing)) {
		complain(printing, "out of memory");
		next_host(printing);
	}
}

/* Asks the host whose turn it is, once it is ready. */
static void examine(struct printing *printing)
{
	struct control_host host;

	if (printing->asked || printing->next == control_hosts_count(printing->hosts)) {
		return;
	}
	control_hosts_view(printing->hosts, (int)printing->next, "", &host);
	if (host.state == CONTROL_FAILED ||
			(host.state != CONTROL_READY &&
					clock_monotonic_ns() - printing->since_ns >= PATIENCE_NS)) {
		complain(printing, host.sentence);
		next_host(printing);
		return;
	}
	if (host.state == CONTROL_READY) {
		if (control_hosts_count(printing->hosts) > 1) {
			fprintf(printing->out, "%shost %s\n", printing->next ? "\n" : "",
					host.name);
		}
		printing->asked = true;
		if (!control_ask_sessions(printing->hosts, (int)printing->next, 0, take_sessions,
				    printing)) {
			complain(printing, "out of memory");
			next_host(printing);
		}
	}
}

static void print_all(struct printing *printing)
{
	struct pollfd fds[2 * CONTROL_MAX_HOSTS];

	printing->since_ns = clock_monotonic_ns();
	while (printing->next < control_hosts_count(printing->hosts)) {
		uint64_t now_ns, due_ns;
		uint32_t n;
		int wait_ms = 0;

		control_hosts_step(printing->hosts, clock_monotonic_ns());
		examine(printing);
		now_ns = clock_monotonic_ns();
		due_ns = control_hosts_due_ns(printing->hosts);
		n = control_hosts_poll_fds(printing->hosts, fds, 2 * CONTROL_MAX_HOSTS);
		if (due_ns > now_ns) {
			wait_ms = due_ns - now_ns > 1000000000u
						  ? 1000
						  : (int)((due_ns - now_ns) / 1000000u) + 1;
		}
		poll(fds, n, wait_ms);
	}
}

static bool add_hosts(struct control_hosts *hosts, const char *const *options, uint32_t n,
		char *error, size_t size)
{
	char name[CONTROL_NAME_BYTES] = "";
	uint32_t i;

	if (n == 0) {
		gethostname(name, sizeof(name) - 1);
		return control_hosts_add(hosts, name, "local", error, size) >= 0;
	}
	for (i = 0; i < n; i++) {
		if (control_hosts_add_option(hosts, options[i], error, size) < 0) {
			return false;
		}
	}
	return true;
}

int points_print(const char *const *hosts, uint32_t n_hosts, const char *ssh, FILE *out, FILE *err)
{
	struct printing printing = {.out = out, .err = err};
	char path[PATH_MAX], error[512];
	struct control_setup setup = {.program = path, .ssh = ssh, .console = "pythiatop --points"};

	if (!paths_sibling("pythiatop-control", path, sizeof(path))) {
		fprintf(err, "pythiatop: there is no pythiatop-control beside this program\n");
		return 1;
	}
	printing.hosts = control_hosts_create(&setup);
	if (!printing.hosts) {
		fprintf(err, "pythiatop: out of memory\n");
		return 1;
	}
	if (add_hosts(printing.hosts, hosts, n_hosts, error, sizeof(error))) {
		print_all(&printing);
	} else {
		complain(&printing, error);
	}
	control_hosts_destroy(printing.hosts);
	return fflush(out) == 0 && !printing.failed ? 0 : 1;
}
