/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program to be recorded by pythiatop-probe, that says what is to be found of it.
 *
 * usage: pt-probed calls DIRECTORY   system calls under a name with escape sequences; writes a line
 *                                    "EVENT|PAYLOAD" for each event, as babeltrace2 shows it
 *        pt-probed burn SECONDS      works and rests; writes "TID CPU_NS" as the kernel counts it
 *        pt-probed flood SECONDS N   N system calls a second; writes "PID CALLS"
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "\033[31mred\\" /* of the thread; at most 15 bytes */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void open_files(const char *directory)
{
	char path[4096], other[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/one\033[31m", directory);
	snprintf(other, sizeof(other), "%s/two", directory);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
	if (fd < 0 || write(fd, "abc", 3) != 3) {
		fail("open");
	}
	/* babeltrace2 shows the escape character so. */
	printf("syscall_entry_openat|{ dfd = -100, filename = \"%s/one\\e[31m\", flags = %d, "
	       "mode = 416 }\n",
			directory, O_CREAT | O_WRONLY | O_CLOEXEC);
	printf("syscall_exit_openat|{ ret = %d }\n", fd);
	printf("syscall_exit_write|{ ret = 3 }\n");
	if (rename(path, other) != 0) {
		fail("rename");
	}
	printf("syscall_entry_rename|{ oldname = \"%s/one\\e[31m\", newname = \"%s\" }\n",
			directory, other);
	/* A path that cannot be read. */
	if (syscall(SYS_openat, AT_FDCWD, (void *)8, O_RDONLY, 0) != -1 || errno != EFAULT) {
		fail("openat");
	}
	printf("syscall_exit_openat|{ ret = -14 }\n");
	close(fd);
	printf("syscall_entry_close|{ fd = %d }\n", fd);
}

static void make_pairs(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		fail("pipe2");
	}
	printf("syscall_exit_pipe2|{ ret = 0, fildes = [ [0] = %d, [1] = %d ] }\n", ends[0],
			ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
		fail("socketpair");
	}
	printf("syscall_exit_socketpair|{ ret = 0, socket = [ [0] = %d, [1] = %d ] }\n", ends[0],
			ends[1]);
}

static void connect_v4(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in peer;
	socklen_t size = sizeof(at), peer_size = sizeof(peer);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int taken;

	if (bind(server, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(server, 1) != 0 ||
			getsockname(server, (struct sockaddr *)&at, &size) != 0 ||
			connect(client, (struct sockaddr *)&at, sizeof(at)) != 0) {
		fail("connect");
	}
	printf("syscall_entry_connect|{ fd = %d, uservaddr = 0x%lX, addrlen = 0x10, family = 2, "
	       "dport = %u, _v4addr_length = 4, v4addr = [ [0] = 127, [1] = 0, [2] = 0, [3] = 1 ], "
	       "_v6addr_length = 0, v6addr = [ ] }\n",
			client, (unsigned long)(uintptr_t)&at, ntohs(at.sin_port));
	taken = accept4(server, (struct sockaddr *)&peer, &peer_size, 0);
	if (taken < 0) {
		fail("accept4");
	}
	printf("syscall_exit_accept4|{ ret = %d, family = 2, sport = %u, _v4addr_length = 4, "
	       "v4addr = [ [0] = 127, [1] = 0, [2] = 0, [3] = 1 ], _v6addr_length = 0, v6addr = [ "
	       "] "
	       "}\n",
			taken, ntohs(peer.sin_port));
	if (send(client, "hello", 5, 0) != 5) {
		fail("send");
	}
	printf("syscall_exit_sendto|{ ret = 5 }\n");
}

static void connect_v6(void)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	at.sin6_addr = in6addr_loopback;
	if (fd < 0 || (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)) {
		return; /* no IPv6 here */
	}
	printf("syscall_entry_connect|{ fd = %d, uservaddr = 0x%lX, addrlen = 0x1C, family = 10, "
	       "dport = 9, _v4addr_length = 0, v4addr = [ ], _v6addr_length = 8, v6addr = [ "
	       "[0] = 0, [1] = 0, [2] = 0, [3] = 0, [4] = 0, [5] = 0, [6] = 0, "
	       "[7] = 1 ] }\n",
			fd, (unsigned long)(uintptr_t)&at);
}

static void run_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child) {
		fail("fork");
	}
	printf("sched_process_exec|{ filename = \"/bin/true\", tid = %d, old_tid = %d }\n", child,
			child);
}

static int make_calls(const char *directory)
{
	if (prctl(PR_SET_NAME, NAME) != 0) {
		fail("prctl");
	}
	open_files(directory);
	make_pairs();
	connect_v4();
	connect_v6();
	run_child();
	/* One that no kernel has. */
	syscall(511, 1, 2, 3, 4, 5, 6);
	printf("syscall_entry_unknown|{ id = 511, args = [ [0] = 1, [1] = 2, [2] = 3, [3] = 4, "
	       "[4] = 5, [5] = 6 ] }\n");
	printf("syscall_exit_unknown|{ id = 511, ret = -38, args = [ [0] = 1, [1] = 2, [2] = 3, "
	       "[3] = 4, [4] = 5, [5] = 6 ] }\n");
	return 0;
}

/* --- burn, flood ------------------------------------------------------------------------------ */

/* Works for 20 ms, and rests for 2; what it worked is what CLOCK_THREAD_CPUTIME_ID says. */
static int burn(double seconds)
{
	uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	while (now_ns(CLOCK_MONOTONIC) < until_ns) {
		uint64_t rest_ns = now_ns(CLOCK_MONOTONIC) + 20000000;

		while (now_ns(CLOCK_MONOTONIC) < rest_ns) {
		}
		usleep(2000);
	}
	printf("%d %llu\n", getpid(), (unsigned long long)now_ns(CLOCK_THREAD_CPUTIME_ID));
	return 0;
}

static int flood(double seconds, double per_s)
{
	uint64_t began_ns = now_ns(CLOCK_MONOTONIC), passed_ns, n = 0;

	while ((passed_ns = now_ns(CLOCK_MONOTONIC) - began_ns) < (uint64_t)(seconds * 1e9)) {
		while ((double)n < (double)passed_ns / 1e9 * per_s) {
			syscall(SYS_getppid);
			n++;
		}
		usleep(1000);
	}
	printf("%d %llu\n", getpid(), (unsigned long long)n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "calls") == 0) {
		return make_calls(argv[2]);
	}
	if (argc == 3 && strcmp(argv[1], "burn") == 0) {
		return burn(strtod(argv[2], NULL));
	}
	if (argc == 4 && strcmp(argv[1], "flood") == 0) {
		return flood(strtod(argv[2], NULL), strtod(argv[3], NULL));
	}
	fprintf(stderr, "usage: pt-probed calls DIRECTORY | burn SECONDS | flood SECONDS N\n");
	return 2;
}
