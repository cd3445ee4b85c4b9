/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE (4u << 20) /* a tracepoint with very many fields */

extern char **environ;

struct control_client {
	pid_t pid;
	int in, out; /* its standard input and output, seen from here */
	json_int_t last_id;
	char *buffer;
	size_t used, scanned;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static int spawn(struct control_client *client, const char *path, const int in[2], const int out[2])
{
	char *arguments[] = {(char *)"pythiatop-control", NULL};
	posix_spawn_file_actions_t actions;
	int error;

	error = posix_spawn_file_actions_init(&actions);
	if (error) {
		return error;
	}
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	error = posix_spawn(&client->pid, path, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

struct control_client *control_open(const char *path, char *error, size_t size)
{
	struct control_client *client = calloc(1, sizeof(*client));
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	int failure = ENOMEM;

	if (client) {
		client->in = client->out = -1;
		client->buffer = malloc(MAX_LINE);
	}
	if (client && client->buffer) {
		failure = pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0
					  ? errno
					  : spawn(client, path, in, out);
		client->in = in[1];
		client->out = out[0];
		if (in[0] >= 0) {
			close(in[0]);
		}
		if (out[1] >= 0) {
			close(out[1]);
		}
	}
	if (failure) {
		snprintf(error, size, "cannot start %s: %s", path, strerror(failure));
		control_close(client);
		return NULL;
	}
	fcntl(client->out, F_SETFL, O_NONBLOCK);
	return client;
}

void control_close(struct control_client *client)
{
	if (!client) {
		return;
	}
	if (client->in >= 0) {
		close(client->in);
	}
	if (client->out >= 0) {
		close(client->out);
	}
	if (client->pid > 0) {
		/* It changes nothing on its host, so there is nothing that it had to finish. */
		kill(client->pid, SIGKILL);
		while (waitpid(client->pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	free(client->buffer);
	free(client);
}

/* The next line, as long as time remains; NULL with *status why not. */
static json_t *read_line(struct control_client *client, uint64_t deadline_ms, enum status *status)
{
	for (;;) {
		char *end = memchr(client->buffer + client->scanned, '\n',
				client->used - client->scanned);
		struct pollfd poll_out = {.fd = client->out, .events = POLLIN};
		uint64_t now = now_ms();
		ssize_t length;

		if (end) {
			size_t line = (size_t)(end - client->buffer);
			json_t *json = json_loadb(client->buffer, line, 0, NULL);

			client->used -= line + 1;
			memmove(client->buffer, end + 1, client->used);
			client->scanned = 0;
			*status = json_is_object(json) ? STATUS_OK : STATUS_PROTOCOL;
			if (*status != STATUS_OK) {
				json_decref(json);
				json = NULL;
			}
			return json;
		}
		client->scanned = client->used;
		if (client->used == MAX_LINE) {
			*status = STATUS_PROTOCOL;
			return NULL;
		}
		if (now >= deadline_ms) {
			*status = STATUS_TIMEOUT;
			return NULL;
		}
		poll(&poll_out, 1, (int)(deadline_ms - now));
		length = read(client->out, client->buffer + client->used, MAX_LINE - client->used);
		if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
			*status = STATUS_END;
			return NULL;
		}
		client->used += length > 0 ? (size_t)length : 0;
	}
}

static enum status send(struct control_client *client, const char *verb)
{
	char text[128];
	int length = snprintf(text, sizeof(text), "{\"id\":%lld,\"do\":\"%s\"}\n",
			(long long)++client->last_id, verb);
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	ssize_t written;

	/* A request is smaller than a pipe, so this never waits. */
	sigaction(SIGPIPE, &ignore, &before);
	written = write(client->in, text, (size_t)length);
	sigaction(SIGPIPE, &before, NULL);
	return written == length ? STATUS_OK : STATUS_END;
}

static enum status explain(enum status status, uint32_t timeout_ms, char *error, size_t size)
{
	switch (status) {
	case STATUS_TIMEOUT:
		snprintf(error, size,
				"no answer within %.1f s: the session daemon, or a traced process "
				"that "
				"it waits for, is stopped",
				timeout_ms / 1e3);
		break;
	case STATUS_PROTOCOL:
		snprintf(error, size,
				"pythiatop-control answered with what is not its protocol; is "
				"it of another version?");
		break;
	default:
		snprintf(error, size, "pythiatop-control ended without an answer");
		break;
	}
	return status;
}

enum status control_ask(struct control_client *client, const char *verb, uint32_t timeout_ms,
		void (*take)(void *context, const json_t *line), void *context, char *error,
		size_t size)
{
	uint64_t deadline = now_ms() + timeout_ms;
	enum status status = send(client, verb);

	while (status == STATUS_OK) {
		json_t *line = read_line(client, deadline, &status);
		const json_t *ok;

		if (!line) {
			break;
		}
		ok = json_object_get(line, "ok");
		if (json_is_true(ok)) {
			json_decref(line);
			return STATUS_OK;
		}
		if (json_is_false(ok)) {
			const char *what = json_string_value(json_object_get(line, "error"));
			const char *help = json_string_value(json_object_get(line, "help"));

			snprintf(error, size, "%s%s%s", what ? what : "failed",
					help && help[0] ? ": " : "", help ? help : "");
			json_decref(line);
			return STATUS_NOT_FOUND;
		}
		if (json_integer_value(json_object_get(line, "id")) != client->last_id) {
			json_decref(line);
			status = STATUS_PROTOCOL;
			break;
		}
		take(context, line);
		json_decref(line);
	}
	return explain(status, timeout_ms, error, size);
}
