/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_PATHS_H
#define PT_CONFIG_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where files are (XDG Base Directory Specification 0.8).
 *
 * The person's own come first, then the installed ones, then those of the source tree where the
 * program runs from its build directory.
 */

/* The configuration file, whether it exists or not. False: no home directory, or too long. */
bool paths_config(char *path, size_t size);

/*
 * The file of that name among what the program keeps from run to run, in $XDG_STATE_HOME/pythiatop.
 * Makes the directories. False: no home directory, too long, or errno.
 */
bool paths_state(const char *name, char *path, size_t size);

/* Themes (`themes/NAME.theme`) and ready schemas (`schemas/NAME.yaml`). */
enum paths_kind {
	PATHS_THEME = 0,
	PATHS_SCHEMA,
};

/*
 * An existing data file by its name, without the ending: in $XDG_CONFIG_HOME/pythiatop, the
 * installation, or the source tree. A name with a '/', or that is a file as it stands, names
 * itself.
 */
bool paths_data(enum paths_kind kind, const char *name, char *path, size_t size);

/* A file in the directory of the running program; "pythiatop-source" is found so. */
bool paths_sibling(const char *name, char *path, size_t size);

#endif
