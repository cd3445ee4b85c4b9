/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/schema_file.h"
#include "feed.h"
#include "requests/extract.h"

/*
 * Fields out of texts: what a Python service logs becomes requests with ids and variables, as if it
 * had been written as tracepoints; a bad expression is named with its line; and what was extracted
 * changes nothing of the event that came.
 */
#define MS     UINT64_C(1000000)
#define T0     UINT64_C(1700000000000000000)
#define V(...) ((union feed_value[]){__VA_ARGS__})

static const char service[] =
		"schema: 1\n"
		"namespaces:\n"
		"  - {name: req, scope: global, ttl: 30s}\n"
		"  - {name: thr, scope: host, ttl: 10m}\n"
		"events:\n"
		"  - match: \"lttng_python:event\"\n"
		"    span: exit\n"
		"    name: order\n"
		"    extract: [{from: msg, match: \"^request ([0-9]+) took ([0-9.]+) ms for "
		"(alice|bob)"
		"( of ([a-z]+))?$\",\n"
		"               fields: [request_id, took_ms, user, rest, place], as: [integer, "
		"real]},\n"
		"              {from: logger_name, match: \"^shop\"}]\n"
		"    bind: [{ns: req, key: [request_id], op: basic}, {ns: thr, key: [$tid], op: "
		"leave}]\n"
		"  - match: \"lttng_python:event\"\n"
		"    span: entry\n"
		"    name: order\n"
		"    seed: true\n"
		"    type: [kind]\n"
		"    extract: [{from: msg, match: \"^request ([0-9]+) begins: ([a-z]+)\",\n"
		"               fields: [request_id, kind], as: [integer]}]\n"
		"    bind: [{ns: req, key: [request_id], op: enter}, {ns: thr, key: [$tid], op: "
		"enter}]\n"
		"  - match: \"lttng_python:event\"\n"
		"    name: \"log_{logger_name}\"\n"
		"    bind: [{ns: thr, key: [$tid], op: basic}]\n";

static struct schema_file *parse(const char *text)
{
	char error[512] = "";
	struct schema_file *file =
			schema_file_parse("test", text, strlen(text), error, sizeof(error));

	if (!file) {
		fail_msg("%s", error);
	}
	return file;
}

static void start_with(struct feed *feed, const char *text)
{
	struct schema_file *file = parse(text);
	char error[512] = "";

	feed_start(feed, NULL);
	if (engine_add_schema(feed->engine, schema_file_schema(file), error, sizeof(error)) !=
			STATUS_OK) {
		fail_msg("%s", error);
	}
	schema_file_destroy(file);
}

static void say(struct feed *feed, uint32_t type, uint64_t ts_ns, const char *logger,
		const char *msg, uint64_t vtid)
{
	feed_event(feed, type, ts_ns, 0, V({.s = msg}, {.s = logger}, {.u = 7}, {.u = vtid}));
}

static struct snapshot *look(struct feed *feed, uint64_t request)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = request};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* NULL: the span does not have it. */
static const char *value_of(const struct request_span *span, const char *name)
{
	for (uint32_t i = 0; i < span->n_values; i++) {
		if (strcmp(span->values[i].name, name) == 0) {
			return span->values[i].text;
		}
	}
	return NULL;
}

struct taken {
	uint32_t n, type;
	uint32_t n_slots_off; /* whose text is not what was fed */
	const char *msgs[8];
};

static bool take(void *context, const struct event *event)
{
	struct taken *taken = context;
	uint32_t length;
	const char *msg = event_bytes(event, 0, &length);

	taken->n_slots_off += event->type != taken->type || taken->n >= 8 || !msg ||
			      strcmp(msg, taken->msgs[taken->n]) != 0 || event->slots[2] != 7;
	taken->n++;
	return true;
}

/* Two at once on two threads; what is said between belongs to its thread. */
static void messages_are_requests(void **state)
{
	struct taken taken = {.msgs = {"request 4711 begins: buy", "looks around",
					      "request 4711 took 12.5 ms for alice of paris"}};
	struct feed feed;
	struct snapshot *snapshot;
	const struct request_view *request;
	uint32_t type;

	(void)state;
	start_with(&feed, service);
	type = feed_type(&feed, "lttng_python:event", "msg:s logger_name:s lineno:u vtid:c");
	taken.type = type;
	say(&feed, type, T0, "shop.web", "request 4711 begins: buy", 1);
	say(&feed, type, T0 + MS, "shop.web", "request 4712 begins: sell", 2);
	say(&feed, type, T0 + 2 * MS, "shop.db", "looks around", 1);
	/* Another logger, and a number that is none: these end nothing. */
	say(&feed, type, T0 + 3 * MS, "other", "request 4711 took 3 ms for alice", 3);
	say(&feed, type, T0 + 4 * MS, "shop.web", "request 4711 took 1.2.3 ms for alice", 3);
	say(&feed, type, T0 + 12 * MS, "shop.web", "request 4711 took 12.5 ms for alice of paris",
			1);
	say(&feed, type, T0 + 21 * MS, "shop.web", "request 4712 took 20 ms for bob", 2);
	engine_finish(feed.engine);

	snapshot = look(&feed, 1);
	request = &snapshot->request;
	assert_int_equal(snapshot->groups.n, 2);
	assert_string_equal(request->type, "buy");
	assert_int_equal(request->duration_ns, 12 * MS);
	assert_int_equal(request->n_events, 3);
	assert_string_equal(request->events[0].name, "lttng_python:event");
	assert_string_equal(request->spans[0].name, "order");
	assert_string_equal(request->events[1].values[0].text, "looks around");
	assert_string_equal(value_of(&request->spans[0], "request_id"), "4711");
	assert_string_equal(value_of(&request->spans[0], "took_ms"), "12.5");
	assert_string_equal(value_of(&request->spans[0], "user"), "alice");
	assert_string_equal(value_of(&request->spans[0], "place"), "paris");
	assert_int_equal(snapshot->accounting.unmatched, 2);
	snapshot_destroy(snapshot);
	/* Dumps have what came. */
	assert_int_equal(engine_dump_requests(feed.engine, (uint64_t[]){1}, 1, take, &taken),
			STATUS_OK);
	assert_int_equal(taken.n, 3);
	assert_int_equal(taken.n_slots_off, 0);

	snapshot = look(&feed, 2);
	assert_string_equal(snapshot->request.type, "sell");
	assert_int_equal(snapshot->request.duration_ns, 20 * MS);
	assert_string_equal(value_of(&snapshot->request.spans[0], "place"), "");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* Without a schema a record goes with its thread, called as its logger. */
static void loggers_without_schema(void **state)
{
	struct feed feed;
	const struct schema *schema;
	uint32_t entry, exit, type, n = 0;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "app:work_entry", "vtid:c");
	exit = feed_type(&feed, "app:work_exit", "vtid:c");
	type = feed_type(&feed, "lttng_python:event", "msg:s logger_name:s lineno:u vtid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 1}));
	say(&feed, type, T0 + MS, "shop.db", "looks around", 1);
	feed_event(&feed, exit, T0 + 2 * MS, 0, V({.u = 1}));
	schema = engine_schema(feed.engine, false);
	for (uint32_t i = 0; i < schema->n_events; i++) {
		if (strcmp(schema->events[i].match, "lttng_python:event") == 0) {
			assert_string_equal(schema->events[i].name, "log_{logger_name}");
			n++;
		}
	}
	assert_int_equal(n, 1);
	feed_stop(&feed);
}

/* What a type has not got is said. */
static void lacking_text(void **state)
{
	struct feed feed;
	const struct schema *schema;
	bool noted = false;

	(void)state;
	start_with(&feed, service);
	feed_type(&feed, "lttng_python:event", "msg:u vtid:c");
	schema = engine_schema(feed.engine, true);
	for (uint32_t i = 0; i < schema->n_notes; i++) {
		noted |= strcmp(schema->notes[i],
					 "lttng_python:event has no text \"msg\": nothing is "
					 "extracted from it") == 0;
	}
	assert_true(noted);
	feed_stop(&feed);
}

/* As --show-schema prints it, and once more the same. */
static void is_printed(void **state)
{
	static const char expected[] =
			"  extract:\n"
			"  - {from: msg, match: '^request ([0-9]+) begins: ([a-z]+)', fields: "
			"[request_id,\n"
			"      kind], as: [integer]}\n";
	char *first = NULL, *second = NULL;
	size_t n_first = 0, n_second = 0;
	struct feed feed;
	struct schema_file *file;
	FILE *out;

	(void)state;
	start_with(&feed, service);
	feed_type(&feed, "lttng_python:event", "msg:s logger_name:s lineno:u vtid:c");
	out = open_memstream(&first, &n_first);
	assert_int_equal(schema_file_write(out, engine_schema(feed.engine, false)), STATUS_OK);
	fclose(out);
	if (!strstr(first, expected)) {
		fail_msg("%s", first);
	}
	feed_stop(&feed);

	file = parse(first);
	start_with(&feed, first);
	out = open_memstream(&second, &n_second);
	assert_int_equal(schema_file_write(out, schema_file_schema(file)), STATUS_OK);
	fclose(out);
	assert_string_equal(strchr(first, '\n'), strchr(second, '\n'));
	schema_file_destroy(file);
	feed_stop(&feed);
	free(first);
	free(second);
}

#define ONE(extract)                                                                               \
	"schema: 1\nevents:\n  - match: a\n  - match: \"a:b\"\n    extract: [{" extract "}]\n"

static void what_is_wrong_has_its_line(void **state)
{
	static const char *const bad[][2] = {
			{ONE("from: msg, match: \"(a\", fields: [x]"), "Unmatched ( or \\("},
			{ONE("from: msg, match: \"a[\", fields: []"), "cannot be used: "},
			{ONE("from: msg, match: \"(a)(b)\", fields: [x]"),
					"has 2 groups in parentheses, for 1 field"},
			{ONE("from: msg, match: \"a\", fields: [x]"),
					"has 0 groups in parentheses, for 1 field"},
			{ONE("from: msg, match: '(a)\\1', fields: [x]"), "it has a back-reference"},
			{ONE("from: msg, match: '((a{99}){99}){99}', fields: [x, y]"),
					"it repeats something more than 1000 times"},
			{ONE("from: msg, match: '(a){2,}{1,900}', fields: [x]"),
					"it repeats something more than 1000 times"},
			{ONE("from: msg, match: \"(a)\", fields: [$tid]"),
					"\"$tid\" cannot be a field's name"},
			{ONE("from: msg, match: \"(a)\", fields: [x], as: [text, text]"),
					"2 kinds in `as`, for 1 field"},
			{ONE("from: m, match: (a)}, {from: m, match: b}, {from: m, match: b},"
			     "{from: m, match: b}, {from: m, match: b"),
					"at most 4 expressions and 16 fields"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct schema_file *file = parse(bad[i][0]);
		struct engine *engine = engine_create(NULL);
		char error[512] = "";

		assert_int_equal(engine_add_schema(engine, schema_file_schema(file), error,
						 sizeof(error)),
				STATUS_INVALID);
		if (strncmp(error, "test:4: ", 8) != 0 || !strstr(error, bad[i][1])) {
			fail_msg("%zu: %s", i, error);
		}
		engine_destroy(engine);
		schema_file_destroy(file);
	}
}

/* --- what comes out, for any event ------------------------------------------------------------ */

#define ROUNDS 20000
#define FIELDS 6

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

struct made {
	struct field fields[FIELDS];
	uint64_t slots[FIELDS + 256];
	struct event event;
	char text[128]; /* of the field `m`, if there is one that is not absent */
	bool has_text;
};

/* A type with a text `m` among fields of all kinds, and an event of it. */
static void make_event(struct made *made)
{
	static const uint8_t kinds[] = {
			FIELD_UINT, FIELD_INT, FIELD_DOUBLE, FIELD_STRING, FIELD_TREE};
	static const char *const words[] = {"id=", "7", "-12", "x", " ", "id=41 t=2.5e1",
			"id=99999999999999999999 t=1", "id=3 t=.5", "t=", "\xff", "id=8 t=nan", ""};
	uint32_t text_at = random_below(FIELDS), used = FIELDS * 8;

	memset(made, 0, sizeof(*made));
	for (uint32_t i = 0; i < 4; i++) {
		strcat(made->text, words[random_below(sizeof(words) / sizeof(words[0]))]);
	}
	made->has_text = random_below(8) > 0;
	for (uint32_t i = 0; i < FIELDS; i++) {
		struct field *field = &made->fields[i];
		bool is_text = i == text_at;
		uint32_t length = is_text ? (uint32_t)strlen(made->text) : random_below(40);

		*field = (struct field){.name = is_text ? "m" : "other",
				.kind = is_text ? FIELD_STRING : kinds[random_below(5)]};
		if (field->kind != FIELD_STRING && field->kind != FIELD_TREE) {
			made->slots[i] = seed;
			continue;
		}
		if (is_text ? !made->has_text : random_below(4) == 0) {
			made->slots[i] = EVENT_ABSENT;
			continue;
		}
		made->slots[i] = (uint64_t)used << 32 | length;
		memset((char *)made->slots + used, 'z', length);
		if (is_text) {
			memcpy((char *)made->slots + used, made->text, length);
		}
		used += length + 1;
	}
	made->event = (struct event){.ts_ns = seed, .type = 0, .bytes = used, .slots = made->slots};
}

/* Digits, maybe after a minus, no more than 18. Returns what is behind; NULL: none. */
static const char *naive_integer(const char *at, long long *value)
{
	const char *from = at;

	at += *at == '-';
	while (*at >= '0' && *at <= '9') {
		at++;
	}
	if (at == from || at[-1] == '-') {
		return NULL;
	}
	*value = at - from < 19 ? strtoll(from, NULL, 10) : 0;
	return at - from < 19 ? at : NULL;
}

/* The same by hand: "id=INTEGER" at the beginning, maybe " t=REAL" behind, and then anything. */
static bool naive(const char *text, long long *id, const char **rest)
{
	*rest = strncmp(text, "id=", 3) == 0 ? naive_integer(text + 3, id) : NULL;
	return *rest != NULL;
}

static void any_event(void **state)
{
	const struct schema_extract extract = {.from = "m",
			.match = "^id=(-?[0-9]+)(.*)$",
			.n_fields = 2,
			.fields = (const char *const[]){"id", "rest"},
			.n_as = 1,
			.as = (const enum extract_as[]){EXTRACT_INTEGER}};
	const struct schema_event by = {.match = "a:b", .n_extract = 1, .extract = &extract};
	uint32_t n_matched = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct extractor *x = extractor_create();
		struct event_type type = {.name = "a:b", .n_fields = FIELDS};
		struct field fields[EVENT_MAX_FIELDS];
		const struct event *wide;
		const char *rest = NULL, *lack;
		long long id = 0;
		struct made made;
		bool matched;
		uint32_t length;

		make_event(&made);
		type.fields = made.fields;
		assert_int_equal(extract_fields(&type, &by, fields, &lack), FIELDS + 2);
		assert_true(extractor_add(x, 0, 1, &type, &by));
		matched = made.has_text && naive(made.text, &id, &rest);
		wide = extractor_feed(x, &made.event);
		assert_int_equal(wide->type, matched);
		if (!matched) {
			assert_ptr_equal(wide, &made.event);
			extractor_destroy(x);
			continue;
		}
		n_matched++;
		assert_int_equal((long long)wide->slots[FIELDS], id);
		assert_string_equal(event_bytes(wide, FIELDS + 1, &length), rest);
		assert_int_equal(length, strlen(rest));
		wide = extractor_original(x, wide);
		assert_int_equal(wide->type, 0);
		assert_int_equal(wide->ts_ns, made.event.ts_ns);
		assert_true(wide->bytes >= made.event.bytes);
		assert_memory_equal(wide->slots, made.event.slots, made.event.bytes);
		extractor_destroy(x);
	}
	assert_true(n_matched > ROUNDS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(messages_are_requests),
			cmocka_unit_test(loggers_without_schema),
			cmocka_unit_test(lacking_text),
			cmocka_unit_test(is_printed),
			cmocka_unit_test(what_is_wrong_has_its_line),
			cmocka_unit_test(any_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
