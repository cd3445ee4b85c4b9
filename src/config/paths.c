/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/paths.h"

static bool join(char *path, size_t size, const char *a, const char *b, const char *c)
{
	int length = snprintf(path, size, "%s%s%s", a, b, c);

	return length > 0 && (size_t)length < size;
}

/* The person's directory of a kind for pythiatop, with a '/' at its end. */
static bool person_home(const char *variable, const char *otherwise, char *path, size_t size)
{
	const char *xdg = getenv(variable);
	const char *home = getenv("HOME");

	if (xdg && xdg[0] == '/') { /* relative ones are to be ignored, says the specification */
		return join(path, size, xdg, "/pythiatop/", "");
	}
	return home && home[0] == '/' && join(path, size, home, otherwise, "/pythiatop/");
}

static bool config_home(char *path, size_t size)
{
	return person_home("XDG_CONFIG_HOME", "/.config", path, size);
}

/* Makes each directory on the way to a file. */
static bool make_directories(const char *path)
{
	char part[PATH_MAX];
	size_t i;

	for (i = 1; path[i] && i < sizeof(part); i++) {
		if (path[i] == '/') {
			memcpy(part, path, i);
			part[i] = '\0';
			if (mkdir(part, 0700) != 0 && errno != EEXIST) {
				return false;
			}
		}
	}
	return true;
}

bool paths_state(const char *name, char *path, size_t size)
{
	char home[PATH_MAX];

	errno = ENOENT;
	return person_home("XDG_STATE_HOME", "/.local/state", home, sizeof(home)) &&
	       join(path, size, home, name, "") && make_directories(path);
}

/* The directory of the running program, with a '/' at its end. */
static bool program_directory(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (length <= 0) {
		return false;
	}
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash) {
		return false;
	}
	slash[1] = '\0';
	return true;
}

bool paths_config(char *path, size_t size)
{
	char home[PATH_MAX];

	return config_home(home, sizeof(home)) && join(path, size, home, "pythiatop.conf", "");
}

bool paths_sibling(const char *name, char *path, size_t size)
{
	char directory[PATH_MAX];

	return program_directory(directory, sizeof(directory)) &&
	       join(path, size, directory, name, "") && access(path, X_OK) == 0;
}

static const struct kind {
	const char *folder, *source_folder, *ending;
} kinds[] = {
		[PATHS_THEME] = {"themes", "themes", ".theme"},
		[PATHS_SCHEMA] = {"schemas", "analysis/schemas", ".yaml"},
};

/* `base` + folder + '/' + name + ending, if such a file can be read. */
static bool find(char *path, size_t size, const char *base, const char *folder, const char *name,
		const char *ending)
{
	int length = snprintf(path, size, "%s%s/%s%s", base, folder, name, ending);

	return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool paths_data(enum paths_kind kind, const char *name, char *path, size_t size)
{
	const struct kind *k = &kinds[kind];
	char base[PATH_MAX];

	if (strchr(name, '/') || is_file(name)) {
		return join(path, size, name, "", "");
	}
	if (config_home(base, sizeof(base)) && find(path, size, base, k->folder, name, k->ending)) {
		return true;
	}
	if (program_directory(base, sizeof(base))) {
		char data[PATH_MAX];

		if (join(data, sizeof(data), base, "../share/pythiatop/", "") &&
				find(path, size, data, k->folder, name, k->ending)) {
			return true;
		}
	}
	/* The source tree serves the program in its build directory; it is not there once
	 * installed. */
	return find(path, size, PT_DATA_ROOT "/", k->folder, name, k->ending) ||
	       find(path, size, PT_SOURCE_ROOT "/", k->source_folder, name, k->ending);
}
