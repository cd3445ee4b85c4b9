/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network that delays or loses packets while it is told to: a command runs in a network namespace
 * of its own, which one link joins to this one, as a host that is reached over a bad line.
 *
 *   slownet ORDER NUMBER COMMAND [ARGUMENT...]
 *
 * This side of the link has the address 10.99.NUMBER.1, the command's 10.99.NUMBER.2.
 * ORDER is a file that is read for each packet: "delay MIN-MS MAX-MS SHARE", such as "delay 5 20
 * 0.1": one packet of ten arrives 5 to 20 ms later, and what is sent behind it not before; "loss 0
 * 0 0.02": one of fifty never arrives. Nothing in it: nothing is wrong. It ends with the command,
 * and as that. Needs root.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 1024 /* packets under way, of each direction; what comes then is lost, as on any line */
#define PACKET 2048 /* bytes; the link carries 1,500 */

struct packet {
	int64_t due_ns;
	size_t size;
	char bytes[PACKET];
};

/* One direction: a ring of packets, in order. */
struct line {
	int from, to;
	unsigned first, n;
	int64_t last_ns;
	struct packet packets[QUEUE];
};

static struct line lines[2];
static const char *order_path;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void set_address(int control, struct ifreq *device, unsigned long what, const char *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&device->ifr_addr;

	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	if (inet_pton(AF_INET, address, &in->sin_addr) != 1 || ioctl(control, what, device) != 0) {
		fail(address);
	}
}

static void start(int control, struct ifreq *device)
{
	device->ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(control, SIOCSIFFLAGS, device) != 0) {
		fail(device->ifr_name);
	}
}

/* An end of the link, in the network namespace of this process. */
static int end_of_link(int number, int own, int other)
{
	struct ifreq device = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char address[sizeof("10.99.255.255")];

	snprintf(device.ifr_name, sizeof(device.ifr_name), "slownet%d", number);
	if (fd < 0 || control < 0 || ioctl(fd, TUNSETIFF, &device) != 0) {
		fail("/dev/net/tun");
	}
	snprintf(address, sizeof(address), "10.99.%d.%d", number, own);
	set_address(control, &device, SIOCSIFADDR, address);
	snprintf(address, sizeof(address), "10.99.%d.%d", number, other);
	set_address(control, &device, SIOCSIFDSTADDR, address);
	start(control, &device);
	close(control);
	return fd;
}

static void start_loopback(void)
{
	struct ifreq device = {.ifr_name = "lo"};
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	start(control, &device);
	close(control);
}

/* Passes a descriptor to the other process, or takes it. */
static int pass(int channel, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
			.msg_iovlen = 1,
			.msg_control = room,
			.msg_controllen = sizeof(room)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (fd >= 0) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
		return (int)sendmsg(channel, &message, 0);
	}
	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || !(header = CMSG_FIRSTHDR(&message))) {
		exit(1); /* the other process said why */
	}
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static void take_in(struct line *line)
{
	char name[16] = "";
	double low = 0, high = 0, share = 0;
	struct packet *packet = &line->packets[(line->first + line->n) % QUEUE];
	char lost[PACKET];
	ssize_t size = read(line->from, line->n < QUEUE ? packet->bytes : lost, PACKET);
	FILE *file = fopen(order_path, "re");
	int n = 0;

	if (file) {
		n = fscanf(file, "%15s %lf %lf %lf", name, &low, &high, &share);
		fclose(file);
	}
	if (size <= 0 || line->n == QUEUE) {
		return;
	}
	packet->size = (size_t)size;
	packet->due_ns = now_ns();
	if (n == 4 && drand48() < share) {
		if (strcmp(name, "loss") == 0) {
			return;
		}
		packet->due_ns += (int64_t)((low + drand48() * (high - low)) * 1e6);
	}
	if (packet->due_ns < line->last_ns) {
		packet->due_ns = line->last_ns;
	}
	line->last_ns = packet->due_ns;
	line->n++;
}

/* Delivers what is due. When the next one is, in nanoseconds from now; -1 without one. */
static int64_t deliver(struct line *line)
{
	while (line->n) {
		struct packet *packet = &line->packets[line->first];
		int64_t wait_ns = packet->due_ns - now_ns();

		if (wait_ns > 0) {
			return wait_ns;
		}
		if (write(line->to, packet->bytes, packet->size) < 0) {
			perror("slownet: write");
		}
		line->first = (line->first + 1) % QUEUE;
		line->n--;
	}
	return -1;
}

static void forward(void)
{
	for (;;) {
		struct pollfd fds[2] = {{lines[0].from, POLLIN, 0}, {lines[1].from, POLLIN, 0}};
		struct timespec wait, *timeout = NULL;

		for (int i = 0; i < 2; i++) {
			int64_t ns = deliver(&lines[i]);

			if (ns >= 0 && (!timeout || ns < wait.tv_sec * 1000000000LL + wait.tv_nsec)) {
				wait = (struct timespec){ns / 1000000000LL, ns % 1000000000LL};
				timeout = &wait;
			}
		}
		if (ppoll(fds, 2, timeout, NULL) < 0) {
			fail("poll");
		}
		for (int i = 0; i < 2; i++) {
			if (fds[i].revents & POLLIN) {
				take_in(&lines[i]);
			}
		}
	}
}

static void ended(int signal)
{
	int status = 0;

	(void)signal;
	_exit(wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	int number, channel[2], here, there;

	if (argc < 4 || (number = atoi(argv[2])) < 1 || number > 255) {
		fprintf(stderr, "usage: slownet ORDER NUMBER COMMAND [ARGUMENT...]\n");
		return 2;
	}
	order_path = argv[1];
	srand48((long)time(NULL));
	signal(SIGCHLD, ended);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
		fail("socketpair");
	}
	switch (fork()) {
	case -1:
		fail("fork");
		break;
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (unshare(CLONE_NEWNET) != 0) {
			fail("a network namespace");
		}
		start_loopback();
		there = end_of_link(number, 2, 1);
		if (pass(channel[1], there) != 1) {
			fail("sendmsg");
		}
		execvp(argv[3], argv + 3);
		fail(argv[3]);
	}
	close(channel[1]);
	here = end_of_link(number, 1, 2);
	there = pass(channel[0], -1);
	lines[0].from = lines[1].to = here;
	lines[0].to = lines[1].from = there;
	forward();
}
