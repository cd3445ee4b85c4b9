/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "softirq.h"
#include "state/state_snapshot.h"
#include "state/cx.h"
#include "state/irqs.h"

/*
 * Interrupts and softirqs: what they take of a CPU, and how long a softirq waits from when it is
 * raised. An exit is paired with the last entry on its CPU, of a softirq in which the CPU switched
 * threads with that of its thread; one whose entry was not seen is left out.
 */

#define MAX_KINDS  4096u
#define MAX_SHARED 8u /* names of one interrupt; further ones are left out */

static struct cpu_state *cpu_of(struct state_cx *cx, const struct event *event)
{
	return state_cpu(cx, event_host(cx, event), event->cpu);
}

static void irq_entry(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);
	uint32_t depth, length;
	const char *name;

	if (!cpu) {
		return;
	}
	if (cpu->irq_depth >= IRQ_DEPTH) {
		cpu->irq_depth = 0; /* exits were lost */
	}
	depth = cpu->irq_depth++;
	cpu->irq_begin_ns[depth] = event->ts_ns;
	cpu->irq_number[depth] = (int32_t)field_int(plan, event, 0, 0);
	name = has_field(plan, 1) ? event_bytes(event, plan->slots[1], &length) : NULL;
	cpu->irq_name[depth] = name ? names_add(cx->names, name, length) : 0;
	cpu_changed(cx, cpu, event->ts_ns);
}

static void irq_exit(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);
	struct irq_record *record;
	uint32_t depth;

	if (!cpu || cpu->irq_depth == 0) {
		return;
	}
	depth = --cpu->irq_depth;
	if (cpu->irq_number[depth] == (int32_t)field_int(plan, event, 0, 0)) {
		record = series_push(&cx->store, &cx->irqs, sizeof(*record), event->ts_ns);
		if (record) {
			record->duration_ns = event->ts_ns - cpu->irq_begin_ns[depth];
			record->raised_ns = UINT64_MAX;
			record->host = event_host(cx, event);
			record->cpu = event->cpu;
			record->name = cpu->irq_name[depth];
			record->number = cpu->irq_number[depth];
			record->soft = false;
		}
	} else {
		cpu->irq_depth = 0; /* an exit or an entry was lost */
	}
	cpu_changed(cx, cpu, event->ts_ns);
}

static void softirq_raise(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);
	uint64_t number = (uint64_t)field_int(plan, event, 0, 0);

	/* Raised again while it is pending, it is still the first time that it waits for. */
	if (cpu && number < SOFTIRQS && cpu->raised_ns[number] == 0) {
		cpu->raised_ns[number] = event->ts_ns;
	}
}

static void softirq_entry(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);

	if (!cpu) {
		return;
	}
	if (cpu->current) {
		cpu->current->softirq.open = false; /* its exit was lost */
	}
	cpu->softirq_depth = 1;
	cpu->from_outside = false;
	cpu->softirq = (int32_t)field_int(plan, event, 0, 0);
	cpu->softirq_begin_ns = event->ts_ns;
	cpu->softirq_wait_ns = UINT64_MAX;
	if (cpu->softirq >= 0 && cpu->softirq < SOFTIRQS && cpu->raised_ns[cpu->softirq]) {
		cpu->softirq_wait_ns = event->ts_ns - cpu->raised_ns[cpu->softirq];
		cpu->raised_ns[cpu->softirq] = 0;
	}
	cpu_changed(cx, cpu, event->ts_ns);
}

static void add_softirq(struct state_cx *cx, const struct event *event, int32_t number,
		uint64_t duration_ns, uint64_t wait_ns)
{
	struct irq_record *record =
			series_push(&cx->store, &cx->irqs, sizeof(*record), event->ts_ns);

	if (record) {
		record->duration_ns = duration_ns;
		record->raised_ns = wait_ns;
		record->host = event_host(cx, event);
		record->cpu = event->cpu;
		record->name = 0;
		record->number = number;
		record->soft = true;
	}
}

static void softirq_exit(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);
	struct thread_softirq *switched = cpu && cpu->current ? &cpu->current->softirq : NULL;
	int32_t number = (int32_t)field_int(plan, event, 0, 0);

	if (cpu && cpu->softirq_depth > 0) {
		cpu->softirq_depth = 0;
		if (cpu->softirq == number) {
			add_softirq(cx, event, number, event->ts_ns - cpu->softirq_begin_ns,
					cpu->softirq_wait_ns);
		}
		cpu_changed(cx, cpu, event->ts_ns);
	} else if (switched && switched->open) {
		/* While its thread did not run it took nothing of a CPU. */
		switched->open = false;
		if (switched->number == number) {
			add_softirq(cx, event, number,
					switched->ran_ns + event->ts_ns - switched->since_ns,
					switched->wait_ns);
		}
	}
}

/* Who is woken in there waits for time. */
static void timer_entry(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);

	(void)plan;
	if (cpu) {
		cpu->in_timer = true;
	}
}

static void timer_exit(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = cpu_of(cx, event);

	(void)plan;
	if (cpu) {
		cpu->in_timer = false;
	}
}

const struct state_rule irqs_rules[] = {
		{.names = "irq_handler_entry",
				.handle = irq_entry,
				.fields = {"irq", "name"},
				.required = 1},
		{.names = "irq_handler_exit", .handle = irq_exit, .fields = {"irq"}, .required = 1},
		{.names = "softirq_raise|irq_softirq_raise",
				.handle = softirq_raise,
				.fields = {"vec"},
				.required = 1},
		{.names = "softirq_entry|irq_softirq_entry",
				.handle = softirq_entry,
				.fields = {"vec"},
				.required = 1},
		{.names = "softirq_exit|irq_softirq_exit",
				.handle = softirq_exit,
				.fields = {"vec"},
				.required = 1},
		{.names = "hrtimer_expire_entry|timer_hrtimer_expire_entry", .handle = timer_entry},
		{.names = "hrtimer_expire_exit|timer_hrtimer_expire_exit", .handle = timer_exit},
		{.names = NULL},
};

/* --- the table ------------------------------------------------------------------------------- */

struct kind {
	uint32_t host, n_names;
	uint32_t names[MAX_SHARED]; /* of those that share it, interned */
	int32_t number;
	bool soft;
	uint64_t count, total_ns, min_ns, max_ns;
	uint64_t raised, raised_total_ns, raised_max_ns;
};

static void add_name(struct kind *kind, uint32_t name)
{
	uint32_t i = 0;

	while (i < kind->n_names && kind->names[i] != name) {
		i++;
	}
	if (name && i == kind->n_names && i < MAX_SHARED) {
		kind->names[kind->n_names++] = name;
	}
}

/* "ehci_hcd:usb2, ioc0" */
static const char *show_names(
		const struct state_cx *cx, const struct kind *kind, struct snapshot *snapshot)
{
	const char *text = kind->n_names > 0 ? names_text(cx->names, kind->names[0]) : "";
	uint32_t i;

	for (i = 1; i < kind->n_names; i++) {
		text = snapshot_printf(
				snapshot, "%s, %s", text, names_text(cx->names, kind->names[i]));
	}
	return snapshot_text(snapshot, text);
}

static struct kind *find_kind(struct kind *kinds, uint32_t *n, const struct irq_record *record)
{
	uint32_t i;

	for (i = 0; i < *n; i++) {
		if (kinds[i].number == record->number && kinds[i].soft == record->soft &&
				kinds[i].host == record->host) {
			break;
		}
	}
	if (i == *n) {
		if (*n >= MAX_KINDS) {
			return NULL;
		}
		kinds[(*n)++] = (struct kind){.host = record->host,
				.number = record->number,
				.soft = record->soft,
				.min_ns = UINT64_MAX};
	}
	add_name(&kinds[i], record->name);
	return &kinds[i];
}

static void count_irq(struct kind *kind, const struct irq_record *record)
{
	kind->count++;
	kind->total_ns += record->duration_ns;
	kind->min_ns = record->duration_ns < kind->min_ns ? record->duration_ns : kind->min_ns;
	kind->max_ns = record->duration_ns > kind->max_ns ? record->duration_ns : kind->max_ns;
	if (record->raised_ns != UINT64_MAX) {
		kind->raised++;
		kind->raised_total_ns += record->raised_ns;
		kind->raised_max_ns = record->raised_ns > kind->raised_max_ns ? record->raised_ns
									      : kind->raised_max_ns;
	}
}

static int compare_kinds(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->host != y->host) {
		return x->host < y->host ? -1 : 1;
	}
	if (x->soft != y->soft) {
		return x->soft - y->soft;
	}
	return x->number < y->number ? -1 : x->number > y->number;
}

enum status irqs_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct kind *kinds = calloc(MAX_KINDS, sizeof(*kinds));
	struct state_irq *out;
	uint32_t i, n = 0;

	if (!kinds) {
		return STATUS_NO_MEMORY;
	}
	for (i = series_from(&cx->irqs, from_ns + 1); i < cx->irqs.n; i++) {
		const struct irq_record *record = series_at(&cx->irqs, i);
		struct kind *kind;

		if (record->end_ns > at_ns) {
			break;
		}
		kind = find_kind(kinds, &n, record);
		if (kind) {
			count_irq(kind, record);
		}
	}
	qsort(kinds, n, sizeof(*kinds), compare_kinds);
	out = snapshot_alloc(snapshot, (n + 1) * sizeof(*out));
	for (i = 0; out && i < n; i++) {
		const struct kind *k = &kinds[i];
		const char *soft = k->soft ? softirq_name((uint64_t)k->number) : NULL;

		out[i] = (struct state_irq){
				.host = snapshot_text(snapshot, cx->registry->hosts[k->host].name),
				.name = soft ? soft : show_names(cx, k, snapshot),
				.soft = k->soft,
				.number = k->number,
				.count = k->count,
				.total_ns = k->total_ns,
				.min_ns = k->min_ns,
				.max_ns = k->max_ns,
				.raised = k->raised,
				.raise_mean_ns = k->raised ? k->raised_total_ns / k->raised : 0,
				.raise_max_ns = k->raised_max_ns};
	}
	snapshot->state.n_irqs = out ? n : 0;
	snapshot->state.irqs = out;
	free(kinds);
	return out ? STATUS_OK : STATUS_NO_MEMORY;
}
