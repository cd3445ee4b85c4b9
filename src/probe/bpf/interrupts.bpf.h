/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Events of interrupts and timers. */

SEC("tp_btf/irq_handler_entry")
int on_irq_handler_entry(__u64 *ctx)
{
	struct irqaction *action = (void *)ctx[1];

	SERVES(irq, true);
	if (!ours_runs()) {
		return 0;
	}
	RECORD_TEXT(irq_handler_entry, PROBE_NAME);
	record->body.irq = (int)ctx[0];
	PUT_TEXT(action->name);
	SUBMIT();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_handler_exit(__u64 *ctx)
{
	SERVES(irq, false);
	if (!ours_runs()) {
		return 0;
	}
	RECORD(irq_handler_exit);
	record->body.irq = (int)ctx[0];
	record->body.ret = (int)ctx[2];
	SUBMIT();
	return 0;
}

#define SOFTIRQ(name, note)                                                                        \
	SEC("tp_btf/softirq_" #name)                                                               \
	int on_irq_softirq_##name(__u64 *ctx)                                                      \
	{                                                                                          \
		note;                                                                              \
		if (!ours_runs()) {                                                                \
			return 0;                                                                  \
		}                                                                                  \
		RECORD(irq_softirq_##name);                                                        \
		record->body.vec = (__u32)ctx[0];                                                  \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

SOFTIRQ(raise, )
SOFTIRQ(entry, serve_softirq((int)ctx[0]))
SOFTIRQ(exit, serve_softirq(-1))

SEC("tp_btf/hrtimer_start")
int on_timer_hrtimer_start(__u64 *ctx)
{
	struct hrtimer *timer = (void *)ctx[0];

	if (!ours_runs()) {
		return 0;
	}
	RECORD(timer_hrtimer_start);
	record->body.hrtimer = (__u64)timer;
	record->body.function = (__u64)timer->function;
	record->body.expires = timer->node.expires;
	record->body.softexpires = timer->_softexpires;
	record->body.mode = (__u32)ctx[1];
	SUBMIT();
	return 0;
}

#define HRTIMER_OF(name, note)                                                                     \
	SEC("tp_btf/hrtimer_" #name)                                                               \
	int on_timer_hrtimer_##name(__u64 *ctx)                                                    \
	{                                                                                          \
		note;                                                                              \
		if (!ours_runs()) {                                                                \
			return 0;                                                                  \
		}                                                                                  \
		RECORD(timer_hrtimer_##name);                                                      \
		record->body.hrtimer = ctx[0];                                                     \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

HRTIMER_OF(cancel, )
HRTIMER_OF(expire_exit, SERVES(timer, false))

SEC("tp_btf/hrtimer_expire_entry")
int on_timer_hrtimer_expire_entry(__u64 *ctx)
{
	struct hrtimer *timer = (void *)ctx[0];

	SERVES(timer, true);
	if (!ours_runs()) {
		return 0;
	}
	RECORD(timer_hrtimer_expire_entry);
	record->body.hrtimer = (__u64)timer;
	bpf_probe_read_kernel(&record->body.now, sizeof(record->body.now), (void *)ctx[1]);
	record->body.function = (__u64)timer->function;
	SUBMIT();
	return 0;
}
