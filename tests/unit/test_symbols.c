/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses of traced processes become places in binaries by what events tell, and places become
 * functions by the files: this test's own executable, whose functions it knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intake/demangle.h"
#include "intake/symbols.h"
#include "requests/addresses.h"

static char self[4096];
static uint8_t build_id[64];
static uint32_t build_id_bytes;
static uint64_t base;

/* A function that can be found, and one whose address differs from it. */
__attribute__((noinline)) void symbols_test_function(void);
void symbols_test_function(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

/* One that a compiler of C++ would have named so. */
__attribute__((noinline)) void symbols_test_cpp(void) __asm__("_ZN4shop5orderEi");
void symbols_test_cpp(void)
{
	__asm__ volatile("nop; nop");
}

static int take_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	base = info->dlpi_addr; /* the first one is the executable */
	return 1;
}

static int look_at_self(void **state)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;
	const void *id;
	Elf *elf;
	ssize_t bytes;

	(void)state;
	if (length <= 0) {
		return -1;
	}
	fd = open(self, O_RDONLY);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	bytes = dwelf_elf_gnu_build_id(elf, &id);
	if (bytes <= 0 || (size_t)bytes > sizeof(build_id)) {
		return -1;
	}
	memcpy(build_id, id, (size_t)bytes);
	build_id_bytes = (uint32_t)bytes;
	elf_end(elf);
	close(fd);
	dl_iterate_phdr(take_base, NULL);
	return 0;
}

static uint64_t offset_of(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function - base;
}

static void by_file(void **state)
{
	struct symbol_files *files = symbol_files_create();
	uint64_t offset = offset_of(symbols_test_function);
	uint8_t other[64];
	char name[256];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(symbol_files_find(
				files, self, build_id, build_id_bytes, offset, name, sizeof(name)));
		assert_string_equal(name, "symbols_test_function");
		assert_true(symbol_files_find(files, self, build_id, build_id_bytes, offset + 2,
				name, sizeof(name)));
		assert_string_equal(name, "symbols_test_function");
	}
	assert_true(symbol_files_find(files, self, build_id, build_id_bytes,
			offset_of(symbols_test_cpp), name, sizeof(name)));
	assert_string_equal(name, "shop::order(int)");
	/* Where there is no function. */
	assert_false(symbol_files_find(
			files, self, build_id, build_id_bytes, 0, name, sizeof(name)));
	assert_false(symbol_files_find(
			files, self, build_id, build_id_bytes, UINT64_MAX, name, sizeof(name)));
	/* Another build may have anything at that place. */
	memcpy(other, build_id, sizeof(other));
	other[0] ^= 1;
	assert_false(symbol_files_find(
			files, self, other, build_id_bytes, offset, name, sizeof(name)));
	assert_false(symbol_files_find(
			files, self, build_id, build_id_bytes - 1, offset, name, sizeof(name)));
	assert_false(symbol_files_find(files, self, build_id, 0, offset, name, sizeof(name)));
	symbol_files_destroy(files);
}

static void mangled_names(void **state)
{
	static const char *const names[][2] = {
			{"_ZN4shop5orderEi", "shop::order(int)"},
			{"_ZNSt6vectorIiSaIiEE9push_backEOi",
					"std::vector<int, std::allocator<int> >::push_back(int&&)"},
			{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
					"core::fmt::Formatter::pad"},
			{"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt"
			 "17h0123456789abcdefE",
					"<alloc::string::String as core::fmt::Display>::fmt"},
			{"_RINvCs6xxl1lAjzDf_1a5orderReEB2_", "a::order::<&str>"},
			{"_RNCNCNvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace10__print_fmts_00B9_",
					"std::sys::backtrace::_print_fmt::{closure#1}::{closure#"
					"0}"},
	};
	static const char *const others[] = {
			"main", "", "_Z", "_ZN", "_Zzzzz", "_ZN99999999999x", "_R", "_RNvB_", "i"};
	static const char digits[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char out[256], bomb[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(demangle(names[i][0], out, sizeof(out)));
		assert_string_equal(out, names[i][1]);
		assert_false(demangle(names[i][0], out, strlen(names[i][1]))); /* no room */
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(demangle(others[i], out, sizeof(out)));
	}
	/* Each argument is a template of two of the one before: the name is exponentially long. */
	strcpy(bomb, "_Z1f1aS_IS_S_E");
	for (char next = '0'; strlen(bomb) < 149; next = (char)(next == '9' ? 'A' : next + 1)) {
		snprintf(bomb + strlen(bomb), 32, "S_IS%c_S%c_E", next, next);
	}
	assert_false(demangle(bomb, out, sizeof(out)));
	/* As an attacker's symbol table may have it. */
	memset(bomb, 'P', sizeof(bomb) - 1);
	memcpy(bomb, "_Z1f", 4);
	bomb[sizeof(bomb) - 1] = '\0';
	demangle(bomb, out, sizeof(out));
	/* A tuple of another and of a reference to where that one began, 40 deep: 2^40 units. */
	strcpy(bomb, "_RIC1aTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTu");
	for (int i = 43; i > 3; i--) {
		snprintf(bomb + strlen(bomb), 16, "B%c_E", digits[i]);
	}
	strcat(bomb, "E");
	assert_false(demangle(bomb, out, sizeof(out)));
}

/* Paths from a trace may name anything. */
static void hostile_files(void **state)
{
	struct symbol_files *files = symbol_files_create();
	char path[] = "/tmp/pt-symbols-XXXXXX", text[8192], name[256];
	const char *const paths[] = {"/dev/zero", "/dev/tty", "/proc/self/mem", "/tmp", "/nowhere",
			"relative", "", path};
	size_t i, size;
	int fd = mkstemp(path);
	FILE *in;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_false(symbol_files_find(files, paths[i], build_id, build_id_bytes, 4096,
				name, sizeof(name)));
	}
	/* The head of a real one, cut short and damaged. */
	in = fopen(self, "r");
	size = fread(text, 1, sizeof(text), in);
	fclose(in);
	for (i = 0; i < 300; i++) {
		text[64 + (i * 97) % (size - 64)] ^= (char)(1 + i);
		assert_int_equal(pwrite(fd, text, size, 0), size);
		symbol_files_find(files, path, build_id, (uint32_t)(1 + i % 20), 4096, name,
				sizeof(name));
	}
	close(fd);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* opening one to read would wait for a writer */
	assert_false(symbol_files_find(
			files, path, build_id, build_id_bytes, 8192, name, sizeof(name)));
	unlink(path);
	symbol_files_destroy(files);
}

/* --- events --- */

#define PATH 2 /* field of map_fields */

static struct field map_fields[] = {{.name = "baddr", .kind = FIELD_UINT, .base = 16},
		{.name = "memsz", .kind = FIELD_UINT, .base = 10},
		{.name = "path", .kind = FIELD_STRING},
		{.name = "has_build_id", .kind = FIELD_UINT, .base = 10}};
static struct field id_fields[] = {{.name = "baddr", .kind = FIELD_UINT, .base = 16},
		{.name = "build_id", .kind = FIELD_TREE}};
static struct field symbol_fields[] = {{.name = "callback", .kind = FIELD_UINT, .base = 16},
		{.name = "symbol", .kind = FIELD_STRING}};

struct world {
	struct names *names;
	struct addresses *addresses;
};

static struct world world_create(void)
{
	static const struct event_type types[] = {
			{"lttng_ust_statedump:bin_info", 4, map_fields},
			{"lttng_ust_statedump:build_id", 2, id_fields},
			{"lttng_ust_dl:dlclose", 1, id_fields},
			{"ros2:rclcpp_callback_register", 2, symbol_fields},
			{"app:other", 4, map_fields},
	};
	struct world world = {.names = names_create(100000)};
	uint32_t i;

	world.addresses = addresses_create(world.names);
	for (i = 0; i < 5; i++) {
		assert_true(addresses_add_type(world.addresses, &types[i]));
		assert_int_equal(addresses_uses(world.addresses, i), i < 4);
	}
	return world;
}

static void world_destroy(struct world *world)
{
	addresses_destroy(world->addresses);
	names_destroy(world->names);
}

static struct address_space process(int32_t pid)
{
	return (struct address_space){.host = 1, .pid = pid};
}

/* An event whose last slots are followed by the bytes of one text. */
static void learn(struct world *world, uint32_t type, int32_t pid, uint64_t *slots, uint32_t n,
		uint32_t text_at, const void *text, uint32_t length)
{
	struct address_space space = process(pid);
	uint64_t copy[512] = {0};
	struct event event = {.type = type, .slots = copy, .bytes = n * 8 + length + 8};

	memcpy(copy, slots, n * 8);
	if (text) {
		copy[text_at] = (uint64_t)(n * 8) << 32 | length;
		memcpy((char *)copy + n * 8, text, length);
	}
	addresses_learn(world->addresses, &space, &event);
}

static void map_binary(struct world *world, int32_t pid, uint64_t at, uint64_t size,
		const char *path, const uint8_t *id, uint32_t bytes)
{
	uint64_t slots[4] = {at, size, 0, bytes > 0};
	uint32_t tree[2 + 4 * 64] = {TREE_ARRAY, bytes}, i;

	learn(world, 0, pid, slots, 4, PATH, path, (uint32_t)strlen(path));
	if (bytes == 0) {
		return;
	}
	for (i = 0; i < bytes; i++) {
		tree[2 + 4 * i] = TREE_UINT;
		tree[2 + 4 * i + 2] = id[i];
	}
	learn(world, 1, pid, (uint64_t[2]){at}, 2, 1, tree, 8 + 16 * bytes);
}

static const char *name_of(struct world *world, int32_t pid, uint64_t address)
{
	struct address_space space = process(pid);

	return names_text(world->names, addresses_name(world->addresses, &space, address));
}

static void places(void **state)
{
	static const uint8_t a[20] = {0xab, 0xcd, 0xef}, b[20] = {0x12, 0x34, 0x56};
	struct world world = world_create();
	struct symbol_query query;

	(void)state;
	assert_string_equal(name_of(&world, 7, 0x1010), "");
	map_binary(&world, 7, 0x1000, 0x1000, "/usr/bin/app", a, 20);
	map_binary(&world, 8, 0x7000, 0x1000, "/usr/bin/app", a, 20);
	map_binary(&world, 7, 0x4000, 0x1000, "/lib/libx.so", NULL, 0);
	map_binary(&world, 9, 0x1000, 0x1000, "/usr/bin/app", b, 20);
	/* The same place of the same build, wherever it is mapped. */
	assert_string_equal(name_of(&world, 7, 0x1010), "app+0x10");
	assert_string_equal(name_of(&world, 8, 0x7010), "app+0x10");
	assert_string_equal(name_of(&world, 9, 0x1010), "app@123456+0x10");
	assert_string_equal(name_of(&world, 7, 0x4fff), "libx.so+0xfff");
	assert_string_equal(name_of(&world, 7, 0x0fff), "");
	assert_string_equal(name_of(&world, 7, 0x2000), "");
	assert_string_equal(name_of(&world, 8, 0x1010), "");
	assert_string_equal(name_of(&world, -1, 0x1010), "");
	/* Asked once, and never where no file could be told to be the right one. */
	assert_true(addresses_next(world.addresses, &query));
	assert_string_equal(query.path, "/usr/bin/app");
	assert_string_equal(query.module, "app");
	assert_true(query.offset == 0x10 && query.build_id_bytes == 20 &&
			memcmp(query.build_id, a, 20) == 0);
	assert_true(names_show(world.names, query.id, "app:main"));
	assert_true(addresses_next(world.addresses, &query));
	assert_memory_equal(query.build_id, b, 20);
	assert_false(addresses_next(world.addresses, &query));
	assert_string_equal(name_of(&world, 8, 0x7010), "app:main");
	assert_false(addresses_next(world.addresses, &query));
	/* Unmapped, and something else in its place. */
	learn(&world, 2, 7, (uint64_t[1]){0x4000}, 1, 0, NULL, 0);
	assert_string_equal(name_of(&world, 7, 0x4010), "");
	map_binary(&world, 7, 0x0800, 0x1000, "/lib/liby.so", NULL, 0);
	assert_string_equal(name_of(&world, 7, 0x1010), "liby.so+0x810");
	world_destroy(&world);
}

/* What a damaged trace may tell. */
static void damaged(void **state)
{
	struct world world = world_create();
	uint32_t tree[6] = {TREE_ARRAY, UINT32_MAX};

	(void)state;
	map_binary(&world, 7, UINT64_MAX - 10, 100, "/a", NULL, 0);
	map_binary(&world, 7, 0x1000, 0, "/a", NULL, 0);
	map_binary(&world, 7, 0x1000, 10, "", NULL, 0);
	map_binary(&world, -1, 0x1000, 10, "/a", NULL, 0);
	assert_string_equal(name_of(&world, 7, 0x1001), "");
	learn(&world, 0, 7, (uint64_t[4]){0x1000, 10, 0, 1}, 4, PATH, "/a", 2);
	learn(&world, 1, 7, (uint64_t[2]){0x1000}, 2, 1, tree, 24);
	learn(&world, 1, 7, (uint64_t[2]){0x1004}, 2, 1, tree, 4);
	learn(&world, 1, 99, (uint64_t[2]){0x1000}, 2, 1, tree, 24);
	learn(&world, 2, 99, (uint64_t[1]){0x1000}, 1, 0, NULL, 0);
	assert_string_equal(name_of(&world, 7, 0x1001), "a+0x1"); /* an id that says nothing */
	world_destroy(&world);
}

static void registered(void **state)
{
	static const char *const forms[][2] = {
			{"f()", "f()"},
			{"A::A(std::vector<int> const&)::{lambda(B<C>)#1}",
					"A::A(...)::{lambda(...)#1}"},
			{"std::_Bind<void (N::*(N*, std::_Placeholder<1>))(std::shared_ptr<S<T> "
			 ">)>",
					"std::_Bind<void (N::*(...))(std::shared_ptr<...>)>"},
			{"A::operator->(", "A::operator->("},
			{")(", ")("},
			{"f(int", "f(int"},
	};
	struct world world = world_create();
	char long_one[400];
	uint32_t i;

	(void)state;
	learn(&world, 3, 7, (uint64_t[2]){0x10}, 2, 1, "Node::cb(int)", 13);
	learn(&world, 3, 7, (uint64_t[2]){0x20}, 2, 1, "Node::cb(int)", 13);
	learn(&world, 3, 7, (uint64_t[2]){0x10}, 2, 1, "Node::cb(int)", 13);
	learn(&world, 3, 8, (uint64_t[2]){0x20}, 2, 1, "Node::cb(int)", 13);
	assert_string_equal(name_of(&world, 7, 0x10), "Node::cb(...)");
	assert_string_equal(name_of(&world, 7, 0x20), "Node::cb(...)#2");
	assert_string_equal(name_of(&world, 8, 0x20), "Node::cb(...)");
	assert_string_equal(name_of(&world, 8, 0x10), "");
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		learn(&world, 3, 9, (uint64_t[2]){i}, 2, 1, forms[i][0],
				(uint32_t)strlen(forms[i][0]));
		assert_string_equal(name_of(&world, 9, i), forms[i][1]);
	}
	memset(long_one, 'x', sizeof(long_one));
	learn(&world, 3, 8, (uint64_t[2]){0x30}, 2, 1, long_one, 400);
	assert_int_equal(strlen(name_of(&world, 8, 0x30)), 160);
	world_destroy(&world);
}

/* More processes than are held: those that are asked about stay. */
static void many_processes(void **state)
{
	struct world world = world_create();
	int32_t pid;

	(void)state;
	map_binary(&world, 1, 0x1000, 0x1000, "/a", NULL, 0);
	for (pid = 2; pid < (int32_t)ADDRESSES_MAX_PROCESSES + 3000; pid++) {
		map_binary(&world, pid, 0x1000, 0x1000, "/a", NULL, 0);
		if (pid % 1000 == 0) {
			assert_string_equal(name_of(&world, 1, 0x1000), "a+0x0");
		}
	}
	assert_string_equal(name_of(&world, 1, 0x1001), "a+0x1");
	assert_string_equal(name_of(&world, pid - 1, 0x1001), "a+0x1");
	assert_string_equal(name_of(&world, 3, 0x1001), "");
	world_destroy(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(by_file),
			cmocka_unit_test(mangled_names),
			cmocka_unit_test(hostile_files),
			cmocka_unit_test(places),
			cmocka_unit_test(damaged),
			cmocka_unit_test(registered),
			cmocka_unit_test(many_processes),
	};

	return cmocka_run_group_tests(tests, look_at_self, NULL);
}
