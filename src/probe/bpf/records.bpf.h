/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Records in the ring: reserving, filling, submitting. */

/* In the ring of this CPU; without room the event is counted in `lost_here`. */
static __always_inline void *reserve_or_count(__u64 size, __u64 *lost_here)
{
	__u32 cpu = bpf_get_smp_processor_id();
	enum probe_state now = READ_ONCE(state);
	void *own = now == PROBE_RECORD ? bpf_map_lookup_elem(&rings, &cpu) : 0;
	void *record = own ? bpf_ringbuf_reserve(own, size, 0) : 0;

	if (!record && (now == PROBE_RECORD || now == PROBE_DROP) && cpu < PROBE_CPUS) {
		__sync_fetch_and_add(&lost_here[cpu], 1);
	}
	return record;
}

static __always_inline void *reserve(__u64 size)
{
	return reserve_or_count(size, lost);
}

static __always_inline void begin(struct probe_head *head, enum probe_event event, __u16 bytes)
{
	head->event = event;
	head->bytes = bytes;
	head->syscall = 0;
	head->ts_ns = bpf_ktime_get_ns();
}

/*
 * Reserves `record`, of an event without strings; leaves the program if there is no room, or the
 * event is not chosen of the threads that it names.
 */
#define RECORD(name) RECORD_OF(name, 0, 0)
#define RECORD_OF(name, first, second)                                                             \
	struct {                                                                                   \
		struct probe_head head;                                                            \
		struct body_##name body;                                                           \
	} *record;                                                                                 \
	if (!is_chosen(PROBE_##name, first, second)) {                                             \
		return 0;                                                                          \
	}                                                                                          \
	record = reserve(sizeof(*record));                                                         \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, PROBE_##name, sizeof(record->body))

/* One with a string of at most `room` bytes. */
#define RECORD_TEXT(name, room)                                                                    \
	struct {                                                                                   \
		struct probe_head head;                                                            \
		struct body_##name body;                                                           \
		char text[room];                                                                   \
	} *record;                                                                                 \
	if (!is_chosen(PROBE_##name, 0, 0)) {                                                      \
		return 0;                                                                          \
	}                                                                                          \
	record = reserve(sizeof(*record));                                                         \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, PROBE_##name, sizeof(record->body))

#define SUBMIT() bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP)

#define PUT_TEXT(from)                                                                             \
	do {                                                                                       \
		long n = bpf_probe_read_kernel_str(record->text, sizeof(record->text), from);      \
		if (n <= 0) {                                                                      \
			record->text[0] = 0;                                                       \
			n = 1;                                                                     \
		}                                                                                  \
		record->head.bytes += (__u16)n;                                                    \
	} while (0)

#define PUT_COMM(to, task) bpf_probe_read_kernel(to, PROBE_COMM, (task)->comm)
