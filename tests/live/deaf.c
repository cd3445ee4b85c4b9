/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accepts connections and never says a word: deaf FILE writes the port that it listens at to FILE.
 * Ends with its parent.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	FILE *file;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc != 2 || listener < 0 ||
			bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
			listen(listener, 16) != 0 ||
			getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		return 1;
	}
	file = fopen(argv[1], "w");
	if (!file) {
		return 1;
	}
	fprintf(file, "%u\n", (unsigned int)ntohs(address.sin_port));
	fclose(file);
	for (;;) {
		if (accept(listener, NULL, NULL) < 0) {
			return 1;
		}
	}
}
