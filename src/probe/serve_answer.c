/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/serve_answer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "probe/serve.h"

#define WAIT_MS 2000 /* for an asker that does not read */

static void send_text(int fd, const char *text, bool waits)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN &&
			waits && poll(&ready, 1, WAIT_MS) > 0) {
		send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

void serve_answer_text(const char *text)
{
	send_text(SERVE_ASK, text, true);
}

void serve_answer(const char *tag, char mark, const char *format, ...)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "%s %c ", tag, mark);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, arguments);
	va_end(arguments);
	serve_answer_text(text);
}

void serve_say(void *context, const char *sentence)
{
	(void)context;
	send_text(SERVE_LEASE, sentence, false);
}
