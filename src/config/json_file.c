/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/json_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pythiatop/text.h"

bool complain(const struct complaint *complaint, const char *format, ...)
{
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(complaint->text, complaint->size, "%s: %s", complaint->path, what);
	return false;
}

static json_t *load(const struct complaint *complaint, size_t max_bytes)
{
	FILE *in = fopen(complaint->path, "re");
	json_t *document = NULL;
	json_error_t error;
	struct stat info;

	if (!in) {
		complain(complaint, "cannot open it: %s", strerror(errno));
		return NULL;
	}
	if (fstat(fileno(in), &info) != 0 || !S_ISREG(info.st_mode)) {
		complain(complaint, "not a file");
	} else if ((size_t)info.st_size > max_bytes) {
		complain(complaint, "larger than %zu MiB", max_bytes >> 20);
	} else {
		document = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
		if (!document) {
			complain(complaint, "line %d: %s", error.line, error.text);
		}
	}
	fclose(in);
	return document;
}

/* First what it is, so that another kind of file is not told of its keys. */
static bool check(const struct complaint *complaint, const json_t *document, const char *format,
		int version)
{
	const json_t *has_format = json_object_get(document, "format");
	const json_t *has_version = json_object_get(document, "version");

	if (!json_is_string(has_format) || strcmp(json_string_value(has_format), format) != 0) {
		return complain(complaint, "another kind of file: expected \"format\": \"%s\"",
				format);
	}
	if (!json_is_integer(has_version) || json_integer_value(has_version) != version) {
		return complain(complaint,
				"of another version: this program reads version %d; save it anew",
				version);
	}
	return true;
}

json_t *json_file_load(const struct complaint *complaint, const char *format, int version,
		size_t max_bytes)
{
	json_t *document = load(complaint, max_bytes);

	if (document && !check(complaint, document, format, version)) {
		json_decref(document);
		document = NULL;
	}
	return document;
}

json_t *json_file_text(const char *value)
{
	json_t *plain = json_string(value);
	char safe[4096];

	if (plain) {
		return plain;
	}
	text_escape(safe, sizeof(safe), value);
	return json_string(safe);
}
