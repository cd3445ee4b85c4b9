/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "probe/type.h"

#define TRIES 16

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t describe_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void read_boot_id(char *id, size_t size)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(id, (int)size, file)) {
		snprintf(id, size, "00000000-0000-0000-0000-000000000000");
	}
	id[strcspn(id, "\n")] = '\0';
	if (file) {
		fclose(file);
	}
}

void describe_sample_clock(struct describe_clock *clock)
{
	uint64_t least_ns = UINT64_MAX;

	read_boot_id(clock->boot_id, sizeof(clock->boot_id));
	for (int i = 0; i < TRIES; i++) {
		uint64_t before_ns = describe_now_ns(), real_ns = clock_ns(CLOCK_REALTIME);
		uint64_t took_ns = describe_now_ns() - before_ns;

		if (took_ns < least_ns) {
			least_ns = took_ns;
			clock->offset_ns = real_ns - (before_ns + took_ns / 2);
		}
	}
}

/* A string of the language: what would end it, or the line, is escaped. */
static void put_string(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\') {
			fprintf(file, "\\%c", *text);
		} else if ((unsigned char)*text < ' ' || *text == 0x7f) {
			fprintf(file, "\\%03o", (unsigned char)*text);
		} else {
			fputc(*text, file);
		}
	}
	fputc('"', file);
}

static void put_text(const char *name, const char *value, FILE *file)
{
	fprintf(file, "\t%s = ", name);
	put_string(value, file);
	fputs(";\n", file);
}

static void put_env(const struct describe_trace *trace, FILE *file)
{
	char created[32] = "";
	struct utsname host;
	time_t now = time(NULL);
	struct tm parts;
	int major = 0, minor = 0, patch = 0;

	if (uname(&host) != 0) {
		memset(&host, 0, sizeof(host));
	}
	if (gmtime_r(&now, &parts)) {
		strftime(created, sizeof(created), "%Y%m%dT%H%M%S+0000", &parts);
	}
	sscanf(PT_VERSION, "%d.%d.%d", &major, &minor, &patch);
	fputs("env {\n", file);
	put_text("hostname", trace->host, file);
	put_text("domain", trace->of_functions ? "ust" : "kernel", file);
	put_text("sysname", host.sysname, file);
	put_text("kernel_release", host.release, file);
	put_text("kernel_version", host.version, file);
	put_text("tracer_name", "pythiatop-probe", file);
	fprintf(file, "\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttracer_patchlevel = %d;\n",
			major, minor, patch);
	put_text("trace_buffering_scheme", trace->of_functions ? "uid" : "global", file);
	put_text("trace_name", trace->session, file);
	put_text("trace_creation_datetime", created, file);
	fputs("};\n\n", file);
}

static void put_uuid(const unsigned char *uuid, FILE *file)
{
	for (int i = 0; i < DESCRIBE_UUID; i++) {
		fprintf(file, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	}
}

static const char types_text[] =
		"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n\n";

static const char stream_text[] =
		"typealias integer {\n\tsize = 32; align = 8; signed = false;\n"
		"\tmap = clock.monotonic.value;\n} := uint32_clock_monotonic_t;\n\n"
		"typealias integer {\n\tsize = 64; align = 8; signed = false;\n"
		"\tmap = clock.monotonic.value;\n} := uint64_clock_monotonic_t;\n\n"
		"struct packet_context {\n"
		"\tuint64_clock_monotonic_t timestamp_begin;\n"
		"\tuint64_clock_monotonic_t timestamp_end;\n"
		"\tuint64_t content_size;\n"
		"\tuint64_t packet_size;\n"
		"\tuint64_t packet_seq_num;\n"
		"\tunsigned long events_discarded;\n"
		"\tuint32_t cpu_id;\n};\n\n"
		"struct event_header_large {\n"
		"\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
		"\tvariant <id> {\n"
		"\t\tstruct {\n\t\t\tuint32_clock_monotonic_t timestamp;\n\t\t} compact;\n"
		"\t\tstruct {\n\t\t\tuint32_t id;\n"
		"\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t} extended;\n"
		"\t} v;\n} align(8);\n\n"
		"stream {\n\tid = 0;\n\tevent.header := struct event_header_large;\n"
		"\tpacket.context := struct packet_context;\n%s};\n\n";

/* Who called the function, or left it: struct body_function. */
static const char contexts_text[] =
		"\tevent.context := struct {\n"
		"\t\tinteger { size = 32; align = 8; signed = true; } _vpid;\n"
		"\t\tinteger { size = 32; align = 8; signed = true; } _vtid;\n"
		"\t\tinteger { size = 32; align = 8; signed = false; } _pid_ns;\n"
		"\t\tinteger { size = 8; align = 8; signed = true; encoding = UTF8; } "
		"_procname[16];\n\t};\n";

static void put_trace(const struct describe_trace *trace, FILE *file)
{
	fprintf(file, "/* CTF 1.8 */\n\n%strace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"",
			types_text);
	put_uuid(trace->uuid, file);
	fputs("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
	      "\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n"
	      "\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
			file);
	put_env(trace, file);
	fprintf(file,
			"clock {\n\tname = \"monotonic\";\n\tuuid = \"%s\";\n"
			"\tdescription = \"Monotonic Clock\";\n"
			"\tfreq = 1000000000; /* Frequency, in Hz */\n"
			"\t/* clock value offset from Epoch is: offset * (1/freq) */\n"
			"\toffset = %" PRIu64 ";\n};\n\n",
			trace->clock.boot_id, trace->clock.offset_ns);
	fprintf(file, stream_text, trace->of_functions ? contexts_text : "");
}

static void declare(void *context, const struct type *type)
{
	type_declare(type, context);
}

char *describe(const struct describe_trace *trace, size_t *size)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, size);

	if (!file) {
		return NULL;
	}
	put_trace(trace, file);
	if (!trace->of_functions) {
		types_each(declare, file);
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
