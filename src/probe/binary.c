/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/binary.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define MAX_FUNCTIONS 2000000u
#define MAX_SEGMENTS  64u

struct segment {
	uint64_t address, bytes, offset;
};

struct binary {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias; /* what dwfl adds to the file's addresses */
	uint32_t n_segments;
	struct segment segments[MAX_SEGMENTS]; /* that are executed */
	uint32_t n, room;
	struct binary_function *functions;
	bool unwinds;
};

static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
};

/* --- Symbols ---------------------------------------------------------------------------------- */

static void read_segments(struct binary *binary, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &n) != 0) {
		return;
	}
	for (size_t i = 0; i < n && i < INT_MAX && binary->n_segments < MAX_SEGMENTS; i++) {
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
				(header.p_flags & PF_X)) {
			binary->segments[binary->n_segments++] = (struct segment){
					header.p_vaddr, header.p_filesz, header.p_offset};
		}
	}
}

/* Where the byte at `address` stands in the file; false: nowhere. */
static bool binary_offset(const struct binary *binary, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < binary->n_segments; i++) {
		const struct segment *segment = &binary->segments[i];

		if (address >= segment->address && address - segment->address < segment->bytes) {
			*offset = address - segment->address + segment->offset;
			return true;
		}
	}
	return false;
}

/* As they are in the file; NULL: not all of them are in it. */
static const unsigned char *bytes_at(const struct binary *binary, uint64_t offset, size_t n)
{
	size_t size = 0;
	const char *file = elf_rawfile(binary->elf, &size);

	return file && offset <= size && size - offset >= n ? (const unsigned char *)file + offset
							    : NULL;
}

/* A push of a register, a nop, a call or a jump: what x86 kernels emulate. */
bool binary_is_stepped(const struct binary *binary, uint64_t offset)
{
	const unsigned char *code = bytes_at(binary, offset, 2);

	if (!code) {
		return true;
	}
	code += code[0] == 0x41; /* registers from r8 on */
	return !((*code & 0xf8) == 0x50 || *code == 0x90 || *code == 0xe8 || *code == 0xe9 ||
			*code == 0xeb);
}

void binary_code(const struct binary *binary, uint64_t *offset, uint64_t *bytes)
{
	uint64_t begins = UINT64_MAX, ends = 0;

	*offset = 0;
	for (uint32_t i = 0; i < binary->n_segments; i++) {
		const struct segment *segment = &binary->segments[i];

		if (segment->address < begins) {
			begins = segment->address;
			*offset = segment->offset;
		}
		if (segment->address + segment->bytes > ends) {
			ends = segment->address + segment->bytes;
		}
	}
	*bytes = ends > begins ? ends - begins : 0;
}

/* call rel32 (e8), or an indirect call (ff /2) with one to six bytes of operand. */
bool binary_is_return(const struct binary *binary, uint64_t offset)
{
	static const uint8_t lengths[] = {2, 3, 4, 6, 7};
	const unsigned char *before = offset < 7 ? NULL : bytes_at(binary, offset - 7, 7);
	bool found = before && before[7 - 5] == 0xe8;

	for (size_t i = 0; before && !found && i < sizeof(lengths); i++) {
		const unsigned char *code = before + 7 - lengths[i];

		found = code[0] == 0xff && (code[1] >> 3 & 7) == 2;
	}
	return found;
}

/* The personality routines that unwinding asks in each frame; names may have a version behind. */
static bool is_personality(const char *name)
{
	return strncmp(name, "__gxx_personality_v0", 20) == 0 ||
	       strstr(name, "rust_eh_personality");
}

static bool is_go(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0) {
		return false;
	}
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
						   ? elf_strptr(elf, names, header.sh_name)
						   : NULL;

		if (name && (strcmp(name, ".gopclntab") == 0 || strcmp(name, ".go.buildinfo") == 0)) {
			return true;
		}
	}
	return false;
}

bool binary_unwinds(const struct binary *binary)
{
	return binary->unwinds;
}

/* Where the program is entered no return address is on the stack, but the number of its arguments. */
static bool is_entry(const struct binary *binary, uint64_t address)
{
	GElf_Ehdr header;

	return gelf_getehdr(binary->elf, &header) && header.e_entry == address;
}

static bool read_functions(struct binary *binary)
{
	int n = dwfl_module_getsymtab(binary->module);

	for (int i = 1; i < n && binary->n < MAX_FUNCTIONS; i++) {
		struct binary_function function;
		GElf_Addr address;
		GElf_Sym symbol;
		Elf *elf;

		function.name = dwfl_module_getsym_info(
				binary->module, i, &symbol, &address, NULL, &elf, NULL);
		binary->unwinds = binary->unwinds || (function.name && is_personality(function.name));
		if (!function.name || !function.name[0] ||
				GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
				symbol.st_shndx == SHN_UNDEF) {
			continue;
		}
		function.address = address - binary->bias;
		if (is_entry(binary, function.address) ||
				!binary_offset(binary, function.address, &function.offset)) {
			continue;
		}
		function.stepped = binary_is_stepped(binary, function.offset);
		if (!array_reserve(&binary->functions, &binary->room, binary->n + 1)) {
			return false;
		}
		binary->functions[binary->n++] = function;
	}
	return true;
}

static int by_address(const void *x, const void *y)
{
	const struct binary_function *a = x, *b = y;

	return a->address != b->address ? (a->address > b->address) - (a->address < b->address)
					: strcmp(a->name, b->name);
}

static void drop_aliases(struct binary *binary)
{
	uint32_t kept = 0;

	if (binary->n > 0) {
		qsort(binary->functions, binary->n, sizeof(*binary->functions), by_address);
	}
	for (uint32_t i = 0; i < binary->n; i++) {
		if (kept == 0 || binary->functions[kept - 1].address !=
						 binary->functions[i].address) {
			binary->functions[kept++] = binary->functions[i];
		}
	}
	binary->n = kept;
}

/* A FIFO or a device must not hold us up. */
static enum status open_file(const char *path, int *fd)
{
	struct stat info;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0) {
		return STATUS_NOT_FOUND;
	}
	if (fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(*fd);
		return STATUS_INVALID;
	}
	return STATUS_OK;
}

static enum status report(struct binary *binary, const char *path, int fd)
{
	binary->dwfl = dwfl_begin(&callbacks);
	if (!binary->dwfl) {
		close(fd);
		return STATUS_NO_MEMORY;
	}
	dwfl_report_begin(binary->dwfl);
	/* It takes the descriptor if it succeeds. */
	binary->module = dwfl_report_elf(binary->dwfl, path, path, fd, 0, false);
	if (!binary->module) {
		close(fd);
	}
	dwfl_report_end(binary->dwfl, NULL, NULL);
	binary->elf = binary->module ? dwfl_module_getelf(binary->module, &binary->bias) : NULL;
	if (!binary->elf || gelf_getclass(binary->elf) != ELFCLASS64) {
		return STATUS_INVALID;
	}
	read_segments(binary, binary->elf);
	return STATUS_OK;
}

enum status binary_open(struct binary **out, const char *path)
{
	struct binary *binary;
	int fd;
	enum status status = open_file(path, &fd);

	*out = NULL;
	if (status != STATUS_OK) {
		return status;
	}
	binary = calloc(1, sizeof(*binary));
	if (!binary) {
		close(fd);
		return STATUS_NO_MEMORY;
	}
	status = report(binary, path, fd);
	binary->unwinds = status == STATUS_OK && is_go(binary->elf);
	if (status == STATUS_OK && !read_functions(binary)) {
		status = STATUS_NO_MEMORY;
	}
	if (status != STATUS_OK) {
		binary_close(binary);
		return status;
	}
	drop_aliases(binary);
	*out = binary;
	return STATUS_OK;
}

void binary_close(struct binary *binary)
{
	if (!binary) {
		return;
	}
	dwfl_end(binary->dwfl);
	free(binary->functions);
	free(binary);
}

const struct binary_function *binary_functions(const struct binary *binary, uint32_t *n)
{
	*n = binary->n;
	return binary->functions;
}

/* --- Arguments -------------------------------------------------------------------------------- */

/* The type behind names and qualifiers; false: none, as of void. */
static bool peel(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type) && dwarf_peel_type(type, type) == 0;
}

static bool is_text(Dwarf_Die *pointer)
{
	Dwarf_Die type;
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	return peel(pointer, &type) && dwarf_tag(&type) == DW_TAG_base_type &&
	       dwarf_bytesize(&type) == 1 && dwarf_attr(&type, DW_AT_encoding, &attribute) &&
	       dwarf_formudata(&attribute, &encoding) == 0 && encoding == DW_ATE_signed_char;
}

enum passing {
	PASS_REGISTER = 0,
	PASS_ELSEWHERE, /* not in an integer register, but those of the others are known */
	PASS_UNKNOWN,
};

static enum passing of_base(Dwarf_Die *type, struct binary_value *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	int bytes = dwarf_bytesize(type);

	if (!dwarf_attr(type, DW_AT_encoding, &attribute) ||
			dwarf_formudata(&attribute, &encoding) != 0) {
		return PASS_UNKNOWN;
	}
	if (encoding == DW_ATE_float) {
		return PASS_ELSEWHERE;
	}
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
		return PASS_UNKNOWN; /* __int128 takes two registers */
	}
	value->bytes = (uint8_t)bytes;
	value->kind = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? BINARY_SIGNED
										  : BINARY_UNSIGNED;
	return PASS_REGISTER;
}

/* `die`: of an argument, or of the function, whose type is that of its result. */
static enum passing describe(Dwarf_Die *die, struct binary_value *value)
{
	Dwarf_Die type;
	int bytes;

	if (!peel(die, &type)) {
		return PASS_UNKNOWN;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		return of_base(&type, value);
	case DW_TAG_enumeration_type:
		bytes = dwarf_bytesize(&type);
		value->kind = BINARY_SIGNED;
		value->bytes = bytes == 1 || bytes == 2 || bytes == 8 ? (uint8_t)bytes : 4;
		return PASS_REGISTER;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		value->kind = is_text(&type) ? BINARY_TEXT : BINARY_POINTER;
		value->bytes = 8;
		return PASS_REGISTER;
	default:
		return PASS_UNKNOWN;
	}
}

static void name_value(struct binary_value *value, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	size_t n = 0;

	/* What is no letter, digit or underscore has no place in a field's name. */
	for (; name && name[n] && n + 1 < BINARY_NAME; n++) {
		bool plain = (name[n] >= 'a' && name[n] <= 'z') ||
			     (name[n] >= 'A' && name[n] <= 'Z') ||
			     (name[n] >= '0' && name[n] <= '9');

		value->name[n] = plain ? name[n] : '_';
	}
	value->name[n] = '\0';
	if (n == 0) {
		snprintf(value->name, sizeof(value->name), "argument%u", value->at + 1u);
	}
}

static bool is_taken(const struct binary_arguments *arguments, const char *name)
{
	for (uint32_t i = 0; i < arguments->n; i++) {
		if (strcmp(arguments->list[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void read_parameters(Dwarf_Die *function, struct binary_arguments *arguments)
{
	Dwarf_Die child;
	uint8_t at = 0;
	int more = dwarf_child(function, &child);

	for (; more == 0 && at < BINARY_ARGUMENTS; more = dwarf_siblingof(&child, &child)) {
		struct binary_value value = {.at = at};
		enum passing passing;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
			continue;
		}
		passing = describe(&child, &value);
		if (passing == PASS_UNKNOWN) {
			return;
		}
		if (passing == PASS_ELSEWHERE) {
			continue;
		}
		at++;
		name_value(&value, &child);
		if (!is_taken(arguments, value.name)) {
			arguments->list[arguments->n++] = value;
		}
	}
}

struct sought {
	Dwarf_Addr address;
	struct binary_arguments *arguments;
};

static int examine_function(Dwarf_Die *function, void *context)
{
	struct sought *sought = context;
	Dwarf_Addr entry;

	if (dwarf_entrypc(function, &entry) != 0 || entry != sought->address) {
		return DWARF_CB_OK;
	}
	sought->arguments->known = true;
	read_parameters(function, sought->arguments);
	sought->arguments->returns =
			describe(function, &sought->arguments->result) == PASS_REGISTER;
	return DWARF_CB_ABORT;
}

void binary_arguments(const struct binary *binary, const struct binary_function *function,
		struct binary_arguments *arguments)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(
			binary->module, function->address + binary->bias, &bias);
	struct sought sought = {.arguments = arguments};

	memset(arguments, 0, sizeof(*arguments));
	if (unit) {
		sought.address = function->address + binary->bias - bias;
		dwarf_getfuncs(unit, examine_function, &sought, 0);
	}
}
