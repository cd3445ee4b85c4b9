/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Peers that are no relay daemon, that lie, fall silent or hang up: whatever they do, the source
 * process ends by itself with one sentence. (What real relay daemons do is tested with real ones.)
 */
#include <arpa/inet.h>
#include <endian.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/library.h"
#include "support_source.h"

enum manner {
	TELLS_TRUTH,   /* one live session, whose metadata is `metadata` */
	COUNTS_NAMES,  /* the same by protocol 2.15, which most tell by 2.4 */
	HUGE_NAMES,    /* by 2.15, a name that is longer than memory */
	CUT_NAMES,     /* by 2.15, hangs up in a name */
	LONGEST_NAMES, /* by 2.15, longer than anybody has */
	SENDS_GARBAGE,
	SAYS_NOTHING,
	HANGS_UP,
	WRONG_VERSION,
	HUGE_LIST,
	CUT_LIST,
	LIST_THEN_SILENCE,
	ATTACHED_BY_ANOTHER, /* only told when attaching */
	NO_SESSIONS,
	NOT_LIVE,
	NAMES_WITHOUT_END,
	ENDS_AFTER_ATTACH,
	/* With a data stream, whose metadata is TSDL. */
	ODD_METADATA,    /* that is no TSDL */
	HUGE_METADATA,   /* longer than memory */
	HUGE_INDEX,      /* of a packet longer than memory */
	ODD_INDEX,       /* of a packet of 3 bits */
	OTHER_LENGTH,    /* a packet is not as long as asked for */
	GARBAGE_PACKET,  /* is not one */
	NO_PACKET,       /* after its index */
	HUGE_STREAMS,    /* new ones */
	SAYS_TOO_MUCH,   /* beside what it was asked */
	UNKNOWN_ANSWERS, /* numbers that mean nothing */
};

struct peer {
	pid_t pid;
	uint16_t port;
};

struct command {
	uint64_t size;
	uint32_t command, version;
} __attribute__((packed));

static bool receive(int fd, void *bytes, size_t size)
{
	return size == 0 || recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static void reply(int fd, const void *bytes, size_t size)
{
	if (send(fd, bytes, size, MSG_NOSIGNAL) < 0) {
		_exit(0);
	}
}

static void reply_u32(int fd, uint32_t value)
{
	value = htobe32(value);
	reply(fd, &value, sizeof(value));
}

static void reply_u64(int fd, uint64_t value)
{
	value = htobe64(value);
	reply(fd, &value, sizeof(value));
}

static void reply_text(int fd, const char *text, size_t size, bool without_end)
{
	char bytes[4096] = {0};

	if (without_end) {
		memset(bytes, 'x', size);
	} else {
		snprintf(bytes, sizeof(bytes), "%s", text);
	}
	reply(fd, bytes, size);
}

/* Lengths, the format of the trace (CTF 1.8), and the names without an end. */
static void reply_counted_names(int fd, enum manner manner)
{
	uint32_t n = manner == LONGEST_NAMES ? 4096 : 5;

	reply_u32(fd, manner == HUGE_NAMES ? 4000000000u : n);
	reply_u32(fd, 4);
	reply_u32(fd, 0);
	reply_text(fd, "there", n, manner == LONGEST_NAMES);
	if (manner == CUT_NAMES) {
		_exit(0);
	}
	reply_text(fd, "work", 4, false);
}

static bool counts_names(enum manner manner)
{
	return manner >= COUNTS_NAMES && manner <= LONGEST_NAMES;
}

static void reply_list(int fd, enum manner manner)
{
	reply_u32(fd, manner == HUGE_LIST       ? 4000000000u
			: manner == CUT_LIST    ? 3
			: manner == NO_SESSIONS ? 0
						: 1);
	if (manner == HUGE_LIST || manner == NO_SESSIONS) {
		return;
	}
	reply_u64(fd, 42);
	reply_u32(fd, manner == NOT_LIVE ? 0 : 100000);
	reply_u32(fd, 0);
	reply_u32(fd, 1);
	if (counts_names(manner)) {
		reply_counted_names(fd, manner);
		return;
	}
	reply_text(fd, "there", 64, manner == NAMES_WITHOUT_END);
	reply_text(fd, "work", 255, manner == NAMES_WITHOUT_END);
	if (manner == CUT_LIST) {
		_exit(0);
	}
}

static void reply_stream(int fd, uint64_t id, bool is_metadata)
{
	reply_u64(fd, id);
	reply_u64(fd, 1);
	reply_u32(fd, is_metadata ? 1 : 0);
	reply_text(fd, "path", 4096, false);
	reply_text(fd, is_metadata ? "metadata" : "channel_0", 255, false);
}

static void reply_attach(int fd, enum manner manner)
{
	reply_u32(fd, manner == ATTACHED_BY_ANOTHER ? 2 : 1);
	reply_u32(fd, manner == ATTACHED_BY_ANOTHER ? 0 : manner >= ODD_METADATA ? 2 : 1);
	if (manner == ATTACHED_BY_ANOTHER) {
		return;
	}
	reply_stream(fd, 7, true);
	if (manner >= ODD_METADATA) {
		reply_stream(fd, 8, false);
	}
	if (manner == ENDS_AFTER_ATTACH) {
		close(fd);
	}
}

/* Of a session with a data stream. */
static void reply_tsdl(int fd, enum manner manner)
{
	static const char tsdl[] =
			"/* CTF 1.8 */ typealias integer { size = 32; align = 8; signed = false; } "
			":= uint32_t; trace { major = 1; minor = 8; byte_order = le; packet.header "
			":= struct { uint32_t magic; uint32_t stream_id; }; }; stream { id = 0; "
			"event.header := struct { uint32_t id; }; }; event { name = \"a\"; id = 0; "
			"stream_id = 0; fields := struct { uint32_t x; }; };";
	static const char odd[] = "/* CTF 1.8 */ trace { this is not } what anybody wrote;";
	const char *text = manner == ODD_METADATA ? odd : tsdl;

	reply_u64(fd, manner == HUGE_METADATA ? UINT64_C(1) << 40 : strlen(text));
	reply_u32(fd, manner == UNKNOWN_ANSWERS ? 77 : 1);
	reply(fd, text, strlen(text));
}

/* A packet of 64 bytes; what lies depends on the manner. */
static void reply_index(int fd, enum manner manner, bool again)
{
	uint64_t bits = manner == HUGE_INDEX ? UINT64_C(1) << 60 : manner == ODD_INDEX ? 3 : 512;

	reply_u64(fd, 0);
	reply_u64(fd, bits);
	reply_u64(fd, bits);
	for (int i = 0; i < 4; i++) {
		reply_u64(fd, 0);
	}
	reply_u32(fd, again ? 2 : 1);
	reply_u32(fd, manner == HUGE_STREAMS ? 2 : 0);
	if (manner == SAYS_TOO_MUCH) {
		for (int i = 0; i < 100; i++) {
			reply_u64(fd, UINT64_C(0x0101010101010101));
		}
	}
}

static void reply_packet(int fd, enum manner manner)
{
	unsigned char bytes[64];

	memset(bytes, 0x5a, sizeof(bytes));
	reply_u32(fd, manner == NO_PACKET ? 3 : 1);
	reply_u32(fd, manner == NO_PACKET ? 0 : manner == OTHER_LENGTH ? 65 : 64);
	reply_u32(fd, 0);
	if (manner != NO_PACKET) {
		reply(fd, bytes, sizeof(bytes));
	}
}

static void reply_metadata(int fd, bool again)
{
	static const char metadata[] = "\x1e{\"type\":\"preamble\",\"version\":2}\n";

	if (again) {
		reply_u64(fd, 0);
		reply_u32(fd, 2);
		return;
	}
	reply_u64(fd, sizeof(metadata) - 1);
	reply_u32(fd, 1);
	reply(fd, metadata, sizeof(metadata) - 1);
}

static void serve(int fd, enum manner manner)
{
	unsigned char data[64];
	struct command command;
	uint32_t n_lists = 0, n_metadata = 0, n_indexes = 0;

	if (manner == SENDS_GARBAGE) {
		for (int i = 0; i < 4096; i++) {
			reply_u32(fd, (uint32_t)i * 2654435761u);
		}
	}
	if (manner == SAYS_NOTHING) {
		sleep(30);
	}
	while (manner != HANGS_UP && receive(fd, &command, sizeof(command)) &&
			be64toh(command.size) <= sizeof(data) &&
			receive(fd, data, be64toh(command.size))) {
		switch (be32toh(command.command)) {
		case 1: /* connect */
			reply_u64(fd, 1);
			reply_u32(fd, manner == WRONG_VERSION ? 77 : 2);
			reply_u32(fd, counts_names(manner) ? 15 : 4);
			reply_u32(fd, 1);
			break;
		case 2: /* list sessions */
			if (manner == LIST_THEN_SILENCE && n_lists++ > 0) {
				sleep(30);
			}
			reply_list(fd, manner);
			break;
		case 3: /* attach */
			reply_attach(fd, manner);
			break;
		case 4: /* get next index */
			reply_index(fd, manner, n_indexes++ > 0);
			break;
		case 5: /* get packet */
			reply_packet(fd, manner);
			break;
		case 6: /* get metadata */
			if (manner >= ODD_METADATA && n_metadata == 0) {
				reply_tsdl(fd, manner);
				n_metadata++;
			} else {
				reply_metadata(fd, n_metadata++ > 0);
			}
			break;
		case 7: /* get new streams */
			reply_u32(fd, manner == HUGE_STREAMS ? 1 : 2);
			reply_u32(fd, manner == HUGE_STREAMS ? 4000000000u : 0);
			break;
		default: /* create and detach session */
			reply_u32(fd, 1);
			break;
		}
	}
	close(fd);
}

static struct peer start_peer(enum manner manner)
{
	struct sockaddr_in address = {
			.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct peer peer;

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	peer.port = ntohs(address.sin_port);
	peer.pid = fork();
	if (peer.pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		alarm(60);
		for (;;) {
			serve(accept(listener, NULL, NULL), manner);
		}
	}
	close(listener);
	return peer;
}

static void stop_peer(const struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
}

/* Starts a source against such a peer and expects that it ends with these words. */
static void expect_of(const char *reader, enum manner manner, bool live, enum source_state state,
		const char *words)
{
	struct peer peer = start_peer(manner);
	struct source_probe probe = {0};
	char url[128];
	const char *arguments[] = {live ? "--live" : "--list", url, "--reader", reader, NULL};
	int status;

	snprintf(url, sizeof(url), live ? "net://127.0.0.1:%u/host/there/work" : "127.0.0.1:%u",
			peer.port);
	source_probe_start(&probe, arguments);
	source_probe_run(&probe, 20000);
	status = source_probe_stop(&probe);
	stop_peer(&peer);
	if (probe.broken || probe.state != state || !strstr(probe.text, words)) {
		fail_msg("manner %d: state %d \"%s\" instead of %d \"%s\" %s", manner, probe.state,
				probe.text, state, words, probe.why);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_false(probe.ended);
}

static void expect(enum manner manner, bool live, enum source_state state, const char *words)
{
	expect_of("auto", manner, live, state, words);
}

static void check_listed(struct source_probe *probe, const struct record *record)
{
	const struct record_listed *listed = (const struct record_listed *)record;

	(void)probe;
	if (record->kind == RECORD_LISTED) {
		assert_int_equal(listed->id, 42);
		assert_int_equal(listed->live_timer_us, 100000);
		assert_int_equal(listed->streams, 1);
		assert_int_equal(listed->viewers, 0);
		assert_string_equal(record_text(record, listed->host), "there");
		assert_string_equal(record_text(record, listed->session), "work");
	}
}

/* At once, and again as a sign of life although nothing changes; until it is ended. */
static void check_listing(enum manner manner)
{
	struct peer peer = start_peer(manner);
	struct source_probe probe = {.on_record = check_listed};
	char relay[64];
	const char *arguments[] = {"--list", relay, NULL};

	snprintf(relay, sizeof(relay), "127.0.0.1:%u", peer.port);
	source_probe_start(&probe, arguments);
	for (int i = 0; i < 100 && probe.n_lists < 2 && !probe.broken; i++) {
		source_probe_step(&probe, 100);
	}
	assert_false(probe.broken);
	assert_int_equal(probe.n_lists, 2);
	assert_int_equal(probe.n_listed, 2);
	assert_int_equal(probe.state, SOURCE_CONNECTING); /* no complaint */
	source_probe_stop(&probe);
	stop_peer(&peer);
}

static void test_listing_tells_what_there_is(void **state)
{
	(void)state;
	check_listing(TELLS_TRUTH);
	check_listing(COUNTS_NAMES);
}

static void test_listing_survives_liars(void **state)
{
	(void)state;
	expect(SENDS_GARBAGE, false, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(HANGS_UP, false, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(WRONG_VERSION, false, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(HUGE_LIST, false, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(CUT_LIST, false, SOURCE_BROKEN, "closed the connection");
	expect(HUGE_NAMES, false, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(CUT_NAMES, false, SOURCE_BROKEN, "closed the connection");
}

static void test_silence_has_an_end(void **state)
{
	(void)state;
	expect(SAYS_NOTHING, false, SOURCE_BROKEN, "has not answered for 5 s");
	expect(LIST_THEN_SILENCE, false, SOURCE_BROKEN, "has not answered for 5 s");
	expect(SAYS_NOTHING, true, SOURCE_BROKEN, "has not answered for 5 s");
}

static void test_live_survives_liars(void **state)
{
	(void)state;
	expect(SENDS_GARBAGE, true, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(HANGS_UP, true, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(HUGE_LIST, true, SOURCE_BROKEN, "does not speak like a relay daemon");
	expect(NO_SESSIONS, true, SOURCE_BROKEN, "no live session \"work\"");
	expect(NOT_LIVE, true, SOURCE_BROKEN, "no live session \"work\"");
	expect(NAMES_WITHOUT_END, true, SOURCE_BROKEN, "no live session \"work\"");
	expect(LONGEST_NAMES, true, SOURCE_BROKEN, "no live session \"work\"");
	expect(ATTACHED_BY_ANOTHER, true, SOURCE_BROKEN, "another viewer is attached");
	expect(ENDS_AFTER_ATTACH, true, SOURCE_BROKEN, "could not be read");
}

/* What lies once a session is attached costs that source, and says what it was. */
static void test_own_reader_survives_liars(void **state)
{
	static const char unlike[] = "does not speak like a relay daemon";

	(void)state;
	expect_of("own", ODD_METADATA, true, SOURCE_REFUSED, "could not be read");
	expect_of("own", HUGE_METADATA, true, SOURCE_BROKEN, unlike);
	expect_of("own", HUGE_INDEX, true, SOURCE_BROKEN, unlike);
	expect_of("own", ODD_INDEX, true, SOURCE_BROKEN, unlike);
	expect_of("own", OTHER_LENGTH, true, SOURCE_BROKEN, unlike);
	expect_of("own", GARBAGE_PACKET, true, SOURCE_REFUSED, "could not be read");
	expect_of("own", NO_PACKET, true, SOURCE_BROKEN, "could not give a packet");
	expect_of("own", HUGE_STREAMS, true, SOURCE_BROKEN, unlike);
	expect_of("own", SAYS_TOO_MUCH, true, SOURCE_BROKEN, "");
	expect_of("own", UNKNOWN_ANSWERS, true, SOURCE_BROKEN, "could not give metadata");
}

static void note_handover(struct source_probe *probe, const struct record *record)
{
	const struct record_state *said = (const struct record_state *)record;

	if (record->kind == RECORD_STATE && strstr(said->text, "read by libbabeltrace2: ")) {
		*(bool *)probe->user = true;
	}
}

/* What our reader does not understand is the library's: said, and tried. */
static void test_library_takes_over(void **state)
{
	struct peer peer = start_peer(ODD_METADATA);
	bool handed_over = false;
	struct source_probe probe = {.on_record = note_handover, .user = &handed_over};
	char url[128];
	const char *arguments[] = {"--live", url, NULL};

	(void)state;
	snprintf(url, sizeof(url), "net://127.0.0.1:%u/host/there/work", peer.port);
	source_probe_start(&probe, arguments);
	source_probe_run(&probe, 20000);
	source_probe_stop(&probe);
	stop_peer(&peer);
	assert_true(handed_over);
	assert_int_equal(probe.state, SOURCE_BROKEN); /* no reader makes sense of it */
}

static void test_ctf_2_is_refused_by_name(void **state)
{
	(void)state;
	if (library_knows_ctf_2()) {
		printf("skipped: this babeltrace2 reads CTF 2, and waits for the rest of it\n");
		skip();
	}
	expect_of("babeltrace2", TELLS_TRUTH, true, SOURCE_REFUSED, "--trace-format=ctf-1.8");
}

static void test_unknown_hosts_and_closed_ports_are_told_apart(void **state)
{
	const char *unknown[] = {"--list", "no-such-host.invalid", NULL};
	const char *closed[] = {"--live", "net://127.0.0.1:1/host/a/b", NULL};
	struct source_probe probe = {0};

	(void)state;
	source_probe_start(&probe, unknown);
	source_probe_run(&probe, 30000);
	source_probe_stop(&probe);
	assert_int_equal(probe.state, SOURCE_BROKEN);
	assert_non_null(strstr(probe.text, "is not known"));
	memset(&probe, 0, sizeof(probe));
	source_probe_start(&probe, closed);
	source_probe_run(&probe, 10000);
	source_probe_stop(&probe);
	assert_int_equal(probe.state, SOURCE_BROKEN);
	assert_non_null(strstr(probe.text, "No relay daemon at 127.0.0.1:1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_listing_tells_what_there_is),
			cmocka_unit_test(test_listing_survives_liars),
			cmocka_unit_test(test_silence_has_an_end),
			cmocka_unit_test(test_live_survives_liars),
			cmocka_unit_test(test_own_reader_survives_liars),
			cmocka_unit_test(test_library_takes_over),
			cmocka_unit_test(test_ctf_2_is_refused_by_name),
			cmocka_unit_test(test_unknown_hosts_and_closed_ports_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
