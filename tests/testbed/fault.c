/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "injection.h"
#include "hog.h"
#include "process.h"
#include "work.h"

#define NO_LIMIT 1000
#define MAX_KEYS 5

static const struct {
	const char *name, *kind;
} points[POINT_COUNT] = {
#define PT_TABLE_ALL
#define PT_PAIR(provider, name, kind)  {#provider ":" #name, #kind},
#define PT_POINT(provider, name, kind) {#provider ":" #name, NULL},
#include "points.def"
#undef PT_PAIR
#undef PT_POINT
#undef PT_TABLE_ALL
};

static const char *const services[] = {
#define PT_SERVICE(program, name) name,
#include "services.def"
#undef PT_SERVICE
};
#define N_SERVICES (sizeof(services) / sizeof(services[0]))

static atomic_uint build_limit = NO_LIMIT, lost_answers;

const atomic_uint *fault_build_limit(void)
{
	return &build_limit;
}

const atomic_uint *fault_lost_answers(void)
{
	return &lost_answers;
}

/* A command being read: values of its keys, in the order of the table, NULL where not given. */
struct command {
	bool dry;
	const char *values[MAX_KEYS];
	char *error;
	size_t error_size;
};

static int fail(const struct command *command, const char *what, const char *value)
{
	snprintf(command->error, command->error_size, "%s: %s", what, value);
	return -1;
}

/* The readers of values: the default where none is given; 0, or -1 with the error written. */

static int read_point(const struct command *command, size_t key, const char *otherwise,
		enum point_id *point)
{
	const char *name = command->values[key] ? command->values[key] : otherwise;
	size_t i = 0;

	while (i < POINT_COUNT && strcmp(points[i].name, name) != 0) {
		i++;
	}
	*point = (enum point_id)i;
	return i < POINT_COUNT ? 0
			       : fail(command, "no such point (pt-fault --list names them)", name);
}

static int read_dist(
		const struct command *command, size_t key, const char *otherwise, struct dist *dist)
{
	const char *text = command->values[key] ? command->values[key] : otherwise;

	return dist_read(text, dist)
			       ? 0
			       : fail(command,
						 "dist must be const:T, uniform:T,T, exp:T or "
						 "lognormal:T,SIGMA with times such as 20ms, at "
						 "most 60s",
						 text);
}

static int read_time(const struct command *command, size_t key, const char *otherwise, double *ns)
{
	const char *text = command->values[key] ? command->values[key] : otherwise, *end = text;

	*ns = dist_read_duration(&end);
	return *ns >= 0 && *end == '\0'
			       ? 0
			       : fail(command, "must be a time such as 20ms, at most 60s", text);
}

static int read_number(const struct command *command, size_t key, double otherwise, double low,
		double high, double *number)
{
	const char *text = command->values[key];
	char range[80], *end;

	*number = otherwise;
	if (text == NULL) {
		return 0;
	}
	*number = strtod(text, &end);
	if (end != text && *end == '\0' && *number >= low && *number <= high) {
		return 0;
	}
	snprintf(range, sizeof(range), "must be a number from %g to %g", low, high);
	return fail(command, range, text);
}

static int read_probability(const struct command *command, size_t key, double otherwise, double *p)
{
	return read_number(command, key, otherwise, 1e-6, 1, p) == 0
			       ? 0
			       : fail(command, "p must be above 0 and at most 1",
						 command->values[key]);
}

/* The name of a service that begins with prefix; *ours tells whether it is this one's. */
static int read_service(const struct command *command, size_t key, const char *otherwise,
		const char *prefix, bool *ours)
{
	const char *name = command->values[key] ? command->values[key] : otherwise;

	*ours = false;
	for (size_t i = 0; i < N_SERVICES; i++) {
		if (strcmp(services[i], name) == 0 && strncmp(name, prefix, strlen(prefix)) == 0) {
			*ours = !command->dry && strcmp(name, process_name()) == 0;
			return 0;
		}
	}
	return fail(command, "no such service or host", name);
}

static void set_bite(const struct command *command, enum injection_kind kind, enum point_id point,
		const struct injection *injection)
{
	if (!command->dry) {
		injection_set(kind, point, injection);
	}
}

static int apply_none(const struct command *command)
{
	if (!command->dry) {
		injection_clear_all();
		atomic_store(&build_limit, NO_LIMIT);
		atomic_store(&lost_answers, 0);
		work_slow_down(1);
		if (hog_stop() != 0) {
			return fail(command, "cannot get the CPUs back", strerror(errno));
		}
	}
	return 0;
}

static int apply_semaphore(const struct command *command)
{
	bool ours = !command->dry;
	double limit;

	if (read_number(command, 0, 1, 1, NO_LIMIT, &limit) != 0 ||
			(command->values[1] != NULL &&
					read_service(command, 1, "", "compute-", &ours) != 0)) {
		return -1;
	}
	if (ours) {
		atomic_store(&build_limit, (unsigned int)limit);
	}
	return 0;
}

static int apply_delay(const struct command *command)
{
	struct injection injection;
	enum point_id point;

	if (command->values[0] == NULL || command->values[1] == NULL) {
		return fail(command, "delay needs", "point=PROVIDER:NAME and dist=DIST");
	}
	if (read_point(command, 0, "", &point) != 0 ||
			read_dist(command, 1, "", &injection.time) != 0 ||
			read_probability(command, 2, 1, &injection.probability) != 0) {
		return -1;
	}
	set_bite(command, INJECTION_WAIT, point, &injection);
	return 0;
}

static int apply_slowdown(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST, .probability = 1};
	enum point_id point;

	if (read_point(command, 0, "compute:boot_wait", &point) != 0 ||
			read_time(command, 1, "60ms", &injection.time.a) != 0) {
		return -1;
	}
	set_bite(command, INJECTION_WAIT, point, &injection);
	return 0;
}

static int apply_slow_replica(const struct command *command)
{
	bool ours;
	double factor;

	if (read_service(command, 0, "compute-1", "compute-", &ours) != 0 ||
			read_number(command, 1, 3, 1, 100, &factor) != 0) {
		return -1;
	}
	if (ours) {
		work_slow_down(factor);
	}
	return 0;
}

static int apply_size_cost(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST, .probability = 1};
	enum point_id point;
	double cost_ns, mib;

	if (read_point(command, 0, "compute:image_clone", &point) != 0 ||
			read_time(command, 1, "200ms", &cost_ns) != 0 ||
			read_number(command, 2, 1, 1e-6, 1e6, &mib) != 0) {
		return -1;
	}
	if (points[point].kind == NULL ||
			(strcmp(points[point].kind, "size") != 0 &&
					strcmp(points[point].kind, "image") != 0)) {
		return fail(command, "this point records no size", points[point].name);
	}
	injection.time.a = cost_ns / (mib * 1048576);
	set_bite(command, INJECTION_SIZE, point, &injection);
	return 0;
}

static int apply_cache_miss(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST};
	enum point_id point;
	bool is_cache;

	if (read_point(command, 0, "api:image_lookup", &point) != 0 ||
			read_probability(command, 1, 0.03, &injection.probability) != 0 ||
			read_time(command, 2, "600ms", &injection.time.a) != 0) {
		return -1;
	}
	is_cache = points[point].kind != NULL && strcmp(points[point].kind, "cache") == 0;
	set_bite(command, is_cache ? INJECTION_MISS : INJECTION_WAIT, point, &injection);
	return 0;
}

static int apply_cpu_hog(const struct command *command)
{
	bool ours;
	double threads, on_ns, off_ns;

	if (read_service(command, 0, "compute-1", "", &ours) != 0 ||
			read_number(command, 1, 16, 1, 64, &threads) != 0 ||
			read_time(command, 2, "1s", &on_ns) != 0 ||
			read_time(command, 3, "1s", &off_ns) != 0) {
		return -1;
	}
	if (on_ns < 1e6) {
		return fail(command, "on must be at least", "1ms");
	}
	if (!command->dry && !ours) {
		return hog_avoid() == 0 ? 0
					: fail(command, "cannot avoid the hog", strerror(errno));
	}
	if (ours) {
		const struct hog_options options = {.threads = (uint32_t)threads,
				.on_ns = (uint64_t)on_ns,
				.off_ns = (uint64_t)off_ns};

		if (hog_start(&options) != 0) {
			return fail(command, "cannot start pt-hog", strerror(errno));
		}
	}
	return 0;
}

static int apply_lock_convoy(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST};
	enum point_id point;

	if (read_point(command, 0, "api:quota_lock", &point) != 0 ||
			read_probability(command, 1, 0.02, &injection.probability) != 0 ||
			read_time(command, 2, "150ms", &injection.time.a) != 0) {
		return -1;
	}
	if (points[point].kind == NULL || strcmp(points[point].kind, "queue") != 0 ||
			point == POINT_compute_sem_acquire) {
		return fail(command, "no lock is taken at this point", points[point].name);
	}
	set_bite(command, INJECTION_HOLD, point, &injection);
	return 0;
}

static int apply_library(const struct command *command)
{
	struct injection injection;
	enum point_id point;

	if (read_point(command, 0, "compute:spawn", &point) != 0 ||
			read_dist(command, 1, "exp:40ms", &injection.time) != 0 ||
			read_probability(command, 2, 0.5, &injection.probability) != 0) {
		return -1;
	}
	if (points[point].kind == NULL) {
		return fail(command, "nothing is done at this point", points[point].name);
	}
	set_bite(command, INJECTION_LIBRARY, point, &injection);
	return 0;
}

static int apply_noise(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST, .probability = 1};
	enum point_id point, with;

	if (read_point(command, 0, "compute:kvm_create", &point) != 0 ||
			read_point(command, 1, "compute:vif_up", &with) != 0 ||
			read_time(command, 2, "40ms", &injection.time.a) != 0) {
		return -1;
	}
	set_bite(command, INJECTION_SHARE, point, &injection);
	set_bite(command, INJECTION_REST, with, &injection);
	return 0;
}

static int apply_off_path(const struct command *command)
{
	struct injection injection;
	enum point_id point;

	if (read_point(command, 0, "net:notify_send", &point) != 0 ||
			read_dist(command, 1, "uniform:0ms,30ms", &injection.time) != 0 ||
			read_probability(command, 2, 1, &injection.probability) != 0) {
		return -1;
	}
	if (strncmp(points[point].name, "net:notify", strlen("net:notify")) != 0) {
		return fail(command, "not in a branch that runs beside", points[point].name);
	}
	set_bite(command, INJECTION_WAIT, point, &injection);
	return 0;
}

static int apply_two(const struct command *command)
{
	struct injection injection;
	enum point_id point, with;

	if (read_point(command, 0, "compute:disk_format", &point) != 0 ||
			read_point(command, 1, "net:rules_commit", &with) != 0 ||
			read_dist(command, 2, "exp:40ms", &injection.time) != 0 ||
			read_probability(command, 3, 0.5, &injection.probability) != 0) {
		return -1;
	}
	set_bite(command, INJECTION_WAIT, point, &injection);
	set_bite(command, INJECTION_WAIT, with, &injection);
	return 0;
}

/* Its exit records a status: see tp.h. */
static bool has_status(const char *kind)
{
	static const char *const kinds[] = {"request", "call", "serve", "object", "device"};

	for (size_t i = 0; kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i], kind) == 0) {
			return true;
		}
	}
	return false;
}

static int apply_error(const struct command *command)
{
	struct injection injection = {.time.shape = DIST_CONST};
	enum point_id point;
	double error;

	if (read_point(command, 0, "compute:disk_format", &point) != 0 ||
			read_probability(command, 1, 0.2, &injection.probability) != 0 ||
			read_number(command, 2, EIO, 1, 4095, &error) != 0) {
		return -1;
	}
	if (!has_status(points[point].kind)) {
		return fail(command, "no status is recorded at this point", points[point].name);
	}
	injection.error = (int)error;
	set_bite(command, INJECTION_ERROR, point, &injection);
	return 0;
}

static void *crash_thread(void *unused)
{
	const struct timespec soon = {.tv_nsec = 200000000}; /* who told it has its answer */
	const struct rlimit none = {0, 0};

	(void)unused;
	nanosleep(&soon, NULL);
	setrlimit(RLIMIT_CORE, &none);
	abort();
}

static int apply_crash(const struct command *command)
{
	pthread_t thread;
	bool ours;

	if (read_service(command, 0, "compute-2", "", &ours) != 0) {
		return -1;
	}
	if (ours && pthread_create(&thread, NULL, crash_thread, NULL) != 0) {
		return fail(command, "cannot crash", strerror(errno));
	}
	return 0;
}

static int apply_lost_peer(const struct command *command)
{
	double probability;
	bool ours;

	if (read_service(command, 0, "network", "", &ours) != 0 ||
			read_probability(command, 1, 0.1, &probability) != 0) {
		return -1;
	}
	if (ours) {
		atomic_store(&lost_answers, (unsigned int)(probability * FAULT_LOST_ALL));
	}
	return 0;
}

#define NEXT_LINE "\n          "
static const struct fault {
	const char *name;
	const char *keys[MAX_KEYS];
	int (*apply)(const struct command *command);
	const char *help;
} faults[] = {
		{"none", {NULL}, apply_none, "ends all faults"},
		{"semaphore", {"limit", "host"}, apply_semaphore,
				"[limit=1] [host=HOST]: so many builds at once on each (or one) "
				"compute host; the" NEXT_LINE "others queue"},
		{"delay", {"point", "dist", "p"}, apply_delay,
				"point=PROVIDER:NAME "
				"dist=const:T|uniform:T,T|exp:T|lognormal:T,SIGMA [p=1]: waits "
				"at" NEXT_LINE "a point (within it, if it is a pair), with "
				"probability p"},
		{"slowdown", {"point", "by"}, apply_slowdown,
				"[point=compute:boot_wait] [by=60ms]: a place takes longer, "
				"always"},
		{"slow_replica", {"host", "factor"}, apply_slow_replica,
				"[host=compute-1] [factor=3]: one compute host is slower at all it "
				"does"},
		{"size_cost", {"point", "cost", "per_mib"}, apply_size_cost,
				"[point=compute:image_clone] [cost=200ms] [per_mib=1]: a place "
				"takes so much longer" NEXT_LINE
				"per so many MiB of the size it records"},
		{"cache_miss", {"point", "p", "cost"}, apply_cache_miss,
				"[point=api:image_lookup] [p=0.03] [cost=600ms]: few requests miss "
				"a cache and wait;" NEXT_LINE
				"a look-up records it, any other place does not"},
		{"cpu_hog", {"service", "threads", "on", "off"}, apply_cpu_hog,
				"[service=compute-1] [threads=16] [on=1s] [off=1s]: a process "
				"takes the CPU" NEXT_LINE "from a service, in bursts"},
		{"lock_convoy", {"point", "p", "hold"}, apply_lock_convoy,
				"[point=api:quota_lock] [p=0.02] [hold=150ms]: few keep a lock for "
				"long, many wait"},
		{"library", {"point", "dist", "p"}, apply_library,
				"[point=compute:spawn] [dist=exp:40ms] [p=0.5]: within a span, a "
				"library without" NEXT_LINE "tracepoints takes the time"},
		{"noise", {"point", "with", "total"}, apply_noise,
				"[point=compute:kvm_create] [with=compute:vif_up] [total=40ms]: "
				"work moves between" NEXT_LINE "two places of one thread; "
				"together they take the same time"},
		{"off_path", {"point", "dist", "p"}, apply_off_path,
				"[point=net:notify_send] [dist=uniform:0ms,30ms] [p=1]: a branch "
				"that runs beside" NEXT_LINE "and ends before the others is noisy"},
		{"error", {"point", "p", "errno"}, apply_error,
				"[point=compute:disk_format] [p=0.2] [errno=5]: a place ends with "
				"an "
				"error, and its" NEXT_LINE
				"request with it; + delay of that point: and takes longer, or "
				"less"},
		{"crash", {"service"}, apply_crash,
				"[service=compute-2]: a service crashes; only a new testbed has it "
				"again"},
		{"lost_peer", {"service", "p"}, apply_lost_peer,
				"[service=network] [p=0.1]: instead of an answer a service closes "
				"the connection"},
		{"two", {"point", "with", "dist", "p"}, apply_two,
				"[point=compute:disk_format] [with=net:rules_commit] "
				"[dist=exp:40ms] [p=0.5]:" NEXT_LINE "two places wait, each for "
				"itself"},
};
#define N_FAULTS (sizeof(faults) / sizeof(faults[0]))

void fault_print_usage(FILE *out)
{
	for (size_t i = 0; i < N_FAULTS; i++) {
		fprintf(out, "  %s %s\n", faults[i].name, faults[i].help);
	}
}

void fault_print_points(FILE *out)
{
	for (size_t i = 0; i < POINT_COUNT; i++) {
		fprintf(out, "%s\n", points[i].name);
	}
}

/* Sets the value of a key, which is taken from word. */
static int read_key(struct command *command, const struct fault *fault, char *word)
{
	char *equals = strchr(word, '=');
	size_t key = 0;

	if (equals == NULL) {
		return fail(command, "not of the form key=value", word);
	}
	*equals = '\0';
	while (key < MAX_KEYS && fault->keys[key] != NULL && strcmp(fault->keys[key], word) != 0) {
		key++;
	}
	if (key == MAX_KEYS || fault->keys[key] == NULL) {
		return fail(command, "this fault knows no such key", word);
	}
	command->values[key] = equals + 1;
	return 0;
}

/* Applies one fault, of words up to "+" or the end; *rest is what strtok_r() wants. */
static int apply_next(struct command *command, char *word, char **rest)
{
	const struct fault *fault = NULL;

	memset(command->values, 0, sizeof(command->values));
	for (size_t i = 0; word != NULL && i < N_FAULTS; i++) {
		if (strcmp(word, faults[i].name) == 0) {
			fault = &faults[i];
		}
	}
	if (fault == NULL) {
		return fail(command, "no such fault", word ? word : "(empty)");
	}
	while ((word = strtok_r(NULL, " \t\n", rest)) != NULL && strcmp(word, "+") != 0) {
		if (read_key(command, fault, word) != 0) {
			return -1;
		}
	}
	if (fault->apply(command) != 0) {
		return -1;
	}
	/* After a "+", something must follow. */
	return word == NULL ? 0 : apply_next(command, strtok_r(NULL, " \t\n", rest), rest);
}

int fault_apply(const char *command, bool dry, char *error, size_t error_size)
{
	struct command how = {.dry = true, .error = error, .error_size = error_size};
	char words[FAULT_COMMAND_BYTES];
	char *rest;

	if (strlen(command) >= sizeof(words)) {
		return fail(&how, "command too long", "at most 511 bytes");
	}
	memcpy(words, command, strlen(command) + 1);
	if (apply_next(&how, strtok_r(words, " \t\n", &rest), &rest) != 0) {
		return -1;
	}
	if (dry) {
		return 0;
	}
	how.dry = false;
	memcpy(words, command, strlen(command) + 1);
	return apply_next(&how, strtok_r(words, " \t\n", &rest), &rest);
}
