/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES (4u << 20) /* a point with very many fields */

void child_init(struct child *child)
{
	memset(child, 0, sizeof(*child));
	child->to = child->from = -1;
}

static void close_both(const int fds[2])
{
	if (fds[0] >= 0) {
		close(fds[0]);
		close(fds[1]);
	}
}

/* In the child. The guardian's signals stay blocked: ours to undo is what they are for. */
static int become_worker(
		const struct helper *helper, const int in[2], const int out[2], int close_fd)
{
	if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0) {
		return 1;
	}
	close_both(in);
	close_both(out);
	close(close_fd);
	return worker_run(helper);
}

bool child_start(struct child *child, const struct helper *helper, int close_fd)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	int failed;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
			!line_in_init(&child->in, ANSWER_BYTES)) {
		failed = errno;
		close_both(in);
		close_both(out);
		errno = failed;
		return false;
	}
	fflush(stdout);
	child->pid = fork();
	if (child->pid == 0) {
		_exit(become_worker(helper, in, out, close_fd));
	}
	failed = errno;
	close(in[0]);
	close(out[1]);
	child->to = in[1];
	child->from = out[0];
	line_out_init(&child->out, 2 * CONTROL_MAX_LINE);
	fcntl(child->to, F_SETFL, O_NONBLOCK);
	if (child->pid < 0) {
		child_kill(child, helper);
		errno = failed;
		return false;
	}
	return true;
}

void child_kill(struct child *child, const struct helper *helper)
{
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
		}
		helper_scratch_remove(helper, child->pid);
	}
	if (child->to >= 0) {
		close(child->to);
		close(child->from);
	}
	line_in_release(&child->in);
	line_out_release(&child->out);
	child_init(child);
}

void child_describe_end(const struct child *child, char *text, size_t size)
{
	siginfo_t info = {0};

	/* It is left to be waited for by child_kill(). */
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) == 0 &&
			info.si_code != CLD_EXITED) {
		snprintf(text, size, "the call ended: its process was killed by SIG%s",
				sigabbrev_np(info.si_status));
	} else {
		snprintf(text, size, "the call ended: its process ended with code %d",
				info.si_status);
	}
}
