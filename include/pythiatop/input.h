/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_INPUT_H
#define PYTHIATOP_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/status.h"
#include "pythiatop/step.h"

/*
 * What the engine is told besides events: what persons decide, what controlled hosts offer and
 * answer, and what the wall clock ends. With the events it is all that the engine knows, so that
 * the same inputs in the same order take the same decisions; the decision log has them
 * (src/run/inputs.h, whose table lists their fields).
 */
enum input_kind {
	INPUT_MODE = 0, /* mode */
	INPUT_STRATEGY, /* text; STATUS_NOT_FOUND: there is none of that name */
	INPUT_BUDGET,   /* budget */
	/* offer: what a host's applications offer now, all of it, in the place of what was before
	 */
	INPUT_OFFER,
	/*
	 * processes: what processes of a host are called that no trace has named, for a session
	 * tells names as it begins and who attaches later never sees it. Of a host without traces
	 * so far: forgotten.
	 */
	INPUT_PROCESSES,
	/* decide: STATUS_NOT_FOUND: no such step; STATUS_INVALID: not now, `error` says why */
	INPUT_DECIDE,
	/*
	 * edit: leaves a point of a step that waits out, or takes it back (`keep`); `part` counts
	 * from 1, as in step_row.parts. One at least stays. What is left out when the step is
	 * decided is not proposed again at once. Status as of a decision.
	 */
	INPUT_EDIT,
	/* propose: by hand the points of a calling context (tree_row.context) */
	INPUT_PROPOSE,
	/*
	 * number, of a group: explains by key-values how long its requests take
	 * (snapshot/explanation.h), whether or not its variation is searched. It is done within a
	 * few seconds of event time; after engine_finish() at once. STATUS_NOT_FOUND: there is no
	 * such group; STATUS_FULL: too many are being explained.
	 */
	INPUT_EXPLAIN,
	INPUT_UNDO_ALL, /* a person takes back everything that steps did */
	/* A new epoch of all groups begins; without another baseline the last one becomes it. */
	INPUT_EPOCH,
	INPUT_CALIBRATE, /* calibrate: what recording an event costs on a host */
	/*
	 * text, a host: what steps did there is undone, since its control process, or our session
	 * there, has ended. The search waits, at most a minute, for what it offers next.
	 */
	INPUT_HOST_GONE,
	/*
	 * silent: our session on a host is silent, and the others went on without it; its events in
	 * between are lost, or late. Until it is seen again, at most for a minute, the search
	 * waits, for requests seem to lack what steps enabled; then it looks at requests from then
	 * on.
	 */
	INPUT_SILENT,
	INPUT_ENDED,   /* ended: engine_end_session(); STATUS_NOT_FOUND: there is no such one */
	INPUT_OUTCOME, /* outcome: what came of an order */
	INPUT_WATCH,   /* watch: the time to watch a step, or to learn, is over */

	/* What a log has besides; the engine is not told: STATUS_INVALID. */
	INPUT_BEGIN,   /* of a run */
	INPUT_FIRST,   /* event time began */
	INPUT_CLOCK,   /* clock: what one was taken to be off the epoch */
	INPUT_PROFILE, /* text, a file that was learned from */
	INPUT_ORDER,   /* order: as engine_next_order() gave it */
	INPUT_FINISH,  /* all sources ended: engine_finish() */
	INPUT_END,     /* of a run */
	INPUT_KINDS,
};

#define INPUT_UUID_BYTES 16

struct engine_input {
	enum input_kind kind;
	union {
		enum step_mode mode;
		struct step_budget budget;
		const char *text;
		uint32_t number;
		struct {
			const char *host;
			uint32_t n;
			const struct step_offer *events;
		} offer;
		struct {
			const char *host;
			uint32_t n;
			const struct step_process *list;
		} processes;
		struct {
			uint32_t step;
			enum step_decision decision;
			enum step_by by;
		} decide;
		struct {
			uint32_t step, part;
			bool keep;
		} edit;
		struct {
			uint32_t context;
			bool enable;
		} propose;
		struct {
			const char *host;
			double cpu_ns; /* of an event */
		} calibrate;
		struct {
			const char *host;
			bool is;
		} silent;
		struct {
			const char *host, *session;
		} ended;
		struct step_outcome outcome;
		struct step_watch watch;
		struct {
			uint8_t uuid[INPUT_UUID_BYTES];
			int64_t offset_ns;
		} clock;
		struct step_order order;
	};
};

#endif
