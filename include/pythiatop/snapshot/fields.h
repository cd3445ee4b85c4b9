/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_FIELDS_H
#define PYTHIATOP_SNAPSHOT_FIELDS_H

#include "pythiatop/snapshot/row_field.h"

/* The fields of groups, of sources and of what changed; those of the state: state_fields.h. */

/* struct groups_row. Documents have those from MISSING on within "detection". */
#define ROW_GROUP_FIELDS(X)                                                                        \
	X(GROUP_ID, "id", U32, id, ID, NULL)                                                       \
	X(GROUP_TYPE, "type", TEXT, type, NONE, NULL)                                              \
	X(GROUP_PATH, "path", TEXT, path, NONE, NULL)                                              \
	X(GROUP_COUNT, "count", U64, count, COUNT, NULL)                                           \
	X(GROUP_TAINTED, "tainted", U64, tainted, COUNT, NULL)                                     \
	X(GROUP_PARTIAL, "partial", U64, partial, COUNT, NULL)                                     \
	X(GROUP_FAILED, "failed", U64, failed, COUNT, NULL)                                        \
	X(GROUP_ENDED, "ended", U64, ended, COUNT, NULL)                                           \
	X(GROUP_FAILED_LOW, "failed_low", REAL, failed_low, SHARE, group_has_ended)                \
	X(GROUP_FAILED_HIGH, "failed_high", REAL, failed_high, SHARE, group_has_ended)             \
	X(GROUP_SINCE, "since_ns", U64, since_ns, CLOCK, NULL)                                     \
	X(GROUP_RATE, "rate_per_s", REAL, rate_per_s, PER_S, NULL)                                 \
	X(GROUP_MEAN, "mean_ns", REAL, mean_ns, NS, group_has_one)                                 \
	X(GROUP_SD, "sd_ns", REAL, sd_ns, NS, group_has_two)                                       \
	X(GROUP_COV, "cov", REAL, cov, RATIO, group_has_cov)                                       \
	X(GROUP_MIN, "min_ns", U64, min_ns, NS, group_has_one)                                     \
	X(GROUP_MAX, "max_ns", U64, max_ns, NS, group_has_one)                                     \
	X(GROUP_P50, "p50_ns", U64, p50_ns, NS, group_has_one)                                     \
	X(GROUP_P95, "p95_ns", U64, p95_ns, NS, group_has_one)                                     \
	X(GROUP_P99, "p99_ns", U64, p99_ns, NS, group_has_one)                                     \
	X(GROUP_SHARE, "variation_share", REAL, variation_share, SHARE, group_has_two)             \
	X(GROUP_MISSING, "missing", U32, missing, COUNT, NULL)                                     \
	X(GROUP_LOSSY, "lossy", FLAG, lossy, NONE, NULL)                                           \
	X(GROUP_IDLE_WAIT, "idle_wait", FLAG, idle_wait, NONE, NULL)                               \
	X(GROUP_COV_LOW, "cov_low", REAL, cov_low, RATIO, group_has_cov_low)                       \
	X(GROUP_TAIL, "tail_ratio", REAL, tail_ratio, RATIO, group_has_one)                        \
	X(GROUP_OBJECTIVE, "objective_ns", U64, objective_ns, NS, group_has_objective)             \
	X(GROUP_SHIFT, "shift", REAL, shift, RATIO, group_has_shift)                               \
	X(GROUP_MODES, NULL, U32, n_modes, COUNT, group_has_modes)                                 \
	X(GROUP_LEFT_OUT, NULL, READ, group_left_out, COUNT, NULL)                                 \
	X(GROUP_FAILED_SHARE, NULL, READ, group_failed_share, SHARE, NULL)

/* struct group_segment */
#define ROW_SEGMENT_FIELDS(X)                                                                      \
	X(SEGMENT_CONTEXT, "id", U32, context, ID, NULL)                                           \
	X(SEGMENT_NAME, "context", TEXT, name, NONE, NULL)                                         \
	X(SEGMENT_WHERE, "where", TEXT, where, NONE, NULL)                                         \
	X(SEGMENT_MEAN, "mean_ns", REAL, mean_ns, NS, NULL)                                        \
	X(SEGMENT_SD, "sd_ns", REAL, sd_ns, NS, NULL)                                              \
	X(SEGMENT_PHI, "phi", REAL, phi, SHARE, NULL)                                              \
	X(SEGMENT_PHI_LOW, "phi_low", REAL, phi_low, SHARE, NULL)                                  \
	X(SEGMENT_PHI_HIGH, "phi_high", REAL, phi_high, SHARE, NULL)                               \
	X(SEGMENT_TAIL, "tail_share", REAL, tail_share, SHARE, NULL)                               \
	X(SEGMENT_DISAGREES, "disagrees", FLAG, disagrees, NONE, NULL)

/* struct group_request */
#define ROW_KEPT_FIELDS(X)                                                                         \
	X(KEPT_START, NULL, U64, start_ns, CLOCK, NULL)                                            \
	X(KEPT_DURATION, NULL, U64, duration_ns, NS, NULL)                                         \
	X(KEPT_SPANS, NULL, U32, spans, COUNT, NULL)                                               \
	X(KEPT_HOSTS, NULL, U32, hosts, COUNT, NULL)

/* struct source_row */
#define ROW_SOURCE_FIELDS(X)                                                                       \
	X(SOURCE_URL, "url", TEXT, url, NONE, NULL)                                                \
	X(SOURCE_HOST, "host", TEXT, host, NONE, NULL)                                             \
	X(SOURCE_SESSION, "session", TEXT, session, NONE, NULL)                                    \
	X(SOURCE_STATE, "state", READ, source_state_text, NONE, NULL)                              \
	X(SOURCE_DETAIL, "detail", TEXT, detail, NONE, NULL)                                       \
	X(SOURCE_EVENTS, "events", U64, events, COUNT, NULL)                                       \
	X(SOURCE_DISCARDED, "discarded", U64, discarded, COUNT, NULL)                              \
	X(SOURCE_PACKETS, "discarded_packets", U64, discarded_packets, COUNT, NULL)                \
	X(SOURCE_LATE, "late", U64, late, COUNT, NULL)                                             \
	X(SOURCE_MISDATED, "misdated", U64, misdated, COUNT, NULL)                                 \
	X(SOURCE_COPIES, "duplicates", U64, duplicates, COUNT, NULL)                               \
	X(SOURCE_COPIES_OF, "duplicates_of", NAME, duplicates_of, NONE, NULL)                      \
	X(SOURCE_RATE, "events_per_s", REAL, events_per_s, PER_S, NULL)                            \
	X(SOURCE_LAG, "lag_ns", U64, lag_ns, NS, source_has_lag)                                   \
	X(SOURCE_GAPS, "gaps", U32, gaps, COUNT, NULL)                                             \
	X(SOURCE_STREAMS, "streams", U32, n_streams, COUNT, NULL)                                  \
	X(SOURCE_VIEWERS, NULL, U32, viewers, COUNT, source_has_viewers)                           \
	X(SOURCE_TIMER, NULL, READ, source_timer_ns, NS, source_has_timer)

/* struct source_stream */
#define ROW_STREAM_FIELDS(X)                                                                       \
	X(STREAM_CHANNEL, NULL, TEXT, channel, NONE, NULL)                                         \
	X(STREAM_DOMAIN, NULL, TEXT, domain, NONE, NULL)                                           \
	X(STREAM_CPU, NULL, U32, cpu, ID, stream_has_cpu)                                          \
	X(STREAM_EVENTS, NULL, U64, events, COUNT, NULL)                                           \
	X(STREAM_DISCARDED, NULL, U64, discarded, COUNT, NULL)

/* struct unmatched_row */
#define ROW_UNMATCHED_FIELDS(X)                                                                    \
	X(UNMATCHED_EVENT, "event", TEXT, event, NONE, NULL)                                       \
	X(UNMATCHED_TOTAL, "total", U64, total, COUNT, NULL)                                       \
	X(UNMATCHED_UNMATCHED, "unmatched", U64, unmatched, COUNT, NULL)                           \
	X(UNMATCHED_WHY, "why", TEXT, why, NONE, NULL)                                             \
	X(UNMATCHED_ROLE, "role", TEXT, role, NONE, NULL)                                          \
	X(UNMATCHED_RATE, NULL, REAL, rate_per_s, PER_S, NULL)

/* struct change_row */
#define ROW_CHANGE_FIELDS(X)                                                                       \
	X(CHANGE_SERVICE, "service", NAME, service, NONE, NULL)                                    \
	X(CHANGE_PROVIDER, "provider", NAME, provider, NONE, NULL)                                 \
	X(CHANGE_NAME, "name", NAME, name, NONE, NULL)                                             \
	X(CHANGE_WHERE, "where", NAME, where, NONE, NULL)                                          \
	X(CHANGE_TYPE, "type", NAME, type, NONE, NULL)                                             \
	X(CHANGE_TYPES, "types", U32, types, COUNT, NULL)                                          \
	X(CHANGE_GROUP, "group", U32, group_id, ID, change_has_group)                              \
	X(CHANGE_OTHERS, "others", NAME, others, NONE, NULL)                                       \
	X(CHANGE_FROM, "from", NAME, from, NONE, NULL)                                             \
	X(CHANGE_SINCE, "since_ns", U64, since_ns, NONE, change_has_since)                         \
	X(CHANGE_SINCE_LOW, "since_low_ns", U64, since_low_ns, NONE, change_has_since)             \
	X(CHANGE_SINCE_HIGH, "since_high_ns", U64, since_high_ns, NONE, change_has_since)          \
	X(CHANGE_SINCE_BEGIN, "since_begin", FLAG, since_begin, NONE, NULL)                        \
	X(CHANGE_SURE, "sure", FLAG, sure, NONE, NULL)                                             \
	X(CHANGE_CALLEE_TOO, "callee_too", FLAG, callee_too, NONE, NULL)                           \
	X(CHANGE_WAITED_FOR, "waited_for", FLAG, waited_for, NONE, NULL)                           \
	X(CHANGE_OFF_PATH, "off_path", FLAG, off_path, NONE, change_knows_path)                    \
	X(CHANGE_WAITS_FOR, "waits_for", NAME, waits_for, NONE, NULL)                              \
	X(CHANGE_BY_CLOCKS, "by_clocks", FLAG, by_clocks, NONE, NULL)                              \
	X(CHANGE_ADDED, "added_ns_per_s", REAL, added_ns_per_s, NONE, change_knows_path)           \
	X(CHANGE_ADDED_LOW, "added_low", REAL, added_low, NONE, change_knows_path)                 \
	X(CHANGE_ADDED_HIGH, "added_high", REAL, added_high, NONE, change_knows_path)              \
	X(CHANGE_BEFORE, "before", REAL, before, NONE, NULL)                                       \
	X(CHANGE_AFTER, "after", REAL, after, NONE, NULL)                                          \
	X(CHANGE_DIFFERENCE_LOW, "difference_low", REAL, difference_low, NONE, NULL)               \
	X(CHANGE_DIFFERENCE_HIGH, "difference_high", REAL, difference_high, NONE, NULL)            \
	X(CHANGE_REQUESTS_BEFORE, "requests_before", U64, requests_before, COUNT, NULL)            \
	X(CHANGE_REQUESTS_AFTER, "requests_after", U64, requests_after, COUNT, NULL)               \
	X(CHANGE_P, "p", REAL, p, NONE, NULL)

/* struct change_type */
#define ROW_TYPE_FIELDS(X)                                                                         \
	X(TYPE_TYPE, "type", TEXT, type, NONE, NULL)                                               \
	X(TYPE_GROUP, "group", U32, group_id, ID, type_has_group)                                  \
	X(TYPE_N, "requests_before", U64, requests[0], COUNT, NULL)                                \
	X(TYPE_N_NOW, "requests_after", U64, requests[1], COUNT, NULL)                             \
	X(TYPE_RATE, "rate_before_per_s", REAL, rate_per_s[0], PER_S, NULL)                        \
	X(TYPE_RATE_NOW, "rate_after_per_s", REAL, rate_per_s[1], PER_S, NULL)                     \
	X(TYPE_MEAN, "mean_before_ns", REAL, mean_ns[0], NS, type_was_complete)                    \
	X(TYPE_MEAN_NOW, "mean_after_ns", REAL, mean_ns[1], NS, type_is_complete)                  \
	X(TYPE_ADDED, NULL, READ, type_added, NONE, NULL)

enum group_field { ROW_GROUP_FIELDS(ROW_FIELD_ID) N_GROUP_FIELDS };
enum segment_field { ROW_SEGMENT_FIELDS(ROW_FIELD_ID) N_SEGMENT_FIELDS };
enum kept_field { ROW_KEPT_FIELDS(ROW_FIELD_ID) N_KEPT_FIELDS };
enum source_field { ROW_SOURCE_FIELDS(ROW_FIELD_ID) N_SOURCE_FIELDS };
enum stream_field { ROW_STREAM_FIELDS(ROW_FIELD_ID) N_STREAM_FIELDS };
enum unmatched_field { ROW_UNMATCHED_FIELDS(ROW_FIELD_ID) N_UNMATCHED_FIELDS };
enum change_field { ROW_CHANGE_FIELDS(ROW_FIELD_ID) N_CHANGE_FIELDS };
enum change_type_field { ROW_TYPE_FIELDS(ROW_FIELD_ID) N_TYPE_FIELDS };

extern const struct row_field group_fields[N_GROUP_FIELDS], segment_fields[N_SEGMENT_FIELDS],
		kept_fields[N_KEPT_FIELDS], source_fields[N_SOURCE_FIELDS],
		stream_fields[N_STREAM_FIELDS], unmatched_fields[N_UNMATCHED_FIELDS],
		change_fields[N_CHANGE_FIELDS], change_type_fields[N_TYPE_FIELDS];

#endif
