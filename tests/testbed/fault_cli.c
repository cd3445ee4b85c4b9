/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pt-fault: tells all services of a running testbed what should go wrong. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fault.h"
#include "wire.h"

static int usage(FILE *out)
{
	fprintf(out, "usage: pt-fault --dir RUN FAULT [KEY=VALUE...]\n"
		     "       pt-fault --check FAULT [KEY=VALUE...]   only says whether it is one\n"
		     "       pt-fault --list      names all points\n"
		     "Faults add up until \"none\"; several in one command have \"+\" between "
		     "them:\n");
	fault_print_usage(out);
	return out == stdout ? 0 : 2;
}

/* 0, or -1 after a message. */
static int tell(const char *dir, const char *name, const char *command)
{
	int fd = wire_connect(dir, name, WIRE_CONTROL);
	char reply[300];
	ssize_t got;

	if (fd < 0) {
		fprintf(stderr, "pt-fault: cannot reach %s: %s\n", name, strerror(errno));
		return -1;
	}
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0 ||
			(got = recv(fd, reply, sizeof(reply) - 1, 0)) <= 0) {
		fprintf(stderr, "pt-fault: no answer of %s\n", name);
		close(fd);
		return -1;
	}
	close(fd);
	reply[got] = '\0';
	if (strcmp(reply, "ok\n") != 0) {
		fprintf(stderr, "pt-fault: %s: %s", name, reply);
		return -1;
	}
	return 0;
}

static int tell_all(const char *dir, const char *command)
{
	DIR *listing = opendir(dir);
	int told = 0, failed = 0;

	if (listing == NULL) {
		fprintf(stderr, "pt-fault: cannot open the run directory %s: %s\n", dir,
				strerror(errno));
		return 1;
	}
	for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		char name[64];
		size_t len = strlen(entry->d_name);

		if (len > 5 && len < sizeof(name) &&
				strcmp(entry->d_name + len - 5, ".port") == 0) {
			memcpy(name, entry->d_name, len - 5);
			name[len - 5] = '\0';
			failed += tell(dir, name, command) != 0;
			told++;
		}
	}
	closedir(listing);
	if (told == 0) {
		fprintf(stderr, "pt-fault: no testbed runs in %s\n", dir);
	}
	return told == 0 || failed > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	char command[FAULT_COMMAND_BYTES] = "", error[256];
	size_t used = 0;
	int first = 3; /* word of the command */

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		fault_print_points(stdout);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		return usage(stdout);
	}
	if (argc >= 3 && strcmp(argv[1], "--check") == 0) {
		first = 2;
	} else if (argc < 4 || strcmp(argv[1], "--dir") != 0) {
		return usage(stderr);
	}
	for (int i = first; i < argc; i++) {
		int n = snprintf(command + used, sizeof(command) - used, "%s ", argv[i]);

		used += (size_t)n;
		if (used >= sizeof(command)) {
			fprintf(stderr, "pt-fault: command too long\n");
			return 2;
		}
	}
	if (fault_apply(command, true, error, sizeof(error)) != 0) {
		fprintf(stderr, "pt-fault: %s\n", error);
		return usage(stderr);
	}
	return first == 2 ? 0 : tell_all(argv[2], command);
}
