/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Events of block devices. */

static __always_inline __u32 device_of(struct request *request)
{
	struct request___disk *before = (void *)request;
	struct gendisk *disk;

	if (bpf_core_field_exists(before->rq_disk)) {
		disk = BPF_CORE_READ(before, rq_disk);
	} else {
		disk = BPF_CORE_READ(request, q, disk);
	}
	return disk ? (__u32)BPF_CORE_READ(disk, major) << 20 |
					       (__u32)BPF_CORE_READ(disk, first_minor)
		    : 0;
}

/* What kind of request it is, in the bits of LTTng's field (lttng-modules, block.h). */
static __always_inline __u32 rwbs_of(unsigned int flags)
{
	enum { OP_READ, OP_WRITE, OP_FLUSH, OP_DISCARD, OP_SECURE_ERASE = 5, OP_MASK = 0xff };
	enum {
		RWBS_WRITE = 1,
		RWBS_DISCARD = 2,
		RWBS_READ = 4,
		RWBS_RAHEAD = 8,
		RWBS_SYNC = 32,
		RWBS_META = 64,
		RWBS_SECURE = 128,
		RWBS_FLUSH = 256,
		RWBS_FUA = 512,
		RWBS_PREFLUSH = 1024,
	};
	unsigned int op = flags & OP_MASK;
	__u32 bits = op == OP_READ           ? RWBS_READ
		     : op == OP_WRITE        ? RWBS_WRITE
		     : op == OP_FLUSH        ? RWBS_FLUSH
		     : op == OP_DISCARD      ? RWBS_DISCARD
		     : op == OP_SECURE_ERASE ? RWBS_DISCARD | RWBS_SECURE
					     : 0;

#define FLAG(name) (flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_##name) & 1)
	bits |= FLAG(RAHEAD) ? RWBS_RAHEAD : 0;
	bits |= FLAG(SYNC) ? RWBS_SYNC : 0;
	bits |= FLAG(META) ? RWBS_META : 0;
	bits |= FLAG(FUA) ? RWBS_FUA : 0;
	bits |= FLAG(PREFLUSH) ? RWBS_PREFLUSH : 0;
#undef FLAG
	return bits;
}

/* Requests that carry a driver's own command have no place on the disk. */
static __always_inline bool is_passthrough(unsigned int flags)
{
	unsigned int op = flags & 0xff;

	return op == 34 || op == 35; /* REQ_OP_DRV_IN, REQ_OP_DRV_OUT; before 5.12 two more */
}

static __always_inline __u64 sector_of(struct request *request)
{
	return is_passthrough(request->cmd_flags) || request->__sector == (__u64)-1
			       ? 0
			       : request->__sector;
}

SEC("tp_btf/block_rq_issue")
int on_block_rq_issue(__u64 *ctx)
{
	struct request *request = (void *)ctx[0];
	bool passthrough = is_passthrough(request->cmd_flags);

	RECORD_OF(block_rq_issue, (__s32)bpf_get_current_pid_tgid(), 0);
	record->body.dev = device_of(request);
	record->body.sector = sector_of(request);
	record->body.nr_sector = passthrough ? 0 : request->__data_len >> 9;
	record->body.bytes = request->__data_len;
	record->body.tid = (__s32)bpf_get_current_pid_tgid();
	record->body.rwbs = rwbs_of(request->cmd_flags);
	bpf_get_current_comm(record->body.comm, sizeof(record->body.comm));
	SUBMIT();
	return 0;
}

/* Since 5.17 the event has the block layer's own number (blk_status_to_errno()). */
static __always_inline __s32 error_of(__u64 status)
{
	if (LINUX_KERNEL_VERSION < KERNEL(5, 17)) {
		return (__s32)status;
	}
	switch ((__u8)status) {
	case 0:
		return 0;
	case 1:
		return -95; /* EOPNOTSUPP */
	case 2:
		return -110; /* ETIMEDOUT */
	case 3:
		return -28; /* ENOSPC */
	case 4:
		return -67; /* ENOLINK */
	case 5:
		return -121; /* EREMOTEIO */
	case 6:
		return -52; /* EBADE */
	case 7:
		return -61; /* ENODATA */
	case 8:
		return -84; /* EILSEQ */
	case 9:
		return -12; /* ENOMEM */
	case 12:
		return -11; /* EAGAIN */
	default:
		return -5; /* EIO */
	}
}

SEC("tp_btf/block_rq_complete")
int on_block_rq_complete(__u64 *ctx)
{
	struct request *request = (void *)ctx[0];

	RECORD(block_rq_complete);
	record->body.dev = device_of(request);
	record->body.sector = sector_of(request);
	record->body.nr_sector = (__u32)ctx[2] >> 9;
	record->body.error = error_of(ctx[1]);
	record->body.rwbs = rwbs_of(request->cmd_flags);
	SUBMIT();
	return 0;
}
