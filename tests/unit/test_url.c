/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people name as sources, how relay daemons and sessions are written, and who is who. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "intake/hosts.h"
#include "intake/url.h"
#include "intake/walk.h"

static void expect_relay(const char *text, const char *relay, uint16_t port, const char *written)
{
	char error[256], out[URL_MAX];
	struct url url;

	assert_int_equal(url_parse(&url, text, error, sizeof(error)), STATUS_OK);
	assert_int_equal(url.kind, URL_RELAY);
	assert_string_equal(url.relay, relay);
	assert_int_equal(url.port, port);
	url_format_relay(&url, out, sizeof(out));
	assert_string_equal(out, written);
}

static void test_relays(void **state)
{
	(void)state;
	expect_relay("net://relay1", "relay1", 5344, "net://relay1");
	expect_relay("net://relay1/", "relay1", 5344, "net://relay1");
	expect_relay("net://relay1:5344", "relay1", 5344, "net://relay1");
	expect_relay("net://10.0.0.1:1", "10.0.0.1", 1, "net://10.0.0.1:1");
	expect_relay("net6://[::1]:65535/", "::1", 65535, "net://[::1]:65535");
	expect_relay("net4://relay1", "relay1", 5344, "net://relay1");
}

static void test_sessions(void **state)
{
	char error[256], out[URL_MAX];
	struct url url;

	(void)state;
	assert_int_equal(url_parse(&url, "net://r:99/host/web-1/my session", error, sizeof(error)),
			STATUS_OK);
	assert_int_equal(url.kind, URL_SESSION);
	assert_string_equal(url.host, "web-1");
	assert_string_equal(url.session, "my session");
	url_format_session(&url, url.host, url.session, out, sizeof(out));
	assert_string_equal(out, "net://r:99/host/web-1/my session");
}

static void test_wrong_ones(void **state)
{
	static const char *const wrong[] = {"", "net://", "net:///host/a/b", "net://r:0",
			"net://r:65536", "net://r:", "net://r:5x", "net://r:-1", "net://r/session",
			"net://r/host/", "net://r/host/h", "net://r/host//s", "net://r/host/h/",
			"net://r/host/h/a/b", "net://[::1", "net://[::1]x", "net://r/hosts/h/s"};
	char error[256], too_long[700];
	struct url url;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		error[0] = '\0';
		assert_int_equal(url_parse(&url, wrong[i], error, sizeof(error)), STATUS_INVALID);
		assert_non_null(strstr(error, "expected net://RELAY"));
	}
	memset(too_long, 'x', sizeof(too_long));
	memcpy(too_long, "net://", 6);
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(url_parse(&url, too_long, error, sizeof(error)), STATUS_INVALID);
}

static void test_bare_words(void **state)
{
	char out[URL_MAX];

	(void)state;
	url_complete("no-such-file-but-a-host", out, sizeof(out));
	assert_string_equal(out, "net://no-such-file-but-a-host");
	url_complete("/tmp", out, sizeof(out));
	assert_string_equal(out, "/tmp");
	url_complete(".", out, sizeof(out));
	assert_string_equal(out, ".");
	url_complete("net://x", out, sizeof(out));
	assert_string_equal(out, "net://x");
}

/* --- recordings ---------------------------------------------------------------------------------
 */

static void make(const char *name, const char *base, bool file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	if (file) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fclose(out);
	} else {
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

static void test_walk(void **state)
{
	char base[] = "/tmp/pt-walk-XXXXXX", command[64], error[256], ends[64];
	struct walk walk;

	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(walk_traces(&walk, base, error, sizeof(error)), STATUS_NOT_FOUND);
	assert_non_null(strstr(error, "no trace"));
	walk_release(&walk);

	make("b", base, false);
	make("b/kernel", base, false);
	make("b/kernel/metadata", base, true);
	make("b/kernel/index", base, false);
	make("a", base, false);
	make("a/metadata", base, true);
	make("a/inner", base, false);
	make("a/inner/metadata", base, true); /* inside a trace: not another one */
	make("c", base, false);
	make("c/metadata", base, false); /* a folder of that name is no trace */
	assert_int_equal(symlink(base, strcat(strcpy(ends, base), "/c/loop")), 0);
	assert_int_equal(walk_traces(&walk, base, error, sizeof(error)), STATUS_OK);
	assert_int_equal(walk.n, 2);
	assert_string_equal(walk.paths[0] + strlen(base), "/a");
	assert_string_equal(walk.paths[1] + strlen(base), "/b/kernel");
	assert_false(walk.full);
	walk_release(&walk);
	snprintf(command, sizeof(command), "rm -r %s", base);
	assert_int_equal(system(command), 0);
	assert_int_equal(walk_traces(&walk, base, error, sizeof(error)), STATUS_NOT_FOUND);
	walk_release(&walk);
}

static void test_hosts(void **state)
{
	static const uint8_t none[16], one[16] = {1}, two[16] = {2};
	struct hosts *hosts = hosts_create();

	(void)state;
	assert_string_equal(hosts_name(hosts, "localhost", "r1", one), "localhost");
	assert_string_equal(hosts_name(hosts, "localhost", "r2", two), "localhost@r2");
	/* The same machine by its clock, or not known to be another one. */
	assert_string_equal(hosts_name(hosts, "localhost", "r3", none), "localhost");
	assert_string_equal(hosts_name(hosts, "web", "r1", one), "web");
	assert_string_equal(hosts_name(hosts, "web", "r2", one), "web");
	/* Once named, always named so: started anew, it has another clock. */
	assert_string_equal(hosts_name(hosts, "localhost", "r2", one), "localhost@r2");
	/* Recordings never collide. */
	assert_string_equal(hosts_name(hosts, "web", "", two), "web");
	hosts_destroy(hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_relays),
			cmocka_unit_test(test_sessions),
			cmocka_unit_test(test_wrong_ones),
			cmocka_unit_test(test_bare_words),
			cmocka_unit_test(test_walk),
			cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
