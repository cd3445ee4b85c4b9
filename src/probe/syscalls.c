/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/type.h"

#define SLOT(argument)           (sizeof(__u64) * (argument)) /* types_init() adds what stands before */
#define NONE                     {.name = NULL},
#define U16(field, argument)     {FIELD_U16, #field, SLOT(argument)},
#define U32(field, argument)     {FIELD_U32, #field, SLOT(argument)},
#define S32(field, argument)     {FIELD_S32, #field, SLOT(argument)},
#define U64(field, argument)     {FIELD_U64, #field, SLOT(argument)},
#define S64(field, argument)     {FIELD_S64, #field, SLOT(argument)},
#define X64(field, argument)     {FIELD_X64, #field, SLOT(argument)},
#define XS32(field, argument)    {FIELD_XS32, #field, SLOT(argument)},
#define TEXT(field, argument)    {FIELD_TEXT, #field, (argument) + 1},
#define PAIR(field, argument)    {FIELD_PAIR, #field, (argument) + 1},
#define ADDRESS(field, argument) {FIELD_ADDRESS, #field, (argument) + 1},
#define SYSCALL(nr, call, in, out)                                                                 \
	{.number = (nr),                                                                           \
			.entry = {.prefix = "syscall_entry_", .name = #call, .fields = {in}},      \
			.exit = {.prefix = "syscall_exit_",                                        \
					.name = #call,                                             \
					.fields = {{FIELD_S64, "ret", 0}, out}}},
#define SYSCALL_POINTER(nr, call, in, out)                                                         \
	{.number = (nr),                                                                           \
			.entry = {.prefix = "syscall_entry_", .name = #call, .fields = {in}},      \
			.exit = {.prefix = "syscall_exit_",                                        \
					.name = #call,                                             \
					.fields = {{FIELD_X64, "ret", 0}, out}}},

struct syscall syscalls[] = {
#include "probe/syscalls_x86_64.def"
};
const uint32_t n_syscalls = sizeof(syscalls) / sizeof(syscalls[0]);
