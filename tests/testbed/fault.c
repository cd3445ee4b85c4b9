/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define COMMAND_BYTES    256
#define NO_LIMIT         1000
#define MAX_KEYS         4
#define LONGEST_DELAY_NS 60e9

enum dist { DIST_CONST, DIST_UNIFORM, DIST_EXP, DIST_LOGNORMAL };

struct delay {
	enum dist dist;
	double a, b; /* ns; lognormal: median in ns, sigma */
	double probability;
};

static const char *const point_names[POINT_COUNT] = {
#define PT_TABLE_ALL
#define PT_PAIR(provider, name, kind)  #provider ":" #name,
#define PT_POINT(provider, name, kind) #provider ":" #name,
#include "points.def"
#undef PT_PAIR
#undef PT_POINT
#undef PT_TABLE_ALL
};

atomic_bool fault_delay_on[POINT_COUNT];
static struct delay delays[POINT_COUNT];
static pthread_mutex_t delays_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint build_limit = NO_LIMIT;

const atomic_uint *fault_build_limit(void)
{
	return &build_limit;
}

void fault_delay_wait(enum point_id point)
{
	struct delay delay;
	double ns = 0;

	pthread_mutex_lock(&delays_mutex);
	delay = delays[point];
	pthread_mutex_unlock(&delays_mutex);
	if (random_unit() >= delay.probability) {
		return;
	}
	switch (delay.dist) {
	case DIST_CONST:
		ns = delay.a;
		break;
	case DIST_UNIFORM:
		ns = delay.a + (delay.b - delay.a) * random_unit();
		break;
	case DIST_EXP:
		ns = random_exponential(delay.a);
		break;
	case DIST_LOGNORMAL:
		ns = delay.a * exp(delay.b * random_normal());
		break;
	}
	sleep_ns((uint64_t)fmin(ns, LONGEST_DELAY_NS));
}

/* "20ms" -> 2e7; moves *text past it. -1 if it is no duration. */
static double read_duration(const char **text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(*text, &end);

	if (end == *text || !(number >= 0)) {
		return -1;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0) {
			*text = end + strlen(units[i].unit);
			return number * units[i].ns;
		}
	}
	return -1;
}

static bool read_dist(const char *text, struct delay *delay)
{
	static const struct {
		const char *prefix;
		bool two; /* a second parameter follows a comma */
	} dists[] = {[DIST_CONST] = {"const:", false},
			[DIST_UNIFORM] = {"uniform:", true},
			[DIST_EXP] = {"exp:", false},
			[DIST_LOGNORMAL] = {"lognormal:", true}};

	for (size_t i = 0; i < sizeof(dists) / sizeof(dists[0]); i++) {
		size_t len = strlen(dists[i].prefix);

		if (strncmp(text, dists[i].prefix, len) != 0) {
			continue;
		}
		text += len;
		delay->dist = (enum dist)i;
		delay->a = read_duration(&text);
		if (delay->a < 0 || delay->a > LONGEST_DELAY_NS) {
			return false;
		}
		if (!dists[i].two) {
			return *text == '\0';
		}
		if (*text++ != ',') {
			return false;
		}
		if (delay->dist == DIST_LOGNORMAL) {
			char *end;

			delay->b = strtod(text, &end);
			return end != text && *end == '\0' && delay->b > 0 && delay->b < 10;
		}
		delay->b = read_duration(&text);
		return *text == '\0' && delay->b >= delay->a && delay->b <= LONGEST_DELAY_NS;
	}
	return false;
}

struct command {
	bool dry;
	char *error;
	size_t error_size;
};

static int fail(const struct command *command, const char *what, const char *value)
{
	snprintf(command->error, command->error_size, "%s: %s", what, value);
	return -1;
}

static int apply_none(const struct command *command, const char *const values[MAX_KEYS])
{
	(void)values;
	if (!command->dry) {
		for (size_t i = 0; i < POINT_COUNT; i++) {
			atomic_store(&fault_delay_on[i], false);
		}
		atomic_store(&build_limit, NO_LIMIT);
	}
	return 0;
}

static int apply_semaphore(const struct command *command, const char *const values[MAX_KEYS])
{
	char *end;
	unsigned long limit = strtoul(values[0] ? values[0] : "1", &end, 10);

	if (*end != '\0' || limit < 1 || limit > NO_LIMIT) {
		return fail(command, "limit must be a number from 1 to 1000", values[0]);
	}
	if (!command->dry) {
		atomic_store(&build_limit, (unsigned int)limit);
	}
	return 0;
}

static int apply_delay(const struct command *command, const char *const values[MAX_KEYS])
{
	struct delay delay = {.probability = 1};
	size_t point = 0;

	if (values[0] == NULL || values[1] == NULL) {
		return fail(command, "delay needs", "point=PROVIDER:NAME and dist=DIST");
	}
	while (point < POINT_COUNT && strcmp(point_names[point], values[0]) != 0) {
		point++;
	}
	if (point == POINT_COUNT) {
		return fail(command, "no such point (pt-fault --list names them)", values[0]);
	}
	if (!read_dist(values[1], &delay)) {
		return fail(command,
				"dist must be const:T, uniform:T,T, exp:T or lognormal:T,SIGMA "
				"with times such as 20ms, at most 60s",
				values[1]);
	}
	if (values[2] != NULL) {
		char *end;

		delay.probability = strtod(values[2], &end);
		if (*end != '\0' || !(delay.probability > 0 && delay.probability <= 1)) {
			return fail(command, "p must be above 0 and at most 1", values[2]);
		}
	}
	if (!command->dry) {
		pthread_mutex_lock(&delays_mutex);
		delays[point] = delay;
		pthread_mutex_unlock(&delays_mutex);
		atomic_store(&fault_delay_on[point], true);
	}
	return 0;
}

static const struct fault {
	const char *name;
	const char *keys[MAX_KEYS]; /* values are passed to apply in this order, NULL if not given
				     */
	int (*apply)(const struct command *command, const char *const values[MAX_KEYS]);
	const char *help;
} faults[] = {
		{"none", {NULL}, apply_none, "ends all faults"},
		{"semaphore", {"limit"}, apply_semaphore,
				"[limit=1]: so many builds at once on each compute host; the "
				"others queue"},
		{"delay", {"point", "dist", "p"}, apply_delay,
				"point=PROVIDER:NAME "
				"dist=const:T|uniform:T,T|exp:T|lognormal:T,SIGMA [p=1]: waits at\n"
				"          a point (within it, if it is a pair), with probability "
				"p"},
};

void fault_print_usage(FILE *out)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		fprintf(out, "  %s %s\n", faults[i].name, faults[i].help);
	}
}

void fault_print_points(FILE *out)
{
	for (size_t i = 0; i < POINT_COUNT; i++) {
		fprintf(out, "%s\n", point_names[i]);
	}
}

static int apply_words(const struct command *command, char *words)
{
	const char *values[MAX_KEYS] = {NULL};
	const struct fault *fault = NULL;
	char *rest;
	char *word = strtok_r(words, " \t\n", &rest);

	for (size_t i = 0; word != NULL && i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strcmp(word, faults[i].name) == 0) {
			fault = &faults[i];
		}
	}
	if (fault == NULL) {
		return fail(command, "no such fault", word ? word : "(empty)");
	}
	while ((word = strtok_r(NULL, " \t\n", &rest)) != NULL) {
		char *equals = strchr(word, '=');
		size_t key = 0;

		if (equals == NULL) {
			return fail(command, "not of the form key=value", word);
		}
		*equals = '\0';
		while (key < MAX_KEYS && fault->keys[key] != NULL &&
				strcmp(fault->keys[key], word) != 0) {
			key++;
		}
		if (key == MAX_KEYS || fault->keys[key] == NULL) {
			return fail(command, "this fault knows no such key", word);
		}
		values[key] = equals + 1;
	}
	return fault->apply(command, values);
}

int fault_apply(const char *command, bool dry, char *error, size_t error_size)
{
	const struct command how = {.dry = dry, .error = error, .error_size = error_size};
	char words[COMMAND_BYTES];

	if (strlen(command) >= sizeof(words)) {
		return fail(&how, "command too long", "at most 255 bytes");
	}
	memcpy(words, command, strlen(command) + 1);
	return apply_words(&how, words);
}
