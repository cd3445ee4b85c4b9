/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. System calls, and what their arguments point to. */

/* The first `n`: none, PROBE_FEW or all. */
static __always_inline void get_arguments(struct pt_regs *regs, __u64 *arguments, int n)
{
	if (n > 0) {
		arguments[0] = regs->di;
		arguments[1] = regs->si;
		arguments[2] = regs->dx;
	}
	if (n > PROBE_FEW) {
		arguments[3] = regs->r10;
		arguments[4] = regs->r8;
		arguments[5] = regs->r9;
	}
}

/* Only of calls of 64-bit programs that are known. */
static __always_inline struct probe_copies *copies_of(long number, bool compat)
{
	__u32 key = (__u32)number;

	return !compat && number >= 0 && number < PROBE_SYSCALLS
			       ? bpf_map_lookup_elem(&copies, &key)
			       : 0;
}

static __always_inline __u64 argument(const __u64 *arguments, __u8 number)
{
	return number > 0 && number <= PROBE_ARGUMENTS ? arguments[(number - 1) & 7] : 0;
}

/* A record of one of a few sizes, as those of the ring buffer are to be known beforehand. */
#define PUT_COPIED(room, what, n_numbers)                                                          \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			char bytes[room];                                                          \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, what, (__u16)size);                                   \
			record->head.syscall = (__s32)number;                                      \
			bpf_probe_read_kernel(record->bytes, room,                                 \
					(char *)&at->copied - (n_numbers) * sizeof(__u64));        \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

#define PUT_COPIED_ANY(what, n_numbers)                                                            \
	do {                                                                                       \
		__u32 size = used + sizeof(at->copied) + (n_numbers) * sizeof(__u64);              \
		if (size <= 112) {                                                                 \
			PUT_COPIED(112, what, n_numbers);                                          \
		} else if (size <= 240) {                                                          \
			PUT_COPIED(240, what, n_numbers);                                          \
		} else if (size <= 1008) {                                                         \
			PUT_COPIED(1008, what, n_numbers);                                         \
		} else {                                                                           \
			PUT_COPIED(PROBE_LARGEST, what, n_numbers);                                \
		}                                                                                  \
	} while (0)

/* Copies `n` bytes of a socket address; they follow `used` others. */
static __always_inline __u32 copy_address(
		struct copying *at, __u32 used, __u64 address, __u32 length)
{
	__u64 n = length > PROBE_ADDRESS ? PROBE_ADDRESS : length;

	/* In one register, so that the verifier sees the bound of what is used. */
	__asm__ volatile("%0 &= 31" : "+r"(n));
	if (address && n >= 2 && used <= PROBE_TEXTS * PROBE_PATH &&
			!bpf_probe_read_user(&at->bytes[used], n, (void *)address)) {
		at->copied.address_bytes = (__u16)n;
		return used + (__u32)n;
	}
	return used;
}

/* The strings and the address that a call is given. */
static __always_inline int enter_copied(
		struct pt_regs *regs, long number, const struct probe_copies *what)
{
	__u32 zero = 0, used = 0;
	struct copying *at = bpf_map_lookup_elem(&copying, &zero);
	__u64 *arguments;

	if (!at) {
		return 0;
	}
	arguments = at->numbers.arguments;
	get_arguments(regs, arguments, PROBE_ARGUMENTS);
	at->copied = (struct probe_copied){.pair = 0};
	for (int i = 0; i < PROBE_TEXTS; i++) {
		__u64 text = argument(arguments, what->text[i]);
		long n = 0;

		if (text && used <= (PROBE_TEXTS - 1) * PROBE_PATH) {
			n = bpf_probe_read_user_str(&at->bytes[used], PROBE_PATH, (void *)text);
		}
		if (n > 0 && n <= PROBE_PATH) {
			at->copied.text_bytes[i] = (__u16)n;
			used += (__u32)n;
		}
	}
	if (what->address) {
		used = copy_address(at, used, argument(arguments, what->address),
				(__u32)argument(arguments, what->address + 1));
	}
	PUT_COPIED_ANY(PROBE_SYSCALL_ENTRY, 6);
	return 0;
}

/* The entry of a call with `n` of its arguments. */
#define PUT_ENTRY(n)                                                                               \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			__u64 arguments[n];                                                        \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, event, sizeof(record->arguments));                    \
			record->head.syscall = (__s32)number;                                      \
			get_arguments(regs, record->arguments, n);                                 \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline int tell_entry(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long number = (long)ctx[1];
	bool compat = is_compat();
	struct probe_copies *what = copies_of(number, compat);
	enum probe_event event = compat ? PROBE_COMPAT_ENTRY : PROBE_SYSCALL_ENTRY;

	if (!is_chosen_syscall(number, compat)) {
		return 0;
	}
	enter_return(number);
	if (what && (what->text[0] || what->address)) {
		return enter_copied(regs, number, what);
	}
	if (what && what->entry == 0) {
		PUT_ENTRY(0);
	} else if (what && what->entry <= PROBE_FEW) {
		PUT_ENTRY(PROBE_FEW);
	} else {
		PUT_ENTRY(PROBE_ARGUMENTS);
	}
	return 0;
}

/* What a call that succeeded filled in. */
static __always_inline int exit_copied(
		struct pt_regs *regs, long number, long ret, const struct probe_copies *what)
{
	__u32 one = 1, used = 0, length = 0;
	struct copying *at = bpf_map_lookup_elem(&copying, &one);
	__u64 *arguments, from;

	if (!at) {
		return 0;
	}
	arguments = at->numbers.arguments;
	at->numbers.ret = ret;
	get_arguments(regs, arguments, PROBE_ARGUMENTS);
	at->copied = (struct probe_copied){.pair = 0};
	from = argument(arguments, what->pair_out);
	if (from && ret >= 0 && !bpf_probe_read_user(at->bytes, 8, (void *)from)) {
		at->copied.pair = 1;
		used = 8;
	}
	from = argument(arguments, what->address_out);
	if (from && ret >= 0 &&
			!bpf_probe_read_user(&length, sizeof(length),
					(void *)argument(arguments, what->address_out + 1))) {
		used = copy_address(at, used, from, length);
	}
	PUT_COPIED_ANY(PROBE_SYSCALL_EXIT, 7);
	return 0;
}

/* The exit of a call with `n` of its arguments. */
#define PUT_EXIT(n)                                                                                \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			__s64 ret;                                                                 \
			__u64 arguments[n];                                                        \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, event, sizeof(*record) - sizeof(record->head));       \
			record->head.syscall = (__s32)number;                                      \
			record->ret = ret;                                                         \
			get_arguments(regs, record->arguments, n);                                 \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline int tell_exit(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long ret = (long)ctx[1], number = (long)regs->orig_ax;
	bool compat = is_compat();
	struct probe_copies *what = copies_of(number, compat);
	enum probe_event event = compat ? PROBE_COMPAT_EXIT : PROBE_SYSCALL_EXIT;

	if (!is_chosen_syscall(number, compat) ||
			(number < 0 && !compat && !leave_return())) {
		return 0;
	}
	if (what && (what->pair_out || what->address_out)) {
		return exit_copied(regs, number, ret, what);
	}
	if (what && what->exit == 0) {
		PUT_EXIT(0);
	} else if (what && what->exit <= PROBE_FEW) {
		PUT_EXIT(PROBE_FEW);
	} else {
		PUT_EXIT(PROBE_ARGUMENTS);
	}
	return 0;
}

/*
 * A program for each of these, where they are chosen one by one; where all are recorded one at either
 * end of a call, since to run a program costs as much as to record a call. What is told of a socket
 * stands before the entry of the call that sends, and behind the exit of the one that received.
 */
#define AT_CALL(end, event, tell)                                                                  \
	SEC("tp_btf/sys_" #end)                                                                    \
	int on_##event(__u64 *ctx)                                                                 \
	{                                                                                          \
		return is_wanted() ? tell(ctx) : 0;                                                \
	}

AT_CALL(enter, socket_send, tell_send)
AT_CALL(enter, reading, note_read) /* for socket_recv */
AT_CALL(enter, sys_enter, tell_entry)
AT_CALL(exit, sys_exit, tell_exit)
AT_CALL(exit, socket_recv, tell_recv)
AT_CALL(exit, socket_listen, tell_listen)
AT_CALL(exit, socket_connect, tell_connect)

SEC("tp_btf/sys_enter")
int on_all_enter(__u64 *ctx)
{
	if (is_wanted()) {
		tell_runs();
		tell_send(ctx);
		tell_entry(ctx);
		note_read(ctx);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int on_all_exit(__u64 *ctx)
{
	if (is_wanted()) {
		tell_runs();
		tell_exit(ctx);
		tell_recv(ctx);
		tell_listen(ctx);
		tell_connect(ctx);
	}
	return 0;
}
