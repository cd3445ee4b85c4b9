/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "intake/demangle.h"
#include "intake/symbols.h"

#define MAX_FILES      256u
#define MAX_SYMBOLS    4000000u /* of all files */
#define MAX_FILE_BYTES (INT64_C(2) << 30)
#define MAX_ID         64u
#define MAX_NAME       1024u
#define DEBUG_ROOT     "/usr/lib/debug/.build-id/"

struct function {
	uint64_t address, size;
	uint32_t name; /* in texts */
	bool shared;   /* another function has the same name */
};

/* The functions of one build of a file; none where there is no such file here. */
struct symbol_file {
	struct symbol_file *next; /* by age, newest first */
	char *path;
	uint8_t build_id[MAX_ID];
	uint32_t build_id_bytes;
	uint64_t base; /* address of the first byte, as the file counts */
	uint32_t n, room;
	struct function *functions; /* by address */
	char *texts;
	uint32_t texts_used, texts_room;
};

struct symbol_files {
	struct symbol_file *newest;
	uint32_t n;
	uint64_t n_functions;
};

struct symbol_files *symbol_files_create(void)
{
	return elf_version(EV_CURRENT) == EV_NONE ? NULL : calloc(1, sizeof(struct symbol_files));
}

static void file_destroy(struct symbol_file *file)
{
	free(file->path);
	free(file->functions);
	free(file->texts);
	free(file);
}

void symbol_files_destroy(struct symbol_files *files)
{
	struct symbol_file *file, *next;

	for (file = files ? files->newest : NULL; file; file = next) {
		next = file->next;
		file_destroy(file);
	}
	free(files);
}

/* --- reading a file --- */

/* Not mapped: a file that is cut short meanwhile must not end this process. */
static Elf *open_elf(const char *path, int *fd)
{
	struct stat info;
	Elf *elf = NULL;

	/* Neither a FIFO nor a terminal may hold us up, or become ours. */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0) {
		return NULL;
	}
	if (fstat(*fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MAX_FILE_BYTES) {
		elf = elf_begin(*fd, ELF_C_READ, NULL);
	}
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		close(*fd);
		return NULL;
	}
	return elf;
}

static bool has_build_id(Elf *elf, const struct symbol_file *file)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

	return bytes > 0 && (uint32_t)bytes == file->build_id_bytes &&
	       memcmp(id, file->build_id, (size_t)bytes) == 0;
}

/* Where the file's first byte is meant to be: the page of the lowest segment. */
static uint64_t base_of(Elf *elf)
{
	uint64_t base = UINT64_MAX;
	size_t i, n = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &n) != 0) {
		return 0;
	}
	for (i = 0; i < n && i < INT_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
				segment.p_vaddr < base) {
			base = segment.p_vaddr;
		}
	}
	return base == UINT64_MAX ? 0 : base;
}

static bool add_text(struct symbol_file *file, const char *text, uint32_t *at)
{
	size_t length = strnlen(text, MAX_NAME - 1);

	if (!array_reserve(&file->texts, &file->texts_room, file->texts_used + (uint32_t)length + 1)) {
		return false;
	}
	*at = file->texts_used;
	memcpy(file->texts + *at, text, length);
	file->texts[*at + length] = '\0';
	file->texts_used += (uint32_t)length + 1;
	return true;
}

static bool add_function(struct symbol_file *file, const GElf_Sym *symbol, const char *name)
{
	struct function *function;
	char source[MAX_NAME];

	if (!array_reserve(&file->functions, &file->room, file->n + 1)) {
		return false;
	}
	function = &file->functions[file->n];
	*function = (struct function){.address = symbol->st_value, .size = symbol->st_size};
	if (!add_text(file, demangle(name, source, sizeof(source)) ? source : name,
			    &function->name)) {
		return false;
	}
	file->n++;
	return true;
}

static void read_table(struct symbol_file *file, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t i, n;

	if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0) {
		return;
	}
	n = data->d_size / header.sh_entsize;
	for (i = 0; i < n && i < INT_MAX && file->n < MAX_SYMBOLS; i++) {
		GElf_Sym symbol;
		const char *name;
		unsigned char type;

		if (!gelf_getsym(data, (int)i, &symbol)) {
			return;
		}
		type = GELF_ST_TYPE(symbol.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) {
			continue;
		}
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name && name[0] && !add_function(file, &symbol, name)) {
			return;
		}
	}
}

/* The full table if there is one, else that of what other binaries may use. */
static void read_functions(struct symbol_file *file, Elf *elf, bool full)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
				header.sh_type == (full ? SHT_SYMTAB : SHT_DYNSYM)) {
			read_table(file, elf, section);
		}
	}
}

static int by_address(const void *x, const void *y, void *context)
{
	const struct function *a = x, *b = y;
	const struct symbol_file *file = context;

	if (a->address != b->address) {
		return a->address < b->address ? -1 : 1;
	}
	/* Of several names of one function, always the same one. */
	return strcmp(file->texts + a->name, file->texts + b->name);
}

static int by_name(const void *x, const void *y, void *context)
{
	const struct symbol_file *file = context;
	const struct function *a = &file->functions[*(const uint32_t *)x];
	const struct function *b = &file->functions[*(const uint32_t *)y];

	return strcmp(file->texts + a->name, file->texts + b->name);
}

/* Static functions of one name in several sources. */
static void mark_shared(struct symbol_file *file)
{
	uint32_t *order = malloc((file->n + 1) * sizeof(*order)), i;

	if (!order) {
		return;
	}
	for (i = 0; i < file->n; i++) {
		order[i] = i;
	}
	qsort_r(order, file->n, sizeof(*order), by_name, file);
	for (i = 1; i < file->n; i++) {
		struct function *a = &file->functions[order[i - 1]];
		struct function *b = &file->functions[order[i]];

		if (strcmp(file->texts + a->name, file->texts + b->name) == 0 &&
				a->address != b->address) {
			a->shared = b->shared = true;
		}
	}
	free(order);
}

/* The distribution's debug file of that build. False: the path would be too long. */
static bool debug_path(const struct symbol_file *file, char *path, size_t size)
{
	size_t used = (size_t)snprintf(path, size, DEBUG_ROOT "%02x/", file->build_id[0]);
	uint32_t i;

	for (i = 1; i < file->build_id_bytes && used < size; i++) {
		used += (size_t)snprintf(path + used, size - used, "%02x", file->build_id[i]);
	}
	return used < size && snprintf(path + used, size - used, ".debug") < (int)(size - used);
}

static void load_from(struct symbol_file *file, const char *path, bool full)
{
	int fd;
	Elf *elf = open_elf(path, &fd);

	if (!elf) {
		return;
	}
	if (has_build_id(elf, file)) {
		file->base = base_of(elf);
		read_functions(file, elf, full);
	}
	elf_end(elf);
	close(fd);
}

static void load(struct symbol_file *file)
{
	char debug[sizeof(DEBUG_ROOT) + 2 * MAX_ID + 16];

	load_from(file, file->path, true);
	if (file->n == 0 && debug_path(file, debug, sizeof(debug))) {
		load_from(file, debug, true);
	}
	if (file->n == 0) {
		load_from(file, file->path, false);
	}
	if (file->n > 0) {
		qsort_r(file->functions, file->n, sizeof(*file->functions), by_address, file);
		mark_shared(file);
	}
}

/* --- the files that were looked into --- */

static void forget_oldest(struct symbol_files *files)
{
	struct symbol_file **at = &files->newest;

	while ((*at)->next) {
		at = &(*at)->next;
	}
	files->n--;
	files->n_functions -= (*at)->n;
	file_destroy(*at);
	*at = NULL;
}

static struct symbol_file *find_file(struct symbol_files *files, const char *path,
		const uint8_t *build_id, uint32_t build_id_bytes)
{
	struct symbol_file *file;

	for (file = files->newest; file; file = file->next) {
		if (file->build_id_bytes == build_id_bytes && strcmp(file->path, path) == 0 &&
				memcmp(file->build_id, build_id, build_id_bytes) == 0) {
			return file;
		}
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		return NULL;
	}
	file->path = strdup(path);
	file->build_id_bytes = build_id_bytes;
	memcpy(file->build_id, build_id, build_id_bytes);
	if (!file->path) {
		file_destroy(file);
		return NULL;
	}
	load(file);
	while (files->newest &&
			(files->n >= MAX_FILES || files->n_functions + file->n > MAX_SYMBOLS)) {
		forget_oldest(files);
	}
	file->next = files->newest;
	files->newest = file;
	files->n++;
	files->n_functions += file->n;
	return file;
}

bool symbol_files_find(struct symbol_files *files, const char *path, const uint8_t *build_id,
		uint32_t build_id_bytes, uint64_t offset, char *name, size_t size)
{
	const struct symbol_file *file;
	const struct function *function;
	uint32_t low = 0, high;
	uint64_t address;

	if (build_id_bytes == 0 || build_id_bytes > MAX_ID || path[0] != '/') {
		return false;
	}
	file = find_file(files, path, build_id, build_id_bytes);
	if (!file || file->n == 0) {
		return false;
	}
	address = file->base + offset;
	high = file->n; /* the first function behind the address */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (file->functions[middle].address <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == 0) {
		return false;
	}
	/* Of several with one address, the first by name. */
	for (low--; low > 0 && file->functions[low - 1].address == file->functions[low].address;) {
		low--;
	}
	function = &file->functions[low];
	if (address - function->address >= (function->size ? function->size : 1)) {
		return false;
	}
	snprintf(name, size, "%s", file->texts + function->name);
	if (function->shared && strlen(name) + 24 < size) {
		snprintf(name + strlen(name), 24, "+0x%" PRIx64, offset);
	}
	return true;
}
