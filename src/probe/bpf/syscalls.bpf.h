/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. System calls, and what their arguments point to. */

#define S_IFMT      0170000
#define S_IFSOCK    0140000
#define UNIX        1
#define INET        2
#define INET6       10
#define STREAM      1
#define DATAGRAM     2
#define SEQPACKET   5
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* The other end of a datagram: struct sockaddr_in or sockaddr_in6. */
struct name {
	__u16 family;
	__be16 port;
	__be32 address, ipv6[4]; /* ipv6 begins where IPv4's eight bytes of nothing do */
};

/* The header of a message in a program's memory, as far as it is read. */
struct message {
	const struct name *name;
	__s32 name_length;
};

/*
 * The socket behind a descriptor of the thread that runs; NULL: it is none that connections or
 * datagrams of others come by. Sets its type.
 */
static __always_inline struct sock *socket_of(unsigned int fd, short *of_type)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = 0;
	struct socket *socket;
	short type;

	if (!table || fd >= BPF_CORE_READ(table, max_fds)) {
		return 0;
	}
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[fd]) || !file ||
			(BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK) {
		return 0;
	}
	socket = BPF_CORE_READ(file, private_data);
	*of_type = type = socket ? BPF_CORE_READ(socket, type) : 0;
	return type == STREAM || type == SEQPACKET || type == DATAGRAM ? BPF_CORE_READ(socket, sk)
								       : 0;
}

static __always_inline __u64 high_half(const __be32 *words)
{
	return (__u64)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]);
}

static __always_inline __u64 low_half(const __be32 *words)
{
	return (__u64)__builtin_bswap32(words[2]) << 32 | __builtin_bswap32(words[3]);
}

#define MAPPED(address) (0xffff00000000ull | __builtin_bswap32(address))

static __always_inline __u64 inode_of(struct sock *sk)
{
	struct socket *socket = sk ? BPF_CORE_READ(sk, sk_socket) : 0;

	return socket ? BPF_CORE_READ(socket, file, f_inode, i_ino) : 0;
}

/* The peer of a datagram is told by its call, unless the socket is connected. */
static __always_inline void put_peer(struct body_socket_recv *body, const struct name *peer)
{
	body->dport = __builtin_bswap16(peer->port);
	if (peer->family == INET6) {
		body->daddr_high = high_half(peer->ipv6);
		body->daddr_low = low_half(peer->ipv6);
	} else {
		body->daddr_high = 0;
		body->daddr_low = MAPPED(peer->address);
	}
}

/* The events of sockets have the same fields. */
static __always_inline void put_socket(struct body_socket_recv *body, struct sock *sk, short type,
		bool sends, __u64 length)
{
	unsigned short family = BPF_CORE_READ(sk, __sk_common.skc_family);

	body->family = family;
	body->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	body->sport = body->dport = 0;
	body->saddr_high = body->saddr_low = body->daddr_high = body->daddr_low = 0;
	body->named = body->position = 0;
	body->length = length;
	body->type = (__u32)type;
	body->tid = (__s32)bpf_get_current_pid_tgid();
	if (family == UNIX) {
		struct unix_sock *own = (void *)sk;

		body->saddr_low = inode_of(sk);
		body->daddr_low = inode_of(BPF_CORE_READ(own, peer));
		body->named = BPF_CORE_READ(own, addr) != 0;
		return;
	}
	body->sport = BPF_CORE_READ(sk, __sk_common.skc_num);
	body->dport = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (family == INET6) {
		struct in6_addr address;

		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_rcv_saddr);
		body->saddr_high = high_half(address.in6_u.u6_addr32);
		body->saddr_low = low_half(address.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_daddr);
		body->daddr_high = high_half(address.in6_u.u6_addr32);
		body->daddr_low = low_half(address.in6_u.u6_addr32);
	} else {
		body->saddr_low = MAPPED(BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		body->daddr_low = MAPPED(BPF_CORE_READ(sk, __sk_common.skc_daddr));
	}
	if (BPF_CORE_READ(sk, sk_protocol) == PROTOCOL_TCP) {
		struct tcp_sock *tcp = (void *)sk;

		body->position = sends ? BPF_CORE_READ(tcp, write_seq)
				       : BPF_CORE_READ(tcp, copied_seq);
	}
}

/* Whether an event tells the ends of a socket, those of a stream both. */
static __always_inline bool has_ends(struct sock *sk)
{
	unsigned short family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	return family == UNIX || family == INET || family == INET6;
}

/*
 * Both of a datagram's socket. Where it is not connected the peer is read from where the
 * program's memory names it (NULL: nowhere); datagrams of Unix sockets are left out.
 */
static __always_inline bool datagram_has_ends(
		struct sock *sk, const struct name *at, struct name *peer)
{
	unsigned short family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	peer->family = 0;
	if (family != INET && family != INET6) {
		return false;
	}
	if (BPF_CORE_READ(sk, __sk_common.skc_dport)) {
		return true;
	}
	return at && !bpf_probe_read_user(peer, sizeof(*peer), at) &&
	       (peer->family == INET || peer->family == INET6);
}

/* A program of its own for each of them, at the calls that it is about. */
#define SOCKET_EVENT(event, length, named)                                                         \
	do {                                                                                       \
		short type = 0;                                                                    \
		struct name peer = {.family = 0};                                                  \
		struct sock *sk = socket_of((unsigned int)regs->di, &type);                        \
		if (type == DATAGRAM ? datagram_has_ends(sk, named, &peer) : has_ends(sk)) {       \
			RECORD(event);                                                             \
			put_socket((void *)&record->body, sk, type, 0, length);                    \
			if (peer.family) {                                                         \
				put_peer((void *)&record->body, &peer);                            \
			}                                                                          \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline const struct name *named_by(__u64 message)
{
	struct message header;

	return message && bpf_probe_read_user(&header, sizeof(header), (void *)message) == 0
			       ? header.name
			       : 0;
}

static __always_inline bool is_compat(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

/* Of the probe's own calls, and of processes that nobody asked for, nothing is told. */
static __always_inline bool is_wanted(void)
{
	return !is_own() && ours_runs();
}

/* Before the call sends: so that who receives it is behind in time, whoever runs first. */
static __always_inline int tell_send(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	__u64 length = 0;

	switch ((long)ctx[1]) {
	case 1:  /* write */
	case 44: /* sendto */
		length = regs->dx;
		break;
	case 20:  /* writev */
	case 40:  /* sendfile64 */
	case 46:  /* sendmsg */
	case 307: /* sendmmsg */
		break;
	default:
		return 0;
	}
	if (!is_compat()) {
		short type = 0;
		struct sock *sk = socket_of((unsigned int)regs->di, &type);

		if (type != DATAGRAM && has_ends(sk)) {
			RECORD(socket_send);
			put_socket((void *)&record->body, sk, type, 1, length);
			SUBMIT();
		}
	}
	return 0;
}

#define UDP_HEADER 8 /* bytes: both ports, length with it, checksum */

/* What stands in front of a datagram: where it goes. False: it is none, or a later piece of one. */
static __always_inline bool read_peer(struct sk_buff *packet, struct name *peer, __u64 *length)
{
	unsigned char *head = BPF_CORE_READ(packet, head);
	unsigned char *network = head + BPF_CORE_READ(packet, network_header);
	unsigned char *transport = head + BPF_CORE_READ(packet, transport_header);
	unsigned char bytes[24];
	__be16 udp[3];

	peer->family = 0;
	if (bpf_probe_read_kernel(udp, sizeof(udp), transport) ||
			bpf_probe_read_kernel(bytes, sizeof(bytes), network)) {
		return false;
	}
	if (bytes[0] >> 4 == 4 && bytes[9] == PROTOCOL_UDP && !(bytes[6] & 0x1f) && !bytes[7]) {
		peer->family = INET;
		bpf_probe_read_kernel(&peer->address, sizeof(peer->address), network + 16);
	} else if (bytes[0] >> 4 == 6 && bytes[6] == PROTOCOL_UDP) {
		peer->family = INET6;
		bpf_probe_read_kernel(peer->ipv6, sizeof(peer->ipv6), network + 24);
	}
	peer->port = udp[1];
	*length = (__u16)__builtin_bswap16(udp[2]) - UDP_HEADER;
	return peer->family != 0;
}

/*
 * A datagram is told once it is a packet: the first send of a socket gives it its port, within the
 * call, and one call may send several.
 */
SEC("tp_btf/net_dev_queue")
int on_datagram(__u64 *ctx)
{
	struct sk_buff *packet = (void *)ctx[0];
	struct name peer;
	struct sock *sk;
	__u64 length;

	if (!is_wanted()) {
		return 0;
	}
	/* Most packets are others; of a connection that is being made there is no whole socket. */
	sk = BPF_CORE_READ(packet, sk);
	if (sk && BPF_CORE_READ(sk, sk_type) == DATAGRAM && read_peer(packet, &peer, &length)) {
		RECORD(socket_send);
		put_socket((void *)&record->body, sk, DATAGRAM, 1, length);
		put_peer((void *)&record->body, &peer);
		SUBMIT();
	}
	return 0;
}

#define PEEK        2 /* MSG_PEEK */
#define IN_PROGRESS 115

static __always_inline int tell_recv(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	const struct name *named = 0;
	long ret = (long)ctx[1];

	switch ((long)regs->orig_ax) {
	case 45: /* recvfrom */
		if (regs->r10 & PEEK) {
			return 0;
		}
		named = (void *)regs->r8;
		break;
	case 47: /* recvmsg */
		if (regs->dx & PEEK) {
			return 0;
		}
		named = named_by(regs->si);
		break;
	case 299: /* recvmmsg: of its first message */
		if (regs->r10 & PEEK || ret == 0) {
			return 0;
		}
		named = named_by(regs->si);
		break;
	case 0:  /* read */
	case 19: /* readv */
		break;
	default:
		return 0;
	}
	if (ret >= 0 && !is_compat()) {
		SOCKET_EVENT(socket_recv, (__u64)ret, named);
	}
	return 0;
}

static __always_inline int tell_listen(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];

	if ((regs->orig_ax == 50 || regs->orig_ax == 49) && ctx[1] == 0 && !is_compat()) {
		short type = 0;
		struct sock *sk = socket_of((unsigned int)regs->di, &type);

		/* Datagrams come to whoever has bound a port, streams to who listens. */
		if ((type == DATAGRAM) == (regs->orig_ax == 49) && has_ends(sk)) {
			RECORD(socket_listen);
			put_socket((void *)&record->body, sk, type, 0, 0);
			SUBMIT();
		}
	}
	return 0;
}

static __always_inline int tell_connect(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long ret = (long)ctx[1];

	if (regs->orig_ax == 42 && (ret == 0 || ret == -IN_PROGRESS) && !is_compat()) {
		SOCKET_EVENT(socket_connect, 0, (const struct name *)0);
	}
	return 0;
}

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
