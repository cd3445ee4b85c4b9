/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random calls of random processes, and a naive model that keeps everything for ever: it answers
 * what was behind which fd, at any instant of the window, like the state that forgets; also while a
 * pin holds a window that is long past.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_feed.h"

#define MS        UINT64_C(1000000)
#define WINDOW    (1000 * MS)
#define PROCESSES 5
#define NUMBERS   24
#define THREAD    1000 /* tid of a process' second thread: its pid and this */
#define STEPS     6000
#define SEEDS     12

/* --- the model ------------------------------------------------------------------------------- */

struct op {
	uint64_t at_ns, bytes;
	bool write;
};

/* One fd, from its making to its end. */
struct life {
	int32_t pid, number;
	char path[32];
	enum fd_kind kind;
	enum fd_confidence confidence;
	uint64_t known_ns, closed_ns; /* 0: open */
	int close_on_exec;            /* -1: nobody knows */
	uint32_t order, n, room;
	struct op *ops;
};

struct process {
	bool alive, has_thread;
	int32_t pid;
	struct life *open[NUMBERS];
};

struct model {
	struct kernel_feed kernel;
	struct process processes[PROCESSES];
	struct life **lives;
	uint32_t n_lives, room;
	uint64_t now_ns;
	int64_t running;
	uint64_t random;
	uint32_t n_paths;
};

static uint32_t pick(struct model *model, uint32_t n)
{
	model->random = model->random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
	return (uint32_t)(model->random >> 33) % n;
}

static struct life *add_life(
		struct model *model, struct process *process, int32_t number, const char *path)
{
	struct life *life = calloc(1, sizeof(*life));

	assert_non_null(life);
	if (process->open[number]) {
		process->open[number]->closed_ns = model->now_ns;
	}
	life->pid = process->pid;
	life->number = number;
	snprintf(life->path, sizeof(life->path), "%s", path);
	life->known_ns = model->now_ns;
	life->order = model->n_lives;
	if (model->n_lives == model->room) {
		model->room = model->room ? model->room * 2 : 256;
		model->lives = realloc(model->lives, model->room * sizeof(*model->lives));
		assert_non_null(model->lives);
	}
	model->lives[model->n_lives++] = life;
	process->open[number] = life;
	return life;
}

/* A call has used the fd with success: it is there. */
static struct life *used(struct model *model, struct process *process, int32_t number)
{
	struct life *life = process->open[number];

	if (!life) {
		life = add_life(model, process, number, "");
		life->confidence = FD_GUESSED;
		life->close_on_exec = -1;
	}
	return life;
}

static void end_life(struct model *model, struct process *process, int32_t number)
{
	if (process->open[number]) {
		process->open[number]->closed_ns = model->now_ns;
		process->open[number] = NULL;
	}
}

static void add_op(struct model *model, struct life *life, bool write, uint64_t bytes)
{
	if (life->n == life->room) {
		life->room = life->room ? life->room * 2 : 4;
		life->ops = realloc(life->ops, life->room * sizeof(*life->ops));
		assert_non_null(life->ops);
	}
	life->ops[life->n++] = (struct op){.at_ns = model->now_ns, .bytes = bytes, .write = write};
}

/* --- events ---------------------------------------------------------------------------------- */

static void pass(struct model *model)
{
	static const uint64_t steps[] = {1, 1000, MS / 10, 3 * MS, 40 * MS};

	model->now_ns += 1 + pick(model, (uint32_t)steps[pick(model, 5)]);
}

static void tell(struct model *model, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

static void tell(struct model *model, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pass(model);
	kernel_event(&model->kernel, model->now_ns, 0, text);
}

static void run_thread(struct model *model, int64_t tid)
{
	if (model->running != tid) {
		pass(model);
		kernel_run(&model->kernel, model->now_ns, 0, model->running, tid);
		model->running = tid;
	}
}

static void open_file(struct model *model, struct process *process)
{
	int32_t number = (int32_t)pick(model, NUMBERS);
	bool close_on_exec = pick(model, 2);
	struct life *life;
	char path[32];

	snprintf(path, sizeof(path), "/file%u", model->n_paths++);
	tell(model, "syscall_entry_openat dfd:i=-100 filename:s=%s flags:i=%d mode:u=0", path,
			close_on_exec ? 02000000 : 0);
	if (pick(model, 10) == 0) {
		tell(model, "syscall_exit_openat ret:i=-2");
		return;
	}
	tell(model, "syscall_exit_openat ret:i=%d", number);
	life = add_life(model, process, number, path);
	life->kind = FD_FILE;
	life->close_on_exec = close_on_exec;
}

static void make_pipe(struct model *model, struct process *process)
{
	int32_t first = (int32_t)pick(model, NUMBERS - 1), i;

	tell(model, "syscall_entry_pipe2 flags:i=0");
	tell(model, "syscall_exit_pipe2 ret:i=0 fildes:a=%d,%d", first, first + 1);
	for (i = 0; i < 2; i++) {
		add_life(model, process, first + i, "")->kind = FD_PIPE;
	}
}

static void duplicate(struct model *model, struct process *process)
{
	int32_t from = (int32_t)pick(model, NUMBERS), to = (int32_t)pick(model, NUMBERS);
	struct life *old, *life;

	tell(model, "syscall_entry_dup2 oldfd:u=%d newfd:u=%d", from, to);
	tell(model, "syscall_exit_dup2 ret:i=%d", to);
	if (from == to) {
		return;
	}
	old = used(model, process, from);
	life = add_life(model, process, to, old->path);
	life->kind = old->kind;
}

static void close_one(struct model *model, struct process *process)
{
	int32_t number = (int32_t)pick(model, NUMBERS);
	bool failed = pick(model, 8) == 0;

	tell(model, "syscall_entry_close fd:u=%d", number);
	tell(model, "syscall_exit_close ret:i=%d", failed ? -9 : 0);
	if (!failed) {
		end_life(model, process, number);
	}
}

static void close_many(struct model *model, struct process *process)
{
	int32_t first = (int32_t)pick(model, NUMBERS), number;

	tell(model, "syscall_entry_close_range fd:u=%d max_fd:u=%d flags:u=0", first, first + 5);
	tell(model, "syscall_exit_close_range ret:i=0");
	for (number = first; number <= first + 5 && number < NUMBERS; number++) {
		end_life(model, process, number);
	}
}

static void transfer(struct model *model, struct process *process)
{
	int32_t number = (int32_t)pick(model, NUMBERS);
	bool write = pick(model, 2);
	const char *name = write ? "write" : "read";
	int64_t bytes = (int64_t)pick(model, 5000) - 500;

	tell(model, "syscall_entry_%s fd:u=%d count:u=5000", name, number);
	tell(model, "syscall_exit_%s ret:i=%ld", name, (long)bytes);
	if (bytes >= 0) {
		add_op(model, used(model, process, number), write, (uint64_t)bytes);
	}
}

static void copy_bytes(struct model *model, struct process *process)
{
	int32_t from = (int32_t)pick(model, NUMBERS), to = (int32_t)pick(model, NUMBERS);
	uint64_t bytes = pick(model, 70000);

	tell(model, "syscall_entry_sendfile64 out_fd:i=%d in_fd:i=%d offset:u=0 count:u=1", to,
			from);
	tell(model, "syscall_exit_sendfile64 ret:i=%lu", (unsigned long)bytes);
	add_op(model, used(model, process, from), false, bytes);
	add_op(model, used(model, process, to), true, bytes);
}

static void list(struct model *model, struct process *process)
{
	int32_t number = (int32_t)pick(model, NUMBERS);
	bool close_on_exec = pick(model, 2);
	struct life *life = process->open[number];
	char path[32];

	snprintf(path, sizeof(path), "/listed%u", model->n_paths++);
	tell(model,
			"lttng_statedump_file_descriptor pid:i=%d fd:i=%d flags:u=%d fmode:u=0 "
			"filename:s=%s",
			process->pid, number, close_on_exec ? 02000000 : 0, path);
	if (!life) {
		life = add_life(model, process, number, "");
		life->confidence = FD_GUESSED;
		life->close_on_exec = -1;
	}
	if (life->path[0] == '\0') {
		snprintf(life->path, sizeof(life->path), "%s", path);
		if (life->kind == FD_UNKNOWN) {
			life->kind = FD_FILE;
		}
	}
	if (life->confidence == FD_GUESSED) {
		life->confidence = FD_STATEDUMP;
		life->close_on_exec = close_on_exec;
	}
}

static void exec(struct model *model, struct process *process)
{
	int32_t number;

	if (process->has_thread) {
		return;
	}
	tell(model, "sched_process_exec filename:s=/bin/x tid:i=%d old_tid:i=%d", process->pid,
			process->pid);
	for (number = 0; number < NUMBERS; number++) {
		if (process->open[number] && process->open[number]->close_on_exec == 1) {
			end_life(model, process, number);
		}
	}
}

static void start_thread(struct model *model, struct process *process)
{
	if (!process->has_thread) {
		tell(model,
				"sched_process_fork parent_comm:s=p parent_tid:i=%d "
				"parent_pid:i=%d "
				"child_comm:s=t child_tid:i=%d child_pid:i=%d",
				process->pid, process->pid, process->pid + THREAD, process->pid);
		process->has_thread = true;
	}
}

static void fork_process(struct model *model, struct process *process)
{
	struct process *child = &model->processes[pick(model, PROCESSES)];
	int32_t number;

	if (child->alive) {
		return;
	}
	run_thread(model, process->pid);
	tell(model,
			"sched_process_fork parent_comm:s=p parent_tid:i=%d parent_pid:i=%d "
			"child_comm:s=p child_tid:i=%d child_pid:i=%d",
			process->pid, process->pid, child->pid, child->pid);
	child->alive = true;
	for (number = 0; number < NUMBERS; number++) {
		const struct life *old = process->open[number];

		if (old) {
			struct life *life = add_life(model, child, number, old->path);

			life->kind = old->kind;
			life->confidence = old->confidence;
			life->close_on_exec = old->close_on_exec;
		}
	}
}

static void free_thread(struct model *model, int32_t tid)
{
	if (model->running == tid) {
		run_thread(model, 0);
	}
	tell(model, "sched_process_exit comm:s=p tid:i=%d prio:i=20", tid);
	tell(model, "sched_process_free comm:s=p tid:i=%d prio:i=20", tid);
}

static void end_process(struct model *model, struct process *process)
{
	int32_t number;

	if (process->has_thread) {
		free_thread(model, process->pid + THREAD);
		process->has_thread = false;
	}
	if (process == model->processes || pick(model, 3) > 0) {
		return; /* the first one stays, to fork others */
	}
	free_thread(model, process->pid);
	process->alive = false;
	for (number = 0; number < NUMBERS; number++) {
		end_life(model, process, number);
	}
}

static void step(struct model *model)
{
	static void (*const calls[])(struct model *, struct process *) = {open_file, open_file,
			open_file, make_pipe, duplicate, close_one, close_one, close_many, transfer,
			transfer, transfer, transfer, transfer, copy_bytes};
	static void (*const others[])(struct model *, struct process *) = {
			list, exec, start_thread, fork_process, fork_process, end_process};
	struct process *process = &model->processes[pick(model, PROCESSES)];

	if (!process->alive) {
		process = model->processes;
	}
	run_thread(model, process->has_thread && pick(model, 2) ? process->pid + THREAD
								: process->pid);
	if (pick(model, 8) > 0) {
		calls[pick(model, sizeof(calls) / sizeof(*calls))](model, process);
	} else {
		run_thread(model, process->pid);
		others[pick(model, sizeof(others) / sizeof(*others))](model, process);
	}
}

/* --- comparing ------------------------------------------------------------------------------- */

static int compare_lives(const void *a, const void *b)
{
	const struct life *x = *(struct life *const *)a, *y = *(struct life *const *)b;

	if (x->pid != y->pid) {
		return x->pid - y->pid;
	}
	if (x->number != y->number) {
		return x->number - y->number;
	}
	return x->order < y->order ? -1 : 1;
}

static int compare_fds(const void *a, const void *b)
{
	const struct state_fd *x = a, *y = b;

	if (x->pid != y->pid) {
		return x->pid < y->pid ? -1 : 1;
	}
	if (x->fd != y->fd) {
		return x->fd - y->fd;
	}
	return x->id < y->id ? -1 : 1;
}

static void compare_fd(const struct life *life, const struct state_fd *fd, uint64_t from_ns,
		uint64_t at_ns)
{
	uint64_t totals[2] = {0, 0}, counts[2] = {0, 0}, window[2] = {0, 0};
	uint32_t i;

	assert_int_equal(life->pid, fd->pid);
	assert_int_equal(life->number, fd->fd);
	assert_string_equal(life->path, fd->path);
	assert_int_equal(life->kind, fd->kind);
	assert_int_equal(life->confidence, fd->confidence);
	assert_int_equal(!life->closed_ns || life->closed_ns > at_ns, fd->open);
	for (i = 0; i < life->n && life->ops[i].at_ns <= at_ns; i++) {
		const struct op *op = &life->ops[i];

		totals[op->write] += op->bytes;
		counts[op->write]++;
		window[op->write] += op->at_ns > from_ns ? op->bytes : 0;
	}
	assert_int_equal(totals[0], fd->read_bytes);
	assert_int_equal(totals[1], fd->write_bytes);
	assert_int_equal(counts[0], fd->reads);
	assert_int_equal(counts[1], fd->writes);
	assert_int_equal(window[0], fd->window_read_bytes);
	assert_int_equal(window[1], fd->window_write_bytes);
}

static uint32_t compare(struct model *model, const struct focus *focus, uint64_t at_ns)
{
	struct snapshot *snapshot = snapshot_create();
	uint64_t from_ns = at_ns - WINDOW;
	struct life **lives = malloc((model->n_lives + 1) * sizeof(*lives));
	struct state_fd *fds;
	uint32_t i, n = 0;

	assert_non_null(snapshot);
	assert_non_null(lives);
	assert_int_equal(engine_fill(model->kernel.engine, focus, snapshot), STATUS_OK);
	assert_int_equal(snapshot->state.at_ns, at_ns);
	for (i = 0; i < model->n_lives; i++) {
		struct life *life = model->lives[i];

		if (life->known_ns <= at_ns && (!life->closed_ns || life->closed_ns > from_ns)) {
			lives[n++] = life;
		}
	}
	assert_int_equal(n, snapshot->state.n_fds);
	fds = calloc(n + 1, sizeof(*fds));
	assert_non_null(fds);
	if (n > 0) {
		memcpy(fds, snapshot->state.fds, n * sizeof(*fds));
		qsort(lives, n, sizeof(*lives), compare_lives);
		qsort(fds, n, sizeof(*fds), compare_fds);
	}
	for (i = 0; i < n; i++) {
		compare_fd(lives[i], &fds[i], from_ns, at_ns);
	}
	free(fds);
	free(lives);
	snapshot_destroy(snapshot);
	return n;
}

/* What was listed late is told of the past as well: such lives are compared as they are now. */
static uint32_t compare_somewhen(struct model *model)
{
	uint64_t at_ns = model->now_ns - pick(model, (uint32_t)WINDOW);
	struct focus focus = {.parts = FOCUS_STATE, .state_at_ns = at_ns};

	return compare(model, &focus, at_ns);
}

/* --- the test -------------------------------------------------------------------------------- */

static void begin(struct model *model, uint64_t seed)
{
	uint32_t i;

	memset(model, 0, sizeof(*model));
	model->random = seed;
	model->now_ns = UINT64_C(1700000000) * 1000 * MS;
	kernel_start(&model->kernel, &(struct engine_config){.window_ns = WINDOW});
	for (i = 0; i < PROCESSES; i++) {
		model->processes[i].pid = 100 + (int32_t)i;
	}
	model->processes[0].alive = true;
	run_thread(model, 100);
	tell(model, "lttng_statedump_process_state tid:i=100 pid:i=100 ppid:i=1 name:s=p");
}

static void finish(struct model *model)
{
	uint32_t i;

	kernel_stop(&model->kernel);
	for (i = 0; i < model->n_lives; i++) {
		free(model->lives[i]->ops);
		free(model->lives[i]);
	}
	free(model->lives);
}

static void window_answers_like_all(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		struct model model;
		uint32_t i, n = 0;

		begin(&model, seed);
		for (i = 0; i < STEPS; i++) {
			step(&model);
			if (i > 500 && i % 40 == 0) {
				n += compare_somewhen(&model);
			}
		}
		assert_true(model.n_lives > 2000);
		assert_true(n > 5000);
		finish(&model);
	}
}

/* A pinned window stays as it was, for several windows of what comes after. */
static void pin_answers_like_all(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 100; seed < 100 + SEEDS; seed++) {
		struct focus focus = {.parts = FOCUS_STATE};
		struct snapshot *snapshot = snapshot_create();
		struct model model;
		uint64_t pinned_ns;
		uint32_t i;

		assert_non_null(snapshot);
		begin(&model, seed);
		for (i = 0; i < STEPS / 4; i++) {
			step(&model);
		}
		pinned_ns = model.now_ns;
		focus.frozen = true;
		assert_int_equal(engine_fill(model.kernel.engine, &focus, snapshot), STATUS_OK);
		for (i = 0; i < STEPS / 2; i++) {
			step(&model);
			if (i % 100 == 0) {
				focus.back_ns = pick(&model, (uint32_t)WINDOW);
				compare(&model, &focus, pinned_ns - focus.back_ns);
			}
		}
		assert_true(model.now_ns > pinned_ns + 4 * WINDOW);
		focus = (struct focus){.parts = FOCUS_STATE};
		compare(&model, &focus, model.now_ns);
		for (i = 0; i < STEPS / 4; i++) {
			step(&model);
		}
		compare_somewhen(&model);
		snapshot_destroy(snapshot);
		finish(&model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(window_answers_like_all),
			cmocka_unit_test(pin_answers_like_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
