/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Sockets: what is sent, received, listened on and connected by system calls. */

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

/* The events of sockets have the same fields, and socket_recv one behind them. */
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

SEC("tp_btf/tcp_retransmit_skb")
int on_socket_retransmit(__u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct sk_buff *packet = (void *)ctx[1];

	if (!has_ends(sk)) {
		return 0;
	}
	RECORD(socket_retransmit);
	put_socket((void *)&record->body, sk, STREAM, 1, packet->len);
	record->body.position = BPF_CORE_READ((struct tcp_sock *)sk, snd_una);
	record->body.tid = -1; /* nobody's doing */
	SUBMIT();
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

/*
 * What a call reads was there before, or comes while it waits. How long it was there the kernel
 * tells only until it is read: the entry of the call notes it for the exit, on the CPU. Whose
 * thread was switched from meanwhile, has waited, and may come out elsewhere: then it is not known.
 */
struct reading {
	__u64 thread;
	__u64 switches;  /* how often that has left a CPU so far */
	__u64 since_ns;  /* 0: not known, or nothing was there */
	struct sock *sk; /* NULL: it does not read from a socket */
	short type;
};
static struct reading readings[PROBE_CPUS];

static __always_inline struct reading *reading_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu < PROBE_CPUS ? &readings[cpu] : 0;
}

static __always_inline __u64 switches_so_far(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* When the probe began, by both clocks of the kernel. */
static __u64 begun_ns, begun_ticks;

static __always_inline void begin_clocks(void)
{
	begun_ns = bpf_ktime_get_ns();
	begun_ticks = bpf_jiffies64();
}

/* How long a tick takes; 0: they have not gone on for long enough to tell. */
static __always_inline __u64 tick_ns(__u64 now_ns, __u64 ticks)
{
	__u64 passed = ticks - begun_ticks;

	return !begun_ns || passed < 25 ? 0 : (now_ns - begun_ns) / passed;
}

/*
 * Since when what is to be read from it has been there, at the latest: since the connection last had to
 * do with a packet, or since the last one with data came, by the ticks that have gone by since. An
 * acknowledgement that was put off is sent 40 ms later, which the first clock alone takes for news.
 */
static __always_inline __u64 queued_since(struct sock *sk)
{
	struct tcp_sock *tcp = (void *)sk;
	struct inet_connection_sock *connection = (void *)sk;
	__u64 now_ns, ticks, packet_ns, data_ns;
	__u32 passed;

	if (BPF_CORE_READ(sk, sk_protocol) != PROTOCOL_TCP ||
			BPF_CORE_READ(tcp, copied_seq) == BPF_CORE_READ(tcp, rcv_nxt)) {
		return 0;
	}
	now_ns = bpf_ktime_get_ns();
	ticks = bpf_jiffies64();
	passed = (__u32)ticks - BPF_CORE_READ(connection, icsk_ack.lrcvtime);
	packet_ns = BPF_CORE_READ(tcp, tcp_clock_cache);
	data_ns = now_ns;
	if (passed > 1 && passed < 1u << 31) {
		data_ns -= (passed - 1) * tick_ns(now_ns, ticks);
	}
	return packet_ns && packet_ns < data_ns ? packet_ns : data_ns;
}

static __always_inline int note_read(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	struct reading *here;

	switch ((long)ctx[1]) {
	case 0:   /* read */
	case 19:  /* readv */
	case 45:  /* recvfrom */
	case 47:  /* recvmsg */
	case 299: /* recvmmsg */
		break;
	default:
		return 0;
	}
	here = reading_here();
	if (here && !is_compat()) {
		here->sk = socket_of((unsigned int)regs->di, &here->type);
		here->since_ns = here->sk && here->type == STREAM ? queued_since(here->sk) : 0;
		here->thread = bpf_get_current_pid_tgid();
		here->switches = switches_so_far();
	}
	return 0;
}

#define PEEK        2 /* MSG_PEEK */
#define IN_PROGRESS 115

static __always_inline int tell_recv(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	const struct name *named = 0;
	struct reading reading = {.thread = 0}, *here;
	struct name peer = {.family = 0};
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
	if (ret < 0 || is_compat()) {
		return 0;
	}
	here = reading_here();
	if (here) {
		reading = *here;
	}
	if (reading.thread != bpf_get_current_pid_tgid() || reading.switches != switches_so_far()) {
		reading.sk = socket_of((unsigned int)regs->di, &reading.type);
		reading.since_ns = 0;
	}
	if (reading.type == DATAGRAM ? datagram_has_ends(reading.sk, named, &peer)
				     : has_ends(reading.sk)) {
		RECORD(socket_recv);
		put_socket(&record->body, reading.sk, reading.type, 0, (__u64)ret);
		record->body.queued =
				reading.since_ns ? record->head.ts_ns - reading.since_ns : 0;
		if (peer.family) {
			put_peer(&record->body, &peer);
		}
		SUBMIT();
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
		short type = 0;
		struct sock *sk = socket_of((unsigned int)regs->di, &type);
		struct name peer;

		if (type == DATAGRAM ? datagram_has_ends(sk, 0, &peer) : has_ends(sk)) {
			RECORD(socket_connect);
			put_socket((void *)&record->body, sk, type, 0, 0);
			SUBMIT();
		}
	}
	return 0;
}
