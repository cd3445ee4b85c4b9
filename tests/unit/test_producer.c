/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The producer's side of the relay daemon's protocol, where the other side is not a good one: too
 * old, silent, gone, refusing. (Beside a real relay daemon it is tried by live/replay.)
 */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "relay/producer.h"

/* A daemon that takes one connection of each port, and then sends what it was told to. */
struct daemon {
	int control, data;
	uint16_t control_port, data_port;
	const void *says;
	size_t size;
	int stays; /* until the producer hangs up */
	pthread_t thread;
};

static int listen_on(uint16_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

static void *serve(void *argument)
{
	struct daemon *daemon = argument;
	int control = accept(daemon->control, NULL, NULL);
	char byte;

	if (daemon->size > 0 && send(control, daemon->says, daemon->size, MSG_NOSIGNAL) < 0) {
		perror("send");
	}
	while (daemon->stays && recv(control, &byte, 1, 0) > 0) {
	}
	close(control);
	return NULL;
}

static void start(struct daemon *daemon)
{
	daemon->control = listen_on(&daemon->control_port);
	daemon->data = listen_on(&daemon->data_port);
	assert_int_equal(pthread_create(&daemon->thread, NULL, serve, daemon), 0);
}

static void stop(struct daemon *daemon)
{
	pthread_join(daemon->thread, NULL);
	close(daemon->control);
	close(daemon->data);
}

static void expect(struct daemon *daemon, enum status wanted, const char *said)
{
	const struct producer_session session = {
			.host = "host", .name = "session", .live_timer_us = 1};
	struct producer_target target = {.host = "127.0.0.1"};
	struct producer_fault fault = {.text = ""};
	struct producer *producer;
	enum status status;

	start(daemon);
	target.control_port = daemon->control_port;
	target.data_port = daemon->data_port;
	status = producer_connect(&producer, &target, 200, &fault);
	if (status == STATUS_OK) {
		status = producer_create_session(producer, &session, &fault);
	}
	producer_close(producer);
	stop(daemon);
	assert_int_equal(status, wanted);
	assert_non_null(strstr(fault.text, said));
	assert_non_null(strstr(fault.text, "127.0.0.1"));
}

static void test_too_old(void **state)
{
	const uint32_t version[2] = {htobe32(2), htobe32(10)};
	struct daemon daemon = {.says = version, .size = sizeof(version), .stays = 1};

	(void)state;
	expect(&daemon, STATUS_PROTOCOL, "2.11 or later");
}

static void test_silent(void **state)
{
	struct daemon daemon = {.size = 0, .stays = 1};

	(void)state;
	expect(&daemon, STATUS_TIMEOUT, "does not answer");
}

static void test_hangs_up(void **state)
{
	const uint32_t version[2] = {htobe32(2), htobe32(13)};
	struct daemon daemon = {.says = version, .size = sizeof(version), .stays = 0};

	(void)state;
	expect(&daemon, STATUS_IO, "conn");
}

/* Says a path longer than any: nothing is read into memory that is not there. */
static void test_lies(void **state)
{
	const uint32_t says[6] = {htobe32(2), htobe32(13), 0, 0, htobe32(10), UINT32_MAX};
	struct daemon daemon = {.says = says, .size = sizeof(says), .stays = 1};

	(void)state;
	expect(&daemon, STATUS_PROTOCOL, "no relay daemon's");
}

static void test_refuses(void **state)
{
	const uint32_t says[6] = {htobe32(2), htobe32(13), 0, 0, htobe32(11), 0};
	struct daemon daemon = {.says = says, .size = sizeof(says), .stays = 1};

	(void)state;
	expect(&daemon, STATUS_PROTOCOL, "refuses (creating the session): code 11");
}

static void test_nobody(void **state)
{
	struct producer_target target = {.host = "127.0.0.1"};
	struct producer_fault fault;
	struct producer *producer;

	(void)state;
	close(listen_on(&target.control_port));
	assert_int_equal(producer_connect(&producer, &target, 200, &fault), STATUS_IO);
	assert_null(producer);
	assert_non_null(strstr(fault.text, "lttng-relayd"));
}

static void test_parse(void **state)
{
	static const struct {
		const char *url, *host;
		uint16_t control, data; /* 0: is refused */
	} cases[] = {
			{"net://relay1", "relay1", 5342, 5343},
			{"net://127.0.0.1:1000", "127.0.0.1", 1000, 5343},
			{"net://127.0.0.1:1000:2000", "127.0.0.1", 1000, 2000},
			{"net6://[::1]", "::1", 5342, 5343},
			{"net6://[fe80::2]:1:2", "fe80::2", 1, 2},
			{"relay1", "", 0, 0},
			{"net://", "", 0, 0},
			{"net://relay1:70000", "", 0, 0},
			{"net://relay1/host/a/b", "", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct producer_target target;
		const char *wrong = producer_parse(&target, cases[i].url);

		assert_int_equal(wrong == NULL, cases[i].control != 0);
		if (!wrong) {
			assert_string_equal(target.host, cases[i].host);
			assert_int_equal(target.control_port, cases[i].control);
			assert_int_equal(target.data_port, cases[i].data);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_parse),
			cmocka_unit_test(test_nobody),
			cmocka_unit_test(test_too_old),
			cmocka_unit_test(test_silent),
			cmocka_unit_test(test_hangs_up),
			cmocka_unit_test(test_refuses),
			cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
