/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pythia/explaining.h"
#include "pythia/thresholds.h"

#define SHOWN        4u /* values */

struct text {
	char *out;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list list;
	int length;

	if (text->used + 1 >= text->size) {
		return;
	}
	va_start(list, format);
	length = vsnprintf(text->out + text->used, text->size - text->used, format, list);
	va_end(list);
	text->used += length > 0 ? (size_t)length : 0;
	text->used = text->used < text->size ? text->used : text->size - 1;
}

static void add_duration(struct text *text, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && ns < 0.9995 * units[i].ns) {
		i++;
	}
	add(text, "%.3g%s", ns / units[i].ns, units[i].unit);
}

/* The first key is believed in: found, and confirmed in the half that was held out. */
static bool explained_found(const struct explanation *explanation)
{
	const struct explained_key *key = explanation->keys;

	return explanation->state == EXPLANATION_DONE && explanation->n_keys > 0 &&
	       key->confirmed && key->p <= FOUND_P && key->omega2_held >= FOUND_OMEGA2;
}

bool explained_partly(const struct explanation *explanation)
{
	return explained_found(explanation) && explanation->keys->omega2_held < MOST_OMEGA2;
}

bool explained_by_system(const struct explanation *explanation)
{
	const struct explained_key *key = explanation->keys;

	return explained_found(explanation) && key->p < SYSTEM_P &&
	       key->omega2_held >= MOST_OMEGA2 &&
	       (key->source == EXPLANATION_HOST || key->source == EXPLANATION_RESOURCE);
}

/* A resource by what it is; others by their name. */
static const char *name_of(const struct explained_key *key)
{
	static const struct {
		const char *name, *says;
	} resources[] = {{"runqueue_ns", "waiting for a CPU"},
			{"blocked_disk_ns", "waiting for disks"},
			{"blocked_lock_ns", "waiting for locks"}, {"irq_ns", "interrupts"},
			{"disk_read_bytes", "bytes read from disks"},
			{"disk_write_bytes", "bytes written to disks"},
			{"net_read_bytes", "bytes received"}, {"net_write_bytes", "bytes sent"}};

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		if (key->source == EXPLANATION_RESOURCE &&
				strcmp(key->name, resources[i].name) == 0) {
			return resources[i].says;
		}
	}
	return key->name;
}

bool explained_by_name(const struct explanation *explanation)
{
	return explanation && explanation->n_keys > 0 &&
	       name_of(explanation->keys) == explanation->keys->name;
}

/* Of many, those at both ends. */
static void add_values(struct text *text, const struct explanation *explanation)
{
	uint32_t n = explanation->n_values;

	for (uint32_t i = 0; i < n; i++) {
		if (n > SHOWN && i == SHOWN / 2) {
			add(text, ", ...");
			i = n - SHOWN / 2;
		}
		add(text, "%s%s -> ", i ? ", " : "", explanation->values[i].text);
		add_duration(text, explanation->values[i].mean_ns);
	}
}

void explained_say(const struct explanation *explanation, char *out, size_t size)
{
	const struct explained_key *key = explanation->keys;
	struct text text = {.out = out, .size = size};

	out[0] = '\0';
	if (!explained_found(explanation)) {
		return;
	}
	add(&text, "%s", name_of(key));
	for (uint32_t i = 0; i < key->n_together && i < 2; i++) {
		add(&text, " (or %s, which goes with it)", key->together[i]);
	}
	add(&text, ": ");
	add_values(&text, explanation);
	/* A bound is rounded up. */
	add(&text, " (%.0f%% of the variance held out, n %u+%u, p <= %.3g)", 100 * key->omega2_held,
			explanation->n, explanation->n_held, ceil(key->p * 1000 - 1e-6) / 1000);
}

/* The host where requests take longest. */
static const char *slowest(const struct explanation *explanation)
{
	return explanation->n_values ? explanation->values[explanation->n_values - 1].text : "";
}

void explained_next(const struct explanation *explanation, char *out, size_t size)
{
	const struct explained_key *key = explanation->keys;

	out[0] = '\0';
	if (!explained_found(explanation)) {
		return;
	}
	switch (key->source) {
	case EXPLANATION_HOST:
		snprintf(out, size,
				"%s: what it does else, and how it differs from the others (state "
				"of the systems)",
				slowest(explanation));
		break;
	case EXPLANATION_RESOURCE:
		snprintf(out, size, "who else uses it: %s (state of the systems)", name_of(key));
		break;
	case EXPLANATION_COUNT:
		snprintf(out, size, "why there are more or fewer: %s", key->name);
		break;
	default:
		snprintf(out, size, "the values of %s%s%s%s: where they come from", key->name,
				key->where[0] ? " (in " : "", key->where, key->where[0] ? ")" : "");
	}
}
