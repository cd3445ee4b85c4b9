/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Calls of functions: sums where only these are wanted, and the probes themselves. */

bool summing; /* instead of recording each call */

struct frames {
	__u32 depth; /* functions that are open; of more than PROBE_FRAMES the innermost are not known */
	__u32 functions[PROBE_FRAMES];
	__u64 since_ns[PROBE_FRAMES], stack[PROBE_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* thread */
	__type(value, struct frames);
} stacks SEC(".maps");

/*
 * Two of them: calls are added to one, while the other is read and emptied. Whoever was still adding
 * to that when they changed has long ended by then.
 */
struct sums {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct probe_call);
	__type(value, struct probe_sum);
} sums SEC(".maps"), other_sums SEC(".maps");

bool adds_to_other;

/* What a new thread begins with, and a new sum: both are too large for the stack. */
static const struct frames no_frames;
static const struct probe_sum no_sum;

/* In one register, so that the verifier sees the bound of what is used. */
#define IN_FRAMES(at) __asm__ volatile("%0 &= 31" : "+r"(at))

/*
 * Functions whose exits were not seen (attached later, left by a jump) are no more open once one is
 * entered that does not stand below them on the stack.
 */
static __always_inline int open_frame(__u64 thread, __u32 function, __u64 stack)
{
	struct frames *frames = bpf_map_lookup_elem(&stacks, &thread);
	__u64 depth;

	if (!frames) {
		bpf_map_update_elem(&stacks, &thread, &no_frames, 0);
		frames = bpf_map_lookup_elem(&stacks, &thread);
	}
	if (!frames) {
		__sync_fetch_and_add(&lost_functions[0], 1);
		return 0;
	}
	depth = frames->depth <= PROBE_FRAMES ? frames->depth : PROBE_FRAMES;
	for (int i = 0; i < PROBE_FRAMES && depth > 0; i++) {
		__u64 above = depth - 1;

		IN_FRAMES(above);
		if (frames->stack[above] > stack) {
			break;
		}
		depth = above;
		frames->depth = (__u32)depth;
	}
	frames->depth++;
	if (depth < PROBE_FRAMES) {
		IN_FRAMES(depth);
		frames->functions[depth] = function;
		frames->stack[depth] = stack;
		frames->since_ns[depth] = bpf_ktime_get_ns();
	}
	return 0;
}

static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 bucket = 0;

	for (int shift = 16; shift > 0; shift /= 2) {
		if (ns >> shift) {
			ns >>= shift;
			bucket += (__u32)shift;
		}
	}
	return ns > 1 || bucket >= PROBE_BUCKETS ? PROBE_BUCKETS - 1 : bucket;
}

static __always_inline void add_to(void *map, const struct probe_call *call, __u64 ns)
{
	struct probe_sum *sum = bpf_map_lookup_elem(map, call);

	if (!sum) {
		bpf_map_update_elem(map, call, &no_sum, 1 /* BPF_NOEXIST */);
		sum = bpf_map_lookup_elem(map, call);
	}
	if (!sum) {
		__sync_fetch_and_add(&lost_functions[0], 1);
		return;
	}
	sum->min_ns = sum->count == 0 || ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	sum->count++;
	sum->sum_ns += ns;
	sum->squares += (ns >> 10) * (ns >> 10);
	sum->buckets[bucket_of(ns) & (PROBE_BUCKETS - 1)]++;
}

static __always_inline void add_call(const struct probe_call *call, __u64 ns)
{
	if (READ_ONCE(adds_to_other)) {
		add_to(&other_sums, call, ns);
	} else {
		add_to(&sums, call, ns);
	}
}

/* The innermost frame of that function ends, and whatever was left open within it. */
static __always_inline int close_frame(__u64 thread, __u32 function)
{
	struct frames *frames = bpf_map_lookup_elem(&stacks, &thread);
	struct probe_call call = {.function = function};
	struct body_function caller;
	__u64 at, above;

	if (!frames || frames->depth == 0) {
		return 0;
	}
	if (frames->depth > PROBE_FRAMES) {
		frames->depth--;
		return 0;
	}
	at = frames->depth;
	for (int i = 0; i < PROBE_FRAMES && at > 0; i++) {
		at--;
		IN_FRAMES(at);
		if (frames->functions[at] == function) {
			break;
		}
		if (at == 0) {
			return 0; /* it was entered before it was recorded */
		}
	}
	IN_FRAMES(at);
	frames->depth = (__u32)at;
	if (at > 0) {
		above = at - 1;
		IN_FRAMES(above);
		call.caller = frames->functions[above] + 1;
	}
	put_caller(&caller);
	call.vpid = caller.vpid;
	add_call(&call, bpf_ktime_get_ns() - frames->since_ns[at]);
	return 0;
}

struct entry_plain {
	struct probe_head head;
	struct body_function body;
};

struct entry_arguments {
	struct probe_head head;
	struct body_function body;
	__u64 arguments[PROBE_ARGUMENTS];
};

struct entry_text {
	struct probe_head head;
	struct body_function body;
	__u64 arguments[PROBE_ARGUMENTS];
	char text[PROBE_STRING];
};

struct exit_value {
	struct probe_head head;
	struct body_function body;
	__s64 value;
};

#define FUNCTION(type, event, hook)                                                                \
	struct type *record = reserve_or_count(sizeof(*record), lost_functions);                   \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, event, sizeof(*record) - sizeof(record->head));                       \
	record->head.syscall = (__s32)((hook) / 2);                                                \
	put_caller(&record->body)

#define PUT_REGISTERS(regs, to)                                                                    \
	do {                                                                                       \
		(to)[0] = (regs)->di;                                                              \
		(to)[1] = (regs)->si;                                                              \
		(to)[2] = (regs)->dx;                                                              \
		(to)[3] = (regs)->cx;                                                              \
		(to)[4] = (regs)->r8;                                                              \
		(to)[5] = (regs)->r9;                                                              \
	} while (0)

static __always_inline int enter_plain(__u32 hook)
{
	FUNCTION(entry_plain, PROBE_FUNCTION_ENTRY, hook);
	SUBMIT();
	return 0;
}

static __always_inline int enter_arguments(struct pt_regs *regs, __u32 hook)
{
	FUNCTION(entry_arguments, PROBE_FUNCTION_ENTRY, hook);
	PUT_REGISTERS(regs, record->arguments);
	SUBMIT();
	return 0;
}

static __always_inline int enter_text(struct pt_regs *regs, __u32 hook, __u32 at)
{
	long n;

	FUNCTION(entry_text, PROBE_FUNCTION_ENTRY, hook);
	PUT_REGISTERS(regs, record->arguments);
	n = bpf_probe_read_user_str(record->text, sizeof(record->text),
			(void *)record->arguments[at < PROBE_ARGUMENTS ? at : 0]);
	if (n <= 0) {
		record->text[0] = 0;
	}
	SUBMIT();
	return 0;
}

SEC("uprobe")
int on_function_entry(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 hook = hook_of(cookie, bpf_get_current_pid_tgid(), true), bits = cookie >> 32;

	if (hook >= PROBE_HOOKS) {
		return 0;
	}
	if (summing) {
		return open_frame(bpf_get_current_pid_tgid(), hook / 2, regs->sp);
	}
	if (bits & PROBE_COOKIE_TEXT) {
		return enter_text(regs, hook, PROBE_COOKIE_REGISTER(bits));
	}
	return bits & PROBE_COOKIE_ARGUMENTS ? enter_arguments(regs, hook) : enter_plain(hook);
}

SEC("uprobe")
int on_function_exit(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 hook = hook_of(cookie, bpf_get_current_pid_tgid(), false);

	if (hook >= PROBE_HOOKS) {
		return 0;
	}
	if (summing) {
		return close_frame(bpf_get_current_pid_tgid(), hook / 2);
	}
	FUNCTION(exit_value, PROBE_FUNCTION_EXIT, hook);
	record->value = (__s64)regs->ax;
	SUBMIT();
	return 0;
}

/* Run by the probe, as itself: its number as the kernel has it, whatever its pid namespace. */
SEC("raw_tp/sys_enter")
int tell_own(void *ctx)
{
	own_tgid = (int)(bpf_get_current_pid_tgid() >> 32);
	begin_clocks();
	return 0;
}
