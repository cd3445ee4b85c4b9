/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "config/settings.h"

static char *trim(char *text)
{
	size_t length;

	while (*text == ' ' || *text == '\t') {
		text++;
	}
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1])) {
		text[--length] = '\0';
	}
	return text;
}

static enum status load(struct settings_file *file, char *error, size_t error_size)
{
	FILE *in = fopen(file->file, "re");
	size_t length;

	if (!in) {
		if (errno == ENOENT) {
			return STATUS_NOT_FOUND;
		}
		snprintf(error, error_size, "cannot open %s: %s", file->file, strerror(errno));
		return STATUS_IO;
	}
	file->text = malloc(SETTINGS_MAX_BYTES + 1);
	if (!file->text) {
		fclose(in);
		snprintf(error, error_size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	length = fread(file->text, 1, SETTINGS_MAX_BYTES + 1, in);
	if (ferror(in)) {
		snprintf(error, error_size, "cannot read %s: %s", file->file, strerror(errno));
		fclose(in);
		return STATUS_IO;
	}
	fclose(in);
	if (length > SETTINGS_MAX_BYTES) {
		snprintf(error, error_size, "%s is larger than %u bytes", file->file,
				SETTINGS_MAX_BYTES);
		return STATUS_INVALID;
	}
	file->text[length] = '\0';
	if (strlen(file->text) != length) {
		snprintf(error, error_size, "%s holds a zero byte: not a text file", file->file);
		return STATUS_INVALID;
	}
	return STATUS_OK;
}

static enum status add(
		struct settings_file *file, const char *name, const char *value, uint32_t line)
{
	struct settings *settings = &file->settings;

	if (settings->n % 64 == 0) {
		if (!array_resize(&file->items, settings->n + 64)) {
			return STATUS_NO_MEMORY;
		}
		settings->items = file->items;
	}
	file->items[settings->n++] = (struct setting){.name = name, .value = value, .line = line};
	return STATUS_OK;
}

static enum status parse_line(struct settings_file *file, char *text, uint32_t line, char *error,
		size_t error_size)
{
	char *name = trim(text);
	char *equals;
	size_t length;

	if (*name == '\0' || *name == '#') {
		return STATUS_OK;
	}
	equals = strchr(name, '=');
	if (!equals) {
		snprintf(error, error_size, "%s:%u: expected `name = value`", file->file, line);
		return STATUS_INVALID;
	}
	*equals = '\0';
	name = trim(name);
	length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
	if (length == 0 || name[length] != '\0') {
		snprintf(error, error_size,
				"%s:%u: a name has letters, digits, '.', '_' and '-' only",
				file->file, line);
		return STATUS_INVALID;
	}
	if (add(file, name, trim(equals + 1), line) != STATUS_OK) {
		snprintf(error, error_size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

enum status settings_read(
		struct settings_file *out, const char *path, char *error, size_t error_size)
{
	enum status status;
	uint32_t line = 1;
	char *text, *next;

	memset(out, 0, sizeof(*out));
	out->file = strdup(path);
	if (!out->file) {
		snprintf(error, error_size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	out->settings.file = out->file;
	status = load(out, error, error_size);
	for (text = out->text; status == STATUS_OK && text; text = next, line++) {
		next = strchr(text, '\n');
		if (next) {
			*next++ = '\0';
		}
		status = parse_line(out, text, line, error, error_size);
	}
	return status;
}

void settings_release(struct settings_file *file)
{
	free(file->text);
	free(file->items);
	free(file->file);
	memset(file, 0, sizeof(*file));
}
