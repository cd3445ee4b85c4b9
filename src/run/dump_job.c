/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/dump_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/temporary.h"

#define SAID_BYTES   512
#define REMOVE_TRIES 250 /* of 2 ms */

/* What the writing process tells, whole through the pipe (it is shorter than PIPE_BUF). */
struct news {
	uint64_t n;
	bool ended;
	char said[SAID_BYTES]; /* if it has ended */
};

static void send_news(int fd, const struct news *news)
{
	/* Nobody listens any more, or not fast enough: the next news tells more. */
	if (write(fd, news, sizeof(*news)) < 0) {
		return;
	}
}

static void tell_progress(void *context, uint64_t n)
{
	const struct news news = {.n = n};

	send_news(*(const int *)context, &news);
}

/* Handlers are the console's: they would write to its terminal. */
static void reset_signals(void)
{
	int number;

	for (number = 1; number < NSIG; number++) {
		signal(number, SIG_DFL); /* fails for those that cannot be caught */
	}
	signal(SIGPIPE, SIG_IGN);
}

static void write_all(dump_job_write *write, void *context, int fd)
{
	const struct dump_watch watch = {.progress = tell_progress, .context = &fd};
	struct news news = {.ended = true};

	write(context, &watch, news.said, sizeof(news.said));
	fcntl(fd, F_SETFL, 0); /* the last word is waited for */
	send_news(fd, &news);
}

bool dump_job_start(struct dump_job *job, dump_job_write *write, void *context, const char *path,
		char *said, size_t size)
{
	int fds[2];

	if (job->pid > 0) {
		snprintf(said, size, "Still writing %s: one dump or report at a time", job->path);
		return false;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
		snprintf(said, size, "Cannot write %s: %s", path, strerror(errno));
		return false;
	}
	job->pid = fork();
	if (job->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		reset_signals();
		write_all(write, context, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (job->pid < 0) {
		job->pid = 0;
		close(fds[0]);
		snprintf(said, size, "Cannot write %s: %s", path, strerror(errno));
		return false;
	}
	job->news_fd = fds[0];
	job->n = 0;
	snprintf(job->path, sizeof(job->path), "%s", path);
	temporary_name(job->temporary, sizeof(job->temporary), path, job->pid);
	snprintf(said, size, "Writing %s", path);
	return true;
}

static void finish(struct dump_job *job)
{
	waitpid(job->pid, NULL, 0);
	close(job->news_fd);
	job->pid = 0;
}

bool dump_job_poll(struct dump_job *job, char *said, size_t size)
{
	struct news news;
	bool fresh = false;
	ssize_t got;

	if (job->pid == 0) {
		return false;
	}
	while ((got = read(job->news_fd, &news, sizeof(news))) == (ssize_t)sizeof(news)) {
		if (news.ended) {
			snprintf(said, size, "%.*s", SAID_BYTES - 1, news.said);
			finish(job);
			return true;
		}
		fresh = true;
		job->n = news.n;
	}
	if (got == 0) {
		snprintf(said, size, "Cannot write %s: the writing process was ended", job->path);
		dump_job_stop(job);
		return true;
	}
	if (fresh) {
		snprintf(said, size, "Writing %s: %" PRIu64 " events so far", job->path, job->n);
	}
	return fresh;
}

void dump_job_stop(struct dump_job *job)
{
	int i;

	if (job->pid == 0) {
		return;
	}
	kill(job->pid, SIGKILL);
	finish(job);
	/* Its own writing process is killed with it, but may be a moment behind. */
	for (i = 0; i < REMOVE_TRIES && !temporary_remove(job->temporary); i++) {
		usleep(2000);
	}
}
