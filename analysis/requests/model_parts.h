/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_MODEL_PARTS_H
#define PT_REQUESTS_MODEL_PARTS_H

#include "base/number_map.h"
#include "requests/infer.h"
#include "requests/model.h"

/* What the files of the schema in force share, and nobody else includes. */

#define MAX_SCHEMAS      16
#define REQUEST_TTL_NS   UINT64_C(30000000000)
#define THREAD_TTL_NS    UINT64_C(600000000000)
#define PATH_DEPTH_PLAIN 2 /* of groups of outermost spans: they and what they enclose */
#define MAX_NOTES        200

/* A bare `id` names requests once so many different values were seen on two threads each. */
#define ID_PROOF 16
#define ID_SEEN  256

struct id_watch {
	uint32_t type, field;
	uint32_t n_proofs;
	bool is_request;
	struct {
		uint64_t value, thread;
		bool used, proven; /* proven: it stays, so that each value counts once */
	} seen[ID_SEEN];
};

struct model {
	struct names *names;
	struct arena schema_copies; /* the schemas that were given */
	const struct schema *schemas[MAX_SCHEMAS];
	uint32_t n_schemas;
	const struct schema *offered[MAX_SCHEMAS]; /* NULL: in force */
	uint32_t n_offered, n_chosen; /* n_chosen: of `schemas`, if nobody gave one */
	bool groups_by; /* some schema expects types to be grouped by fields */

	const struct event_type **types;
	const struct schema_event **extracts; /* by type: whose alternative it is, or NULL */
	const char **sorted; /* names of all types, for infer_role() */
	/* Of "provider:operation", by hash of the operation: the provider, or SEVERAL. */
	struct number_map providers;
	struct plan *plans;
	uint32_t n_types, room;
	bool dirty; /* a type was added since the plans were made */

	struct arena arena; /* of what is compiled or inferred; made anew when dirty */
	struct plan_namespace namespaces[PLAN_MAX_NAMESPACES];
	uint32_t n_namespaces;
	uint32_t path_depth;
	const struct schema_event **events; /* by type: what its plan was made of, or NULL */
	bool by_id;                         /* inferred: some pair carries a request id */
	bool by_activation;                 /* inferred: of a kernel alone, with activations */
	bool named;                         /* a person says which spans are requests */
	bool message_by_request;            /* inferred: message ids always come with request ids */
	const char **notes;
	uint32_t *note_types; /* whom a note is about; ID_NONE: all */
	uint32_t n_notes, noting; /* noting: the type that is being looked at, or ID_NONE */

	struct id_watch **watches; /* by type; NULL: none */
	uint32_t n_watches;

	struct arena shown; /* of model_schema() */
	struct schema schema;
};

/* model_known.c: a note is kept once; `text` comes from the arena, NULL is none. */
void model_note(struct model *model, const char *text);
/* The names of all types, for model_knows_name(). */
void model_sort_names(struct model *model);
bool model_knows_name(const void *context, const char *name);
/* Whether other providers have an event of that operation: of "net:serve_entry" "serve_entry". */
bool model_shares_operation(const struct model *model, const char *name);

/* inferred.c: plans of all types from their names and fields. */
void model_infer(struct model *model);
/* What a type most likely means; `attach_only`: it only goes with its execution context. NULL: nothing. */
struct schema_event *model_guess_event(struct model *model, uint32_t at, bool attach_only);

/* offered.c: a type was added; and what is said of those that are in force. */
void model_choose_offered(struct model *model, const struct event_type *type);
void model_note_chosen(struct model *model);

/* explicit.c: plans of all types from the schemas that were given. */
void model_use_explicit(struct model *model);

#endif
