/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "pythiatop/snapshot/verdict.h"

/*
 * The sentence of a verdict: the only place where one is put into words. Each reason has a
 * function, say_REASON(), that adds what comes after the type of requests.
 */
typedef void say_function(char *out, size_t size, const struct steps_verdict *verdict);

static const char *percent(char out[16], double share)
{
	if (!(share > 0)) {
		return strcpy(out, "0%");
	}
	snprintf(out, 16,
			share < 0.001    ? "<0.1%%"
			: share < 0.0995 ? "%.1f%%"
					 : "%.0f%%",
			share * 100);
	return out;
}

const char *verdict_key_words(const struct verdict_key *key)
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

static bool has_key(const struct steps_verdict *verdict)
{
	return verdict->key.name && verdict->key.name[0];
}

bool verdict_names_key(const struct steps_verdict *verdict)
{
	return has_key(verdict) && verdict_key_words(&verdict->key) == verdict->key.name;
}

/* "explained by queue_len: 0 -> 55ms, 1 -> 84.6ms, ..., 4 -> 208ms (79% of the variance ...)" */
static void add_key(char *out, size_t size, const struct verdict_key *key)
{
	uint32_t n = key->n_values < VERDICT_KEY_VALUES ? key->n_values : VERDICT_KEY_VALUES;

	text_add(out, size, "explained by %s", verdict_key_words(key));
	for (uint32_t i = 0; i < key->n_together && i < VERDICT_KEY_TOGETHER; i++) {
		text_add(out, size, " (or %s, which goes with it)", key->together[i]);
	}
	text_add(out, size, ": ");
	for (uint32_t i = 0; i < n; i++) {
		if (i == VERDICT_KEY_VALUES / 2 && key->n_values > n) {
			text_add(out, size, ", ...");
		}
		text_add(out, size, "%s%s -> ", i ? ", " : "", key->values[i].text);
		text_add_duration(out, size, key->values[i].mean_ns);
	}
	/* A bound is rounded up. */
	text_add(out, size, " (%.0f%% of the variance held out, n %u+%u, p <= %.3g)",
			100 * key->held, key->n, key->n_held, ceil(key->p * 1000 - 1e-6) / 1000);
}

/* --- of searches ------------------------------------------------------------------------------ */

static void say_none(char *out, size_t size, const struct steps_verdict *verdict)
{
	(void)size;
	(void)verdict;
	out[0] = '\0'; /* not even the type */
}

static void say_inside(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "%.0f%% of the %s is inside %s; looking deeper", 100 * verdict->share,
			verdict->share_of, verdict->place);
}

static void say_unclear(char *out, size_t size, const struct steps_verdict *verdict)
{
	(void)verdict;
	text_add(out, size, "where its variance lies is not clear yet");
}

/* "(93% of the variance, 62 to 100, n 90)" */
static void add_share(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, " (%.0f%% of the %s, %.0f to %.0f, n %" PRIu64, 100 * verdict->share,
			verdict->share_of, 100 * verdict->share_low, 100 * verdict->share_high,
			verdict->requests);
	if (verdict->queued_share > 0) {
		text_add(out, size, "; %.0f%% is requests that wait behind others in the socket",
				100 * verdict->queued_share);
	}
	if (verdict->waking_share > 0) {
		text_add(out, size, "; %.0f%% is idle processors that wake up",
				100 * verdict->waking_share);
	}
	text_add(out, size, ")");
}

static void add_holders(char *out, size_t size, const char *before,
		const struct steps_verdict *verdict, const char *nobody)
{
	const struct group_wait wait = {.evidence = verdict->evidence,
			.n = verdict->n_holders,
			.holders = verdict->holders};
	char holders[384];

	group_wait_text(holders, sizeof(holders), &wait);
	if (holders[0] || nobody[0]) {
		text_add(out, size, "%s%s", before, holders[0] ? holders : nobody);
	}
}

static void say_holder(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "%.0f%% of the %s is in %s", 100 * verdict->share, verdict->share_of,
			verdict->place);
	add_holders(out, size, ": ", verdict, "");
	text_add(out, size, "; looking deeper there");
}

static void say_budget(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size,
			"the budget of %.0f events/s (or its bytes, or CPU) leaves no room for a "
			"further point",
			verdict->budget_per_s);
}

static void say_code(char *out, size_t size, const struct steps_verdict *verdict)
{
	static const char *const deeper[] = {[DEEPER_UNKNOWN] = "",
			[DEEPER_STEADY] = "nothing deeper in it varied when all that could be was "
					  "recorded",
			[DEEPER_NOT_RECORDED] = "nothing deeper in it was recorded",
			[DEEPER_SILENT] = "no point deeper in it is known to fire",
			[DEEPER_NOT_SEEN] = "no point deeper in it was seen to fire, of those that "
					    "were tried (where points stand was not learned)"};

	text_add(out, size, "the time goes in %s%s", verdict->place,
			verdict->with_callees ? " with what it calls" : "");
	add_share(out, size, verdict);
	for (uint32_t i = 0; i < verdict->n_places; i++) {
		text_add(out, size, " and in %s (%.0f%%)", verdict->places[i].name,
				100 * verdict->places[i].share);
	}
	if (verdict->deeper == DEEPER_LEFT_OFF) {
		text_add(out, size,
				"; deeper in it %u point%s left off: rejected, refused or undone",
				verdict->left_off, verdict->left_off == 1 ? " is" : "s are");
	} else if (verdict->deeper == DEEPER_BUDGET) {
		text_add(out, size, "; ");
		say_budget(out, size, verdict);
		text_add(out, size, " deeper in it");
	} else {
		text_add(out, size, "; %s", deeper[verdict->deeper]);
	}
	add_holders(out, size, "; ", verdict, "");
}

static void say_load(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "the time goes in %s", verdict->place);
	add_share(out, size, verdict);
	text_add(out, size,
			": %.0f%% of the %s is waits in it for a processor, which the program "
			"itself keeps busy",
			100 * verdict->waiting_share, verdict->share_of);
	add_holders(out, size, "; ", verdict, "");
}

static void say_wait(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "the time goes by in %s of %s%s%s", verdict->place, verdict->within,
			verdict->code[0] ? " in " : "", verdict->code);
	if (verdict->n_more_places) {
		text_add(out, size, " and in %u more place%s", verdict->n_more_places,
				verdict->n_more_places == 1 ? "" : "s");
	}
	text_add(out, size, "%s%s", verdict->site[0] ? " of " : "", verdict->site);
	add_share(out, size, verdict);
	add_holders(out, size, ": ", verdict,
			"no code works then, it is a host or a resource that is waited for");
}

/* Waits for a processor that are nobody's doing. */
static void say_no_finding(
		char *out, size_t size, const struct steps_verdict *verdict, const char *that)
{
	text_add(out, size, "what varies is how long it waits for a processor that %s", that);
	add_share(out, size, verdict);
	add_holders(out, size, ": ", verdict, "");
	text_add(out, size, "; that is no finding");
}

static void say_tracing(char *out, size_t size, const struct steps_verdict *verdict)
{
	say_no_finding(out, size, verdict, "tracing has");
}

static void say_idle(char *out, size_t size, const struct steps_verdict *verdict)
{
	say_no_finding(out, size, verdict, "sleeps, and takes its time to wake up");
}

static void say_interrupts(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "the time goes by in %s while %s is at work%s%s", verdict->place,
			verdict->within[0] ? verdict->within : "it", verdict->site[0] ? " in " : "",
			verdict->site);
	add_share(out, size, verdict);
	text_add(out, size,
			": no code of the request, but what the machine does meanwhile, the more "
			"the longer it takes");
}

static void say_process(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size,
			"most of what %s does is slow at the same times%s%s: %u of %u places, %.1f "
			"times in the middle; %.0f%% of the variance is there",
			verdict->site, verdict->as_for[0] ? ", as for " : "", verdict->as_for,
			verdict->slow, verdict->examined, verdict->times, 100 * verdict->share);
	if (verdict->also_slow[0]) {
		text_add(out, size, "; so is %s%s", verdict->also_slow,
				verdict->n_also_slow > 1 ? " and others" : "");
	} else if (verdict->twin_well[0]) {
		text_add(out, size, "; not so %s, which does the same", verdict->twin_well);
	} else if (verdict->n_well) {
		text_add(out, size, "; not so %u other process%s", verdict->n_well,
				verdict->n_well > 1 ? "es" : "");
	}
	text_add(out, size, "; not the code, but its CPU, its host, or what all of it waits for");
	if (verdict->waiting_share > 0) {
		text_add(out, size, "; (runnable) is %.0f%% of the variance",
				100 * verdict->waiting_share);
		add_holders(out, size, ": ", verdict, "");
	}
}

static void say_common_cause(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size,
			"many places vary together (%.0f%% in one direction): a common cause, such "
			"as a host or a resource",
			100 * verdict->share);
}

static void say_no_place(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "no place surely holds half of the variance");
	for (uint32_t i = 0; i < verdict->n_places; i++) {
		text_add(out, size, "%s%s %.0f%%", i ? ", " : ": ", verdict->places[i].name,
				100 * verdict->places[i].share);
	}
	if (verdict->no_kernel_events) {
		text_add(out, size, "; kernel events could say more, but no host offers them");
	}
}

/* --- since a baseline ------------------------------------------------------------------------- */

static void add_added(char *out, size_t size, const struct steps_verdict *verdict)
{
	if (!isnan(verdict->added_ns_per_s)) {
		text_add(out, size, ", which adds ");
		text_add_duration(out, size, verdict->added_ns_per_s);
		text_add(out, size, " a second to all requests");
	}
}

static void add_longer(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, " takes longer, by ");
	text_add_duration(out, size, verdict->longer_low_ns);
	text_add(out, size, " to ");
	text_add_duration(out, size, verdict->longer_high_ns);
	add_added(out, size, verdict);
}

static void say_slower(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "since the baseline %s in %s",
			strcmp(verdict->place, "(all)") == 0 ? "each span" : verdict->place,
			verdict->process);
	add_longer(out, size, verdict);
}

static void say_transit(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "since the baseline the way between %s and %s", verdict->process,
			verdict->others);
	add_longer(out, size, verdict);
	if (verdict->callee_too) {
		text_add(out, size, "; the own time of the former grew, too");
	}
}

static void say_calls(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size,
			"since the baseline %s in %s makes %s calls of %s, %.3g instead of %.3g a "
			"span",
			verdict->place, verdict->process,
			verdict->calls_after > verdict->calls_before ? "more" : "fewer",
			verdict->others, verdict->calls_after, verdict->calls_before);
	add_added(out, size, verdict);
}

/* --- of like servers -------------------------------------------------------------------------- */

static void say_peer(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size, "requests that ask %s take ", verdict->called);
	text_add_duration(out, size, verdict->mean_ns);
	text_add(out, size, " (mean of %" PRIu64 "), those that ask %s", verdict->requests,
			verdict->called_others);
	if (verdict->n_siblings > 1) {
		text_add(out, size, " or one of %u more", verdict->n_siblings - 1);
	}
	text_add(out, size, " ");
	text_add_duration(out, size, verdict->mean_others_ns);
	text_add(out, size, " (of %" PRIu64 "): the difference is in %s%s%s (%.0f%%, %.0f to %.0f)",
			verdict->requests_others, verdict->place, verdict->within[0] ? " of " : "",
			verdict->within, 100 * verdict->share, 100 * verdict->share_low,
			100 * verdict->share_high);
}

/* --- what fails ------------------------------------------------------------------------------- */

/* Since when, how often, and before. */
static void add_how_often(char *out, size_t size, const struct steps_verdict *verdict)
{
	char share[16], low[16], high[16];
	double before = verdict->requests_before ? (double)verdict->failed_before /
								   (double)verdict->requests_before
						 : 0;

	text_add(out, size, "since ");
	text_add_clock(out, size, verdict->since_ns);
	text_add(out, size, " %s of requests %s (%s to %s, %" PRIu64 " of %" PRIu64 ")",
			percent(share, verdict->share), verdict->fails_how,
			percent(low, verdict->share_low), percent(high, verdict->share_high),
			verdict->failed, verdict->requests);
	text_add(out, size, verdict->learned ? ", %s when it was learned" : ", before %s",
			percent(share, before));
	text_add(out, size, " (%" PRIu64 " of %" PRIu64 ")", verdict->failed_before,
			verdict->requests_before);
}

static void say_fails(char *out, size_t size, const struct steps_verdict *verdict)
{
	char share[16], others[16];

	add_how_often(out, size, verdict);
	if (verdict->place[0]) {
		text_add(out, size, "; it begins in %s", verdict->place);
	}
	if (verdict->process[0]) {
		text_add(out, size, " of %s", verdict->process);
	}
	if (verdict->host[0]) {
		text_add(out, size, " on %s", verdict->host);
	} else if (verdict->several_hosts) {
		text_add(out, size, " on several hosts");
	}
	if (verdict->told[0]) {
		text_add(out, size, ": %s", verdict->told);
		if (verdict->told_share < 0.995) {
			text_add(out, size, " in %s", percent(share, verdict->told_share));
		}
	}
	if (verdict->attribute[0]) {
		text_add(out, size, "; %s=%s%s%s in %s of them, in %s of the others",
				verdict->attribute, verdict->value,
				verdict->attribute_where[0] ? " in " : "", verdict->attribute_where,
				percent(share, verdict->value_share),
				percent(others, verdict->value_others));
	}
}

/* --- by a key-value --------------------------------------------------------------------------- */

static void say_variable(char *out, size_t size, const struct steps_verdict *verdict)
{
	if (verdict->place[0]) {
		text_add(out, size, "the time goes in %s", verdict->place);
	}
}

static void say_value(char *out, size_t size, const struct steps_verdict *verdict)
{
	text_add(out, size,
			"all is slower with %s, in %u of %u places, %.1f times in the middle: not "
			"the code, but where or in what it runs",
			verdict->value, verdict->slow, verdict->examined, verdict->times);
}

static void say_system(char *out, size_t size, const struct steps_verdict *verdict)
{
	(void)verdict;
	text_add(out, size, "no place of the code holds half of the variance");
}

static void say_asked(char *out, size_t size, const struct steps_verdict *verdict)
{
	if (!has_key(verdict)) {
		text_add(out, size, "no key-value surely explains how long it takes");
	}
}

static void say_asking(char *out, size_t size, const struct steps_verdict *verdict)
{
	(void)verdict;
	text_add(out, size, "being explained, as asked");
}

/* --- all of it -------------------------------------------------------------------------------- */

/* The sentence begins with the key-value; others end with it. */
static bool key_comes_first(enum verdict_reason reason)
{
	return reason == REASON_VARIABLE || reason == REASON_SYSTEM || reason == REASON_ASKED;
}

static void add_type(char *out, size_t size, const struct steps_verdict *verdict)
{
	out[0] = '\0';
	text_add(out, size, "%s%s: ", verdict->type ? verdict->type : "",
			verdict->reason == REASON_ASKED ? ", as asked" : "");
}

#define SAY(id, name) [REASON_##id] = say_##name,
static void add_reason(char *out, size_t size, const struct steps_verdict *verdict)
{
	static say_function *const say[] = {VERDICT_REASONS(SAY)};

	say[verdict->reason](out, size, verdict);
}

void verdict_text_without_key(char *out, size_t size, const struct steps_verdict *verdict)
{
	size_t begin;

	add_type(out, size, verdict);
	begin = strlen(out);
	add_reason(out, size, verdict);
	if (!out[begin]) {
		out[0] = '\0';
	}
}

static void add_whole_key(char *out, size_t size, const struct verdict_key *key)
{
	text_add(out, size, "%s", key->partly ? "partly " : "");
	add_key(out, size, key);
}

void verdict_text(char *out, size_t size, const struct steps_verdict *verdict)
{
	size_t end, begin;

	if (!has_key(verdict) || !key_comes_first(verdict->reason)) {
		verdict_text_without_key(out, size, verdict);
		if (has_key(verdict)) {
			text_add(out, size, "%s", out[0] ? "; " : "");
			add_whole_key(out, size, &verdict->key);
		}
		return;
	}
	add_type(out, size, verdict);
	add_whole_key(out, size, &verdict->key);
	end = strlen(out);
	text_add(out, size, "; ");
	begin = strlen(out);
	add_reason(out, size, verdict);
	if (!out[begin]) {
		out[end] = '\0'; /* the reason says no more */
	}
}
