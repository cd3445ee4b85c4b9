/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythiatop/snapshot/state_fields.h"
#include "pythiatop/snapshot/state.h"

/* --- when a figure is known ------------------------------------------------------------------- */

#define KNOWN(name, type, condition)                                                               \
	static bool name(const void *of)                                                           \
	{                                                                                          \
		const struct type *row = of;                                                       \
                                                                                                   \
		return condition;                                                                  \
	}

KNOWN(has_kernel, state_host, row->has_kernel)
KNOWN(cpu_known, state_cpu, row->known_ns > 0)
KNOWN(cpu_has_frequency, state_cpu, row->frequency_khz > 0)
KNOWN(measured, state_thread, row->measured)
KNOWN(thread_has_since, state_thread, row->since_ns > 0)
KNOWN(thread_has_latency, state_thread, row->latencies > 0)
KNOWN(thread_has_prio, state_thread, row->has_prio)
KNOWN(syscall_ended, state_syscall, row->count > 0)
KNOWN(syscall_has_sd, state_syscall, row->count > 1)
KNOWN(fd_has_opened, state_fd, row->opened_ns > 0)
KNOWN(fd_has_closed, state_fd, row->closed_ns > 0)
KNOWN(disk_used, state_disk, row->reads + row->writes > 0)
KNOWN(net_receives, state_net, row->has_received)
KNOWN(net_sends, state_net, row->has_sent)
KNOWN(irq_ended, state_irq, row->count > 0)
KNOWN(irq_is_soft, state_irq, row->soft)
KNOWN(irq_was_raised, state_irq, row->raised > 0)
KNOWN(event_has_cpu, state_event, row->cpu != UINT32_MAX)

/* --- what is derived -------------------------------------------------------------------------- */

static struct row_value text(const char *text)
{
	return (struct row_value){.kind = ROW_IS_TEXT, .known = true, .text = text};
}

static struct row_value count(uint64_t count)
{
	return (struct row_value){.kind = ROW_IS_COUNT, .known = true, .count = count};
}

/* Not known where `of` is 0. */
static struct row_value ratio(uint64_t part, uint64_t of)
{
	return (struct row_value){.kind = ROW_IS_REAL,
			.known = of > 0,
			.real = of > 0 ? (double)part / (double)of : 0};
}

#define DERIVED(name, type, value)                                                                 \
	static struct row_value name(const void *of)                                               \
	{                                                                                          \
		const struct type *row = of;                                                       \
                                                                                                   \
		return value;                                                                      \
	}

DERIVED(host_threads_share, state_host, ratio(row->threads_ns, row->capacity_ns))
DERIVED(host_irq_share, state_host, ratio(row->irq_ns, row->capacity_ns))
DERIVED(host_idle_share, state_host, ratio(row->idle_ns, row->capacity_ns))
DERIVED(host_unknown_share, state_host, ratio(row->unknown_ns, row->capacity_ns))
DERIVED(thread_status, state_thread, text(thread_status_name(row->status)))
DERIVED(fd_kind, state_fd, text(fd_kind_name(row->kind)))
DERIVED(fd_confidence, state_fd, text(fd_confidence_name(row->confidence)))
DERIVED(fd_operations, state_fd, count(row->reads + row->writes))
DERIVED(fd_latency, state_fd, ratio(row->read_ns + row->write_ns, row->reads + row->writes))
DERIVED(fd_window_bytes, state_fd, count(row->window_read_bytes + row->window_write_bytes))
DERIVED(irq_kind, state_irq, text(row->soft ? "softirq" : "irq"))
DERIVED(irq_mean, state_irq, ratio(row->total_ns, row->count))
DERIVED(thread_disk_bytes, state_thread, count(row->disk_read_bytes + row->disk_write_bytes))
DERIVED(thread_net_bytes, state_thread, count(row->net_read_bytes + row->net_write_bytes))

/* Neither to a disk nor to the network: pipes, terminals, or not known what. */
static struct row_value thread_other_bytes(const void *of)
{
	const struct state_thread *row = of;
	uint64_t all = row->read_bytes + row->write_bytes;
	uint64_t told = row->disk_read_bytes + row->disk_write_bytes + row->net_read_bytes +
			row->net_write_bytes;

	return count(all > told ? all - told : 0);
}

/* --- the tables ------------------------------------------------------------------------------- */

#define MEMBER_TEXT(row, member) ROW_TEXT, offsetof(struct row, member), NULL
#define MEMBER_NAME(row, member) ROW_NAME, offsetof(struct row, member), NULL
#define MEMBER_FLAG(row, member) ROW_FLAG, offsetof(struct row, member), NULL
#define MEMBER_U64(row, member)  ROW_U64, offsetof(struct row, member), NULL
#define MEMBER_U32(row, member)  ROW_U32, offsetof(struct row, member), NULL
#define MEMBER_I32(row, member)  ROW_I32, offsetof(struct row, member), NULL
#define MEMBER_ID(row, member)   ROW_ID, offsetof(struct row, member), NULL
#define MEMBER_ID32(row, member) ROW_ID32, offsetof(struct row, member), NULL
#define MEMBER_REAL(row, member) ROW_REAL, offsetof(struct row, member), NULL
#define MEMBER_READ(row, reader) ROW_READ, 0, reader

#define FIELD_OF(row, id, name, type, member, unit, known)                                         \
	[FIELD_##id] = {name, UNIT_##unit, known, MEMBER_##type(row, member)},

#define X(...) FIELD_OF(state_host, __VA_ARGS__)
const struct row_field state_host_fields[] = {STATE_HOST_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_cpu, __VA_ARGS__)
const struct row_field state_cpu_fields[] = {STATE_CPU_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_thread, __VA_ARGS__)
const struct row_field state_thread_fields[] = {STATE_THREAD_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_syscall, __VA_ARGS__)
const struct row_field state_syscall_fields[] = {STATE_SYSCALL_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_fd, __VA_ARGS__)
const struct row_field state_fd_fields[] = {STATE_FD_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_disk, __VA_ARGS__)
const struct row_field state_disk_fields[] = {STATE_DISK_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_net, __VA_ARGS__)
const struct row_field state_net_fields[] = {STATE_NET_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_irq, __VA_ARGS__)
const struct row_field state_irq_fields[] = {STATE_IRQ_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_event, __VA_ARGS__)
const struct row_field state_event_fields[] = {STATE_EVENT_FIELDS(X)};
#undef X

/* --- reading ---------------------------------------------------------------------------------- */

static struct row_value number(int64_t number, bool known)
{
	return (struct row_value){.kind = ROW_IS_NUMBER, .known = known, .number = number};
}

static struct row_value read_member(const struct row_field *field, const void *row)
{
	const void *at = (const char *)row + field->offset;
	const char *name;

	switch (field->type) {
	case ROW_TEXT:
		return text(*(const char *const *)at);
	case ROW_NAME:
		name = *(const char *const *)at;
		return (struct row_value){
				.kind = ROW_IS_TEXT, .known = name && name[0], .text = name};
	case ROW_FLAG:
		return (struct row_value){
				.kind = ROW_IS_FLAG, .known = true, .flag = *(const bool *)at};
	case ROW_U64:
		return count(*(const uint64_t *)at);
	case ROW_U32:
		return count(*(const uint32_t *)at);
	case ROW_I32:
		return number(*(const int32_t *)at, true);
	case ROW_ID:
		return number(*(const int64_t *)at, *(const int64_t *)at >= 0);
	case ROW_ID32:
		return number(*(const int32_t *)at, *(const int32_t *)at >= 0);
	case ROW_REAL:
		return (struct row_value){
				.kind = ROW_IS_REAL, .known = true, .real = *(const double *)at};
	case ROW_READ:
		break;
	}
	return field->read(row);
}

struct row_value row_read(const struct row_field *field, const void *row)
{
	struct row_value value = read_member(field, row);

	value.known = value.known && (!field->known || field->known(row));
	return value;
}
