/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/answer.h"

#define MAX_RECORDS 1000u
#define PREFIX      "pythiatop-"
#define ENDING      ".json"

static const char *const letters =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

/* Letters that file and session names may have; all others become '_'. */
static void make_plain(char *text)
{
	for (; *text; text++) {
		*text = strchr(letters, *text) ? *text : '_';
	}
}

/* One for each host: a home directory may be shared among them. */
static bool state_directory(char *path, size_t size)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char host[256] = "";
	int length;

	gethostname(host, sizeof(host) - 1);
	make_plain(host);
	if (xdg && xdg[0] == '/') {
		length = snprintf(path, size, "%s/pythiatop/control/%s", xdg, host);
	} else if (geteuid() == 0) {
		length = snprintf(path, size, "/var/lib/pythiatop/control/%s", host);
	} else if (home && home[0] == '/') {
		length = snprintf(path, size, "%s/.local/state/pythiatop/control/%s", home, host);
	} else {
		return false;
	}
	return length > 0 && (size_t)length < size;
}

/* With all that is above it. The last one is our user's alone. */
static bool make_directory(const char *path)
{
	char part[PATH_MAX];
	struct stat info;
	char *slash;

	snprintf(part, sizeof(part), "%s", path);
	for (slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) != 0 && errno != EEXIST) {
			return false;
		}
		*slash = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		return false;
	}
	if (lstat(path, &info) != 0) {
		return false;
	}
	if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022)) {
		errno = EPERM;
		return false;
	}
	return true;
}

bool owner_init(struct owner *owner, char *error, size_t size)
{
	const struct passwd *person = getpwuid(geteuid());
	char user[33];
	int length;

	snprintf(user, sizeof(user), "%s", person ? person->pw_name : "nobody");
	make_plain(user);
	snprintf(owner->session, sizeof(owner->session), PREFIX "%s-%d", user, (int)getpid());
	snprintf(owner->flight, sizeof(owner->flight), "%s-flight", owner->session);
	snprintf(owner->probe, sizeof(owner->probe), "%s-probe", owner->session);
	if (!state_directory(owner->directory, sizeof(owner->directory))) {
		snprintf(error, size, "neither HOME nor XDG_STATE_HOME is set");
		return false;
	}
	if (!make_directory(owner->directory)) {
		snprintf(error, size, "cannot use %s: %s", owner->directory, strerror(errno));
		return false;
	}
	length = snprintf(owner->path, sizeof(owner->path), "%s/%s" ENDING, owner->directory,
			owner->session);
	if (length < 0 || (size_t)length >= sizeof(owner->path)) {
		snprintf(error, size, "%s is too long", owner->directory);
		return false;
	}
	return true;
}

/* A small file of the system, or a part of it; "" if it cannot be read. */
static void read_small(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0) {
		close(fd);
	}
}

static void read_boot(char *text, size_t size)
{
	read_small("/proc/sys/kernel/random/boot_id", text, size);
}

static void read_namespace(const char *which, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", which);
	n = readlink(path, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
}

/* State and start time of a process (proc_pid_stat(5), fields 3 and 22). False: there is none. */
static bool read_process(pid_t pid, char *state, unsigned long long *start)
{
	char path[64], text[1024];
	const char *at;
	int field;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	read_small(path, text, sizeof(text));
	at = strrchr(text, ')'); /* the name before it may hold anything */
	if (!at || at[1] != ' ' || at[2] == '\0') {
		return false;
	}
	*state = at[2];
	for (at += 2, field = 3; field < 22 && at; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at, "%llu", start) == 1;
}

static json_t *describe(const struct owner *owner, const char *console)
{
	char boot[64], pids[64], mounts[64], state;
	const char *home = getenv("LTTNG_HOME");
	unsigned long long start = 0;

	read_boot(boot, sizeof(boot));
	read_namespace("pid", pids, sizeof(pids));
	read_namespace("mnt", mounts, sizeof(mounts));
	read_process(getpid(), &state, &start);
	return json_pack("{ss ss si sI ss ss ss so so}", "session", owner->session, "flight",
			owner->flight, "pid", (int)getpid(), "start", (json_int_t)start, "boot",
			boot, "pid_namespace", pids, "mount_namespace", mounts, "lttng_home",
			answer_text(home ? home : ""), "console", answer_text(console));
}

bool owner_write(const struct owner *owner, const char *console, char *error, size_t size)
{
	char fresh[PATH_MAX + 8];
	json_t *record = describe(owner, console);
	int fd, failed = ENOMEM;

	snprintf(fresh, sizeof(fresh), "%s.new", owner->path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		failed = errno;
	} else if (record) {
		failed = json_dumpfd(record, fd, JSON_COMPACT) != 0 || fsync(fd) != 0 ||
							 rename(fresh, owner->path) != 0
					 ? errno
					 : 0;
	}
	if (fd >= 0) {
		close(fd);
	}
	json_decref(record);
	if (failed) {
		snprintf(error, size, "cannot write %s: %s", owner->path, strerror(failed));
		unlink(fresh);
	}
	return !failed;
}

void owner_renew(const struct owner *owner)
{
	/* A failure makes us look stale, but only a stopped owner is judged by its age. */
	utimensat(AT_FDCWD, owner->path, NULL, AT_SYMLINK_NOFOLLOW);
}

void owner_remove(const struct owner *owner)
{
	unlink(owner->path);
}

static const char *text_in(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? text : "";
}

static bool is_gone(const json_t *record, const struct stat *info)
{
	pid_t pid = (pid_t)json_integer_value(json_object_get(record, "pid"));
	char boot[64], pids[64], state = 0;
	unsigned long long start = 0;

	read_boot(boot, sizeof(boot));
	if (strcmp(boot, text_in(record, "boot")) != 0) {
		return true;
	}
	read_namespace("pid", pids, sizeof(pids));
	if (strcmp(pids, text_in(record, "pid_namespace")) != 0) {
		return false;
	}
	if (!read_process(pid, &state, &start) || state == 'Z' || state == 'X' ||
			(json_int_t)start != json_integer_value(json_object_get(record, "start"))) {
		return true;
	}
	return (state == 'T' || state == 't') &&
	       time(NULL) - info->st_mtime > CONTROL_LEASE_MS / 1000;
}

/* A record that some other program of our user's wrote there must not make us destroy things. */
static bool is_session(const char *session)
{
	return strncmp(session, PREFIX, strlen(PREFIX)) == 0 &&
	       strspn(session, letters) == strlen(session);
}

static bool read_record(const char *directory, const char *name, struct owner_record *record)
{
	struct stat info;
	char mounts[64];
	json_t *json;
	bool gone;
	int length = snprintf(record->path, sizeof(record->path), "%s/%s", directory, name);

	if (length < 0 || (size_t)length >= sizeof(record->path) ||
			lstat(record->path, &info) != 0 || !S_ISREG(info.st_mode)) {
		return false;
	}
	json = json_load_file(record->path, 0, NULL);
	snprintf(record->session, sizeof(record->session), "%s", text_in(json, "session"));
	snprintf(record->flight, sizeof(record->flight), "%s", text_in(json, "flight"));
	snprintf(record->lttng_home, sizeof(record->lttng_home), "%s", text_in(json, "lttng_home"));
	read_namespace("mnt", mounts, sizeof(mounts));
	record->elsewhere = strcmp(mounts, text_in(json, "mount_namespace")) != 0;
	gone = json && is_session(record->session) && is_session(record->flight) &&
	       strncmp(name, record->session, strlen(record->session)) == 0 && is_gone(json, &info);
	json_decref(json);
	return gone;
}

void owner_each_gone(const struct owner *owner,
		bool (*take)(void *context, const struct owner_record *record), void *context)
{
	DIR *directory = opendir(owner->directory);
	struct owner_record record;
	const struct dirent *entry;
	uint32_t n = 0;

	while (directory && n < MAX_RECORDS && (entry = readdir(directory))) {
		size_t length = strlen(entry->d_name);

		if (length <= strlen(ENDING) ||
				strcmp(entry->d_name + length - strlen(ENDING), ENDING) != 0) {
			continue;
		}
		n++;
		if (read_record(owner->directory, entry->d_name, &record) &&
				strcmp(record.path, owner->path) != 0 && !take(context, &record)) {
			break;
		}
	}
	if (directory) {
		closedir(directory);
	}
}
