/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The console's side of control against helpers that lie, babble, hang and die: each is a small
 * shell script in the place of pythiatop-control. (Against the real one: tests/live.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/hosts.h"

#define SECOND_NS 1000000000ull
/* Takes the number of the line $l into $id. */
#define TAKE_ID "id=${l#*'\"id\":'}; id=${id%%[,\\}]*}; "
#define HELLO                                                                                      \
	"read -r l; " TAKE_ID "echo \"{\\\"id\\\":$id,\\\"ok\\\":true,\\\"protocol\\\":2,"         \
	"\\\"host\\\":\\\"h\\\",\\\"read_only\\\":false}\"; "

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct scene {
	char script[64];
	struct control_hosts *hosts;
	uint64_t ahead_ns; /* time that the test has skipped */
	uint32_t n_answers;
	enum status status;
	char message[512];
	uint32_t n_points, n_changes;
};

static void begin(struct scene *scene, const char *text)
{
	struct control_setup setup = {.program = scene->script, .ssh = scene->script};
	char error[256];
	FILE *file;
	int fd;

	memset(scene, 0, sizeof(*scene));
	strcpy(scene->script, "/tmp/pt-helper.XXXXXX");
	fd = mkstemp(scene->script);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	fprintf(file, "#!/bin/sh\n%s\n", text);
	fclose(file);
	chmod(scene->script, 0700);
	scene->hosts = control_hosts_create(&setup);
	assert_non_null(scene->hosts);
	assert_int_equal(control_hosts_add(scene->hosts, "here", "local", error, sizeof(error)), 0);
}

static void end(struct scene *scene)
{
	control_hosts_destroy(scene->hosts);
	unlink(scene->script);
}

static void step(struct scene *scene)
{
	struct pollfd fds[8];
	uint32_t n = control_hosts_poll_fds(scene->hosts, fds, 8);

	poll(fds, n, 10);
	control_hosts_step(scene->hosts, clock_ns() + scene->ahead_ns);
}

static enum control_state state_of(struct scene *scene, struct control_host *host)
{
	control_hosts_view(scene->hosts, 0, "", host);
	return host->state;
}

/* Steps until the state is reached; at most ten seconds. */
static void expect_state(struct scene *scene, enum control_state state)
{
	uint64_t end_ns = clock_ns() + 10 * SECOND_NS;
	struct control_host host;

	while (state_of(scene, &host) != state) {
		if (clock_ns() > end_ns) {
			fail_msg("state %d, not %d: %s", host.state, state, host.sentence);
		}
		step(scene);
	}
}

static void expect_sentence(struct scene *scene, const char *part)
{
	struct control_host host;

	expect_state(scene, CONTROL_FAILED);
	state_of(scene, &host);
	if (!strstr(host.sentence, part)) {
		fail_msg("not \"%s\" in: %s", part, host.sentence);
	}
	assert_non_null(strstr(host.sentence, "Try: "));
}

static void take(void *context, const struct control_answer *answer)
{
	struct scene *scene = context;

	scene->n_answers++;
	scene->status = answer->status;
	snprintf(scene->message, sizeof(scene->message), "%s", answer->message);
	scene->n_points = answer->n_points;
	scene->n_changes = answer->n_changes;
}

static void wait_answer(struct scene *scene)
{
	uint64_t end_ns = clock_ns() + 20 * SECOND_NS;

	while (scene->n_answers == 0) {
		assert_true(clock_ns() < end_ns);
		step(scene);
	}
	assert_int_equal(scene->n_answers, 1);
}

static void babbler(void **state)
{
	static const struct {
		const char *script, *sentence;
	} cases[] = {
			{"echo hello, who are you; cat >/dev/null", "is not the protocol"},
			{"echo '[1,2]'; cat >/dev/null", "is not the protocol"},
			{"echo '{\"id\":-1}'; cat >/dev/null", "is not the protocol"},
			{"head -c 3000 /dev/urandom; echo; cat >/dev/null", "is not the protocol"},
			{"head -c 5000000 /dev/zero | tr '\\0' x; cat >/dev/null",
					"a line of more than 4 MiB"},
			{"yes '{\"id\":7,\"row\":1}'", "is not the protocol"},
			{"read l; echo '{\"id\":1,\"ok\":true,\"protocol\":3,\"host\":\"h\"}'; cat "
			 ">/dev/null",
					"another version of the protocol"},
			{"read l; echo '{\"id\":1,\"ok\":false,\"error\":\"no\\u001b[2J\"}'; cat "
			 ">/dev/null",
					"no\\x1b[2J"},
			{"read l; echo '{\"id\":1,\"ok\":true,\"protocol\":2}'; cat >/dev/null",
					"its hello is not the protocol"},
			{"echo 'Permission denied (publickey).' >&2; exit 255",
					"ended with code 255: Permission denied (publickey)"},
			{"exit 127", "is not there, or not in the PATH"},
			{"kill -9 $$", "was ended by SIGKILL"},
			{"true", "ended with code 0"},
	};
	struct scene scene;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&scene, cases[i].script);
		expect_sentence(&scene, cases[i].sentence);
		end(&scene);
	}
}

static void missing(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "true");
	unlink(scene.script);
	expect_sentence(&scene, "No such file or directory");
	end(&scene);
}

/* Bytes of its standard error never reach the screen as they are, and it may send any number. */
static void screamer(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "head -c 1000000 /dev/zero | tr '\\0' x >&2; printf '\\na\\033[31mb\\n' >&2; "
		      "exit 3");
	expect_sentence(&scene, "ended with code 3: a\\x1b[31mb");
	end(&scene);
}

static void silent(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "exec sleep 100");
	step(&scene);
	scene.ahead_ns = 14 * SECOND_NS;
	step(&scene);
	expect_state(&scene, CONTROL_STARTING);
	scene.ahead_ns = 16 * SECOND_NS;
	expect_sentence(&scene, "no hello from it within 15 s");
	end(&scene);
}

static void falls_silent(void **state)
{
	struct scene scene;
	struct control_host host;
	int i;

	(void)state;
	begin(&scene, HELLO "exec sleep 100");
	expect_state(&scene, CONTROL_READY);
	control_ask_points(scene.hosts, 0, 0, take, &scene);
	for (i = 0; i < 7; i++) {
		scene.ahead_ns += SECOND_NS;
		step(&scene);
		assert_int_equal(state_of(&scene, &host), CONTROL_READY);
	}
	scene.ahead_ns += SECOND_NS + SECOND_NS / 2;
	expect_sentence(&scene, "said nothing for 8 s");
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_END);
	assert_non_null(strstr(scene.message, "may have been done or not"));
	end(&scene);
}

/* A console that was stopped itself does not take the time for a helper's silence. */
static void stopped_console(void **state)
{
	struct scene scene;
	struct control_host host;

	(void)state;
	begin(&scene, HELLO "exec sleep 100");
	expect_state(&scene, CONTROL_READY);
	scene.ahead_ns = 3600 * SECOND_NS;
	step(&scene);
	assert_int_equal(state_of(&scene, &host), CONTROL_READY);
	end(&scene);
}

/* It is started again, later and later; what was asked in between says why it cannot be. */
static void starts_again(void **state)
{
	struct control_host host;
	struct scene scene;

	(void)state;
	begin(&scene, HELLO "sleep 0.3; exit 1");
	expect_state(&scene, CONTROL_FAILED);
	state_of(&scene, &host);
	assert_int_equal(host.generation, 1);
	assert_int_not_equal(control_ask_points(scene.hosts, 0, 0, take, &scene), 0);
	assert_int_equal(scene.n_answers, 0);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_NOT_YET);
	assert_non_null(strstr(scene.message, "No control of here: "));
	scene.ahead_ns = 1100000000u;
	expect_state(&scene, CONTROL_READY);
	expect_state(&scene, CONTROL_FAILED);
	state_of(&scene, &host);
	assert_int_equal(host.generation, 2);
	assert_true(control_hosts_due_ns(scene.hosts) > clock_ns() + SECOND_NS);
	end(&scene);
}

/* Answers a points request with what `answer` prints; $id is its number. */
static void ask_with(struct scene *scene, const char *answer)
{
	char script[4096];

	snprintf(script, sizeof(script), "%s%s%s%s", HELLO "while read -r l; do " TAKE_ID,
			"case $l in *points*|*enable*) ", answer,
			";; *) echo \"{\\\"id\\\":$id,\\\"ok\\\":true}\";; esac; done");
	begin(scene, script);
	expect_state(scene, CONTROL_READY);
}

#define POINT(more)                                                                                \
	"echo \"{\\\"id\\\":$id,\\\"point\\\":{\\\"domain\\\":\\\"ust\\\",\\\"type\\\":"           \
	"\\\"tracepoint\\\",\\\"name\\\":\\\"a:b\\\",\\\"loglevel\\\":13,\\\"n_processes\\\":0,"   \
	"\\\"processes\\\":[],\\\"fields\\\":[]" more "}}\""
#define LAST "; echo \"{\\\"id\\\":$id,\\\"ok\\\":true}\""

static void rows(void **state)
{
	struct scene scene;

	(void)state;
	ask_with(&scene, POINT(",\\\"uses\\\":[]") LAST);
	control_ask_points(scene.hosts, 0, 0, take, &scene);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_OK);
	assert_int_equal(scene.n_points, 1);
	end(&scene);
}

static void wrong_rows(void **state)
{
	static const char *const answers[] = {
			POINT("") LAST,
			POINT(",\\\"uses\\\":7") LAST,
			POINT(",\\\"uses\\\":[{\\\"session\\\":\\\"x\\\"}]") LAST,
			"echo \"{\\\"id\\\":$id,\\\"point\\\":7}\"" LAST,
			"echo \"{\\\"id\\\":$id,\\\"session\\\":{}}\"" LAST,
			"echo \"{\\\"id\\\":$id}\"" LAST,
			"echo \"{\\\"id\\\":999,\\\"ok\\\":true}\"" LAST,
			"echo \"{\\\"id\\\":999,\\\"point\\\":{}}\"" LAST,
			"echo \"{\\\"id\\\":$id,\\\"ok\\\":true\"",
	};
	struct scene scene;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		ask_with(&scene, answers[i]);
		control_ask_points(scene.hosts, 0, 0, take, &scene);
		expect_sentence(&scene, "is not the protocol");
		wait_answer(&scene);
		assert_int_equal(scene.status, STATUS_END);
		end(&scene);
	}
}

/* An enable is answered with one change for each rule, or it is no answer. */
static void missing_changes(void **state)
{
	struct control_rule rules[2] = {{.name = "a:b"}, {.name = "a:c"}};
	struct scene scene;

	(void)state;
	ask_with(&scene, "echo \"{\\\"id\\\":$id,\\\"change\\\":{\\\"index\\\":0,\\\"name\\\":"
			 "\\\"a:b\\\",\\\"done\\\":\\\"done\\\",\\\"channel\\\":\\\"\\\","
			 "\\\"session\\\":\\\"\\\",\\\"error\\\":\\\"\\\",\\\"help\\\":\\\"\\\"}}"
			 "\"" LAST);
	control_ask_enable(scene.hosts, 0, CONTROL_LIVE, CONTROL_EXPLORE, rules, 2, NULL, 0, 0,
			take, &scene);
	expect_sentence(&scene, "is not the protocol");
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_END);
	end(&scene);
}

static void endless_rows(void **state)
{
	struct scene scene;

	(void)state;
	ask_with(&scene, "row=$(" POINT(",\\\"uses\\\":[]") "); yes \"$row\" | head -n 70000" LAST);
	control_ask_points(scene.hosts, 0, 0, take, &scene);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_FULL);
	assert_int_equal(scene.n_points, 0);
	end(&scene);
}

/* What waits in the helper's queue may be given up while rows of what is before it come. */
static void given_up_between_rows(void **state)
{
	struct scene scene;

	(void)state;
	ask_with(&scene, "if [ -z \"$first\" ]; then first=$id; " POINT(
					 ",\\\"uses\\\":[]") "; else echo "
							     "\"{\\\"id\\\":$id,\\\"ok\\\":false,"
							     "\\\"error\\\":"
							     "\\\"given "
							     "up\\\",\\\"help\\\":\\\"\\\"}\"; "
							     "sleep 0.3; id=$first; " POINT(
									     ",\\\"uses\\\":[]")
									     LAST "; fi");
	control_ask_points(scene.hosts, 0, 0, take, &scene);
	control_ask_points(scene.hosts, 0, 0, take, &scene);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_INVALID);
	assert_string_equal(scene.message, "given up");
	scene.n_answers = 0;
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_OK);
	assert_int_equal(scene.n_points, 2);
	end(&scene);
}

/* Too late, given up, and a helper that does not give up. */
static void unanswered(void **state)
{
	struct scene scene;
	uint64_t ask;

	(void)state;
	ask_with(&scene, ":");
	control_ask_points(scene.hosts, 0, SECOND_NS, take, &scene);
	step(&scene);
	assert_int_equal(scene.n_answers, 0);
	scene.ahead_ns = SECOND_NS + SECOND_NS / 2;
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_TIMEOUT);
	scene.n_answers = 0;
	ask = control_ask_points(scene.hosts, 0, 0, take, &scene);
	control_give_up(scene.hosts, ask);
	assert_int_equal(scene.n_answers, 0);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_END);
	scene.ahead_ns += 4 * SECOND_NS;
	step(&scene);
	scene.ahead_ns += 2 * SECOND_NS;
	expect_sentence(&scene, "does not even give up");
	assert_int_equal(scene.n_answers, 1);
	end(&scene);
}

static void too_many(void **state)
{
	struct scene scene;
	uint32_t i;

	(void)state;
	ask_with(&scene, ":");
	for (i = 0; i <= CONTROL_MAX_ASKS; i++) {
		control_ask_points(scene.hosts, 0, 0, take, &scene);
	}
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_BUSY);
	/* All others are answered when it ends. */
	scene.n_answers = 0;
	control_hosts_destroy(scene.hosts);
	assert_int_equal(scene.n_answers, CONTROL_MAX_ASKS);
	assert_int_equal(scene.status, STATUS_END);
	unlink(scene.script);
}

static void off(void **state)
{
	struct control_host host;
	struct scene scene;

	(void)state;
	begin(&scene, "true");
	control_hosts_view(scene.hosts, control_hosts_find(scene.hosts, "compute-2"), "compute-2",
			&host);
	assert_int_equal(host.state, CONTROL_OFF);
	assert_string_equal(host.sentence, "Control off: no helper for compute-2. Try: pythiatop "
					   "--control compute-2=ssh://compute-2");
	control_ask_points(scene.hosts, -1, 0, take, &scene);
	wait_answer(&scene);
	assert_int_equal(scene.status, STATUS_NOT_YET);
	end(&scene);
}

/* What ssh is started with; it stands for it and prints its arguments. */
static void ssh_arguments(void **state)
{
	static const char *const wrong[] = {"h", "=local", "h=", "h=ssh://",
			"h=ssh://-oProxyCommand=x", "h=ssh://a b", "h=ssh://u@-x", "h=ssh://x:0",
			"h=ssh://x:70000", "h=ssh://x:1x", "h=ssh://$(x)", "h=ssh://x/y",
			"h=ssh://-l@x", "h=http://x", "a b=local", "h=ssh://x;y", "h=ssh://[::1",
			"h=ssh://@x"};
	static const char *const right[] = {"h=local", "h=ssh://x", "h=ssh://u@x.y:22",
			"h=ssh://[fe80::1%eth0]:2222", "compute-2=ssh://compute-2"};
	char error[256];
	struct scene scene;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (control_option_check(wrong[i], error, sizeof(error))) {
			fail_msg("taken: %s", wrong[i]);
		}
	}
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_true(control_option_check(right[i], error, sizeof(error)));
	}
	begin(&scene, "echo \"$@\" >&2; exit 255");
	assert_int_equal(control_hosts_add_option(scene.hosts, "far=ssh://u@far.example:2222",
					 error, sizeof(error)),
			1);
	assert_int_equal(control_hosts_add(scene.hosts, "here", "local", error, sizeof(error)), -1);
	for (i = 0; i < 300; i++) {
		struct control_host host;

		step(&scene);
		control_hosts_view(scene.hosts, 1, "", &host);
		if (host.state == CONTROL_FAILED) {
			assert_non_null(strstr(host.sentence,
					"-T -o BatchMode=yes -o ConnectTimeout=5 -o "
					"ServerAliveInterval=5 -p 2222 -l u -- far.example "
					"pythiatop-control"));
			assert_non_null(strstr(host.sentence,
					"Try: ssh -o BatchMode=yes -p 2222 u@far.example "
					"pythiatop-control --version"));
			end(&scene);
			return;
		}
	}
	fail_msg("it never failed");
}

static void relay_urls(void **state)
{
	static const struct {
		const char *given, *source;
		bool local;
		const char *url; /* NULL: it must be said */
	} cases[] = {
			{NULL, "net://relay", false, "net://relay"},
			{NULL, "net://relay:5344/host/h/s", false, "net://relay"},
			{NULL, "net://relay:5555", false, NULL},
			{NULL, "net://localhost", true, "net://localhost"},
			{NULL, "net://localhost", false, NULL},
			{NULL, "net://127.0.0.1:5344", false, NULL},
			{NULL, "net6://[::1]", false, NULL},
			{NULL, "net6://[2001:db8::1]", false, "net6://[2001:db8::1]"},
			{NULL, "/var/traces", true, NULL},
			{NULL, NULL, true, NULL},
			{"net://10.0.0.1:1:2", "net://localhost", false, "net://10.0.0.1:1:2"},
			{"file:///tmp", "net://relay", false, NULL},
	};
	char url[256], error[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = control_relay_url(cases[i].given, cases[i].source, cases[i].local, url,
				sizeof(url), error, sizeof(error));

		assert_int_equal(found, cases[i].url != NULL);
		if (found) {
			assert_string_equal(url, cases[i].url);
		} else {
			assert_non_null(strstr(error, "net://"));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(babbler),
			cmocka_unit_test(missing),
			cmocka_unit_test(screamer),
			cmocka_unit_test(silent),
			cmocka_unit_test(falls_silent),
			cmocka_unit_test(stopped_console),
			cmocka_unit_test(starts_again),
			cmocka_unit_test(rows),
			cmocka_unit_test(wrong_rows),
			cmocka_unit_test(missing_changes),
			cmocka_unit_test(endless_rows),
			cmocka_unit_test(given_up_between_rows),
			cmocka_unit_test(unanswered),
			cmocka_unit_test(too_many),
			cmocka_unit_test(off),
			cmocka_unit_test(ssh_arguments),
			cmocka_unit_test(relay_urls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
