/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

struct file {
	char *name;
	unsigned char *bytes; /* mapped */
	size_t size, at;      /* at: of the next packet */
	struct packet_look first;
};

/* Files first to last of the list, one after the other. */
struct file_stream {
	struct packet_stream *stream; /* NULL: it is over */
	struct file **files;
	uint32_t n, next;
};

struct files {
	const char *directory;
	struct packet_trace *trace;
	struct file **list;
	uint32_t n, room;
	struct file_stream *streams;
	uint32_t n_streams;
	uint64_t begin_ns, end_ns;
};

__attribute__((format(printf, 2, 3))) static bool fail(
		struct files_fault *fault, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return false;
}

static void file_close(struct file *file)
{
	if (file->bytes) {
		munmap(file->bytes, file->size);
	}
	free(file->name);
	free(file);
}

void files_close(struct files *files)
{
	if (!files) {
		return;
	}
	for (uint32_t i = 0; i < files->n; i++) {
		file_close(files->list[i]);
	}
	free(files->list);
	free(files->streams);
	free(files);
}

/* The file's bytes, mapped; NULL if it is empty, or cannot be read. */
static unsigned char *map_file(int directory, const char *name, size_t *size)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	struct stat info;
	void *bytes = MAP_FAILED;

	if (fd < 0) {
		return NULL;
	}
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
		*size = (size_t)info.st_size;
		bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return bytes == MAP_FAILED ? NULL : bytes;
}

static bool read_metadata(struct files *files, int directory, struct files_fault *fault)
{
	size_t size;
	unsigned char *bytes = map_file(directory, "metadata", &size);
	char why[256];
	bool done;

	if (!bytes) {
		return fail(fault, "cannot read %s/metadata", files->directory);
	}
	done = packet_trace_metadata(files->trace, bytes, size, why, sizeof(why)) &&
	       packet_trace_is_whole(files->trace, why, sizeof(why));
	munmap(bytes, size);
	return done || fail(fault, "%s", why);
}

/* --- Files of a directory -----------------------------------------------------------------------
 */

static bool add_file(
		struct files *files, int directory, const char *name, struct files_fault *fault)
{
	struct file *file = calloc(1, sizeof(*file));
	char why[256];

	if (!file || !array_reserve(&files->list, &files->room, files->n + 1)) {
		free(file);
		return fail(fault, "out of memory");
	}
	files->list[files->n++] = file;
	file->name = strdup(name);
	file->bytes = map_file(directory, name, &file->size);
	if (!file->bytes) {
		file_close(file);
		files->n--;
		return true;
	}
	if (!file->name || !packet_trace_look(files->trace, file->bytes, file->size, &file->first,
					   why, sizeof(why))) {
		return fail(fault, "%s/%s: %s", files->directory, name, why);
	}
	return true;
}

/* All but metadata and hidden ones, as CTF says. */
static bool add_files(struct files *files, DIR *directory, struct files_fault *fault)
{
	const struct dirent *entry;

	while ((entry = readdir(directory))) {
		struct stat info;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "metadata") == 0 ||
				fstatat(dirfd(directory), entry->d_name, &info, 0) != 0 ||
				!S_ISREG(info.st_mode)) {
			continue;
		}
		if (!add_file(files, dirfd(directory), entry->d_name, fault)) {
			return false;
		}
	}
	return true;
}

static bool is_same_stream(const struct file *a, const struct file *b)
{
	return a->first.class_id == b->first.class_id && a->first.stream_id != UINT64_MAX &&
	       a->first.stream_id == b->first.stream_id;
}

static int by_begin(const void *a, const void *b)
{
	const struct file *first = *(struct file *const *)a, *second = *(struct file *const *)b;

	if (first->first.begin_ns != second->first.begin_ns) {
		return first->first.begin_ns < second->first.begin_ns ? -1 : 1;
	}
	return strcmp(first->name, second->name);
}

static int by_first_name(const void *a, const void *b)
{
	const struct file_stream *first = a, *second = b;

	return strcmp(first->files[0]->name, second->files[0]->name);
}

/* Moves the files of one stream to the place of its first one; how many they are. */
static uint32_t gather(struct files *files, uint32_t first)
{
	uint32_t end = first + 1;

	for (uint32_t i = end; i < files->n; i++) {
		if (is_same_stream(files->list[first], files->list[i])) {
			struct file *file = files->list[i];

			files->list[i] = files->list[end];
			files->list[end++] = file;
		}
	}
	return end - first;
}

/* How many streams of the class before this one do not tell their numbers either. */
static uint64_t number_of(const struct files *files, uint32_t index)
{
	uint64_t class_id = files->streams[index].files[0]->first.class_id, n = 0;

	for (uint32_t i = 0; i < index; i++) {
		const struct packet_look *look = &files->streams[i].files[0]->first;

		n += look->class_id == class_id && look->stream_id == UINT64_MAX;
	}
	return n;
}

static bool make_streams(struct files *files, struct files_fault *fault)
{
	files->streams = calloc(files->n + 1, sizeof(*files->streams));
	if (!files->streams) {
		return fail(fault, "out of memory");
	}
	for (uint32_t i = 0; i < files->n;) {
		struct file_stream *stream = &files->streams[files->n_streams++];

		stream->files = files->list + i;
		stream->n = gather(files, i);
		qsort(stream->files, stream->n, sizeof(struct file *), by_begin);
		i += stream->n;
	}
	qsort(files->streams, files->n_streams, sizeof(*files->streams), by_first_name);
	for (uint32_t i = 0; i < files->n_streams; i++) {
		struct file_stream *stream = &files->streams[i];

		stream->stream = packet_trace_stream(
				files->trace, number_of(files, i), stream->files[0]->name);
		if (!stream->stream) {
			return fail(fault, "out of memory");
		}
	}
	return true;
}

/* When a stream begins and ends: its first packet and its last one tell. */
static bool measure(struct files *files, const struct file *file, struct files_fault *fault)
{
	struct packet_look look = file->first;
	char why[256];

	if (look.begin_ns > 0 && (files->begin_ns == 0 || look.begin_ns < files->begin_ns)) {
		files->begin_ns = look.begin_ns;
	}
	for (size_t at = 0; at < file->size; at += look.bytes) {
		if (!packet_trace_look(files->trace, file->bytes + at, file->size - at, &look, why,
				    sizeof(why))) {
			return fail(fault, "%s/%s: %s", files->directory, file->name, why);
		}
		if (look.bytes == 0 || look.bytes > file->size - at) {
			return fail(fault, "%s/%s is cut off", files->directory, file->name);
		}
	}
	if (look.end_ns > files->end_ns) {
		files->end_ns = look.end_ns;
	}
	return true;
}

static bool open_all(struct files *files, DIR *directory, struct files_fault *fault)
{
	if (!read_metadata(files, dirfd(directory), fault) || !add_files(files, directory, fault) ||
			!make_streams(files, fault)) {
		return false;
	}
	for (uint32_t i = 0; i < files->n; i++) {
		if (!measure(files, files->list[i], fault)) {
			return false;
		}
	}
	return true;
}

struct files *files_open(struct packets *packets, const char *directory, struct files_fault *fault)
{
	struct files *files = calloc(1, sizeof(*files));
	DIR *stream;
	bool done;

	fault->text[0] = '\0';
	if (!files) {
		return NULL;
	}
	files->directory = directory;
	files->trace = packets_trace(packets);
	stream = files->trace ? opendir(directory) : NULL;
	if (!stream) {
		fail(fault, "cannot open %s: %s", directory, strerror(errno));
		files_close(files);
		return NULL;
	}
	done = open_all(files, stream, fault);
	closedir(stream);
	if (!done) {
		files_close(files);
		return NULL;
	}
	if (files->begin_ns > 0 && files->end_ns >= files->begin_ns) {
		packets_expect(packets, files->begin_ns, files->end_ns);
	}
	return files;
}

/* --- Packets ------------------------------------------------------------------------------------
 */

static bool give_packet(struct files *files, struct file_stream *stream, struct files_fault *fault)
{
	struct file *file = stream->files[stream->next];
	struct packet_look look;
	unsigned char *bytes;
	char why[256];

	if (!packet_trace_look(files->trace, file->bytes + file->at, file->size - file->at, &look,
			    why, sizeof(why))) {
		return fail(fault, "%s/%s: %s", files->directory, file->name, why);
	}
	if (look.bytes == 0 || look.bytes > file->size - file->at) {
		return fail(fault, "%s/%s is cut off", files->directory, file->name);
	}
	bytes = malloc(look.bytes);
	if (!bytes) {
		return fail(fault, "out of memory");
	}
	memcpy(bytes, file->bytes + file->at, look.bytes);
	file->at += look.bytes;
	return packet_stream_give(stream->stream, bytes, look.bytes) ||
	       fail(fault, "out of memory");
}

/* Behind the files that have been given whole. */
static void pass_files(struct file_stream *stream)
{
	while (stream->next < stream->n &&
			stream->files[stream->next]->at == stream->files[stream->next]->size) {
		stream->next++;
	}
}

/* One packet is read while the next one is there already: so the merge seldom has to wait. */
static bool give_two(struct files *files, struct file_stream *stream, struct files_fault *fault)
{
	size_t bytes;

	while (stream->stream && packet_stream_held(stream->stream, &bytes) < 2) {
		pass_files(stream);
		if (stream->next < stream->n && !give_packet(files, stream, fault)) {
			return false;
		}
		pass_files(stream);
		if (stream->next == stream->n) {
			packet_stream_end(stream->stream); /* once it is read */
			stream->stream = NULL;
		}
	}
	return true;
}

bool files_give(struct files *files, struct files_fault *fault)
{
	fault->text[0] = '\0';
	for (uint32_t i = 0; i < files->n_streams; i++) {
		if (!give_two(files, &files->streams[i], fault)) {
			return false;
		}
	}
	return true;
}
