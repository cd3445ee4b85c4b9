/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_fields.h"

static struct row_value number(int64_t number, bool known)
{
	return (struct row_value){.kind = ROW_IS_NUMBER, .known = known, .number = number};
}

static struct row_value read_member(const struct row_field *field, const void *row)
{
	const void *at = (const char *)row + field->offset;
	const char *name;

	switch (field->type) {
	case ROW_TEXT:
		return row_text(*(const char *const *)at);
	case ROW_NAME:
		name = *(const char *const *)at;
		return (struct row_value){
				.kind = ROW_IS_TEXT, .known = name && name[0], .text = name};
	case ROW_FLAG:
		return (struct row_value){
				.kind = ROW_IS_FLAG, .known = true, .flag = *(const bool *)at};
	case ROW_U64:
		return row_count(*(const uint64_t *)at);
	case ROW_U32:
		return row_count(*(const uint32_t *)at);
	case ROW_I32:
		return number(*(const int32_t *)at, true);
	case ROW_ID:
		return number(*(const int64_t *)at, *(const int64_t *)at >= 0);
	case ROW_ID32:
		return number(*(const int32_t *)at, *(const int32_t *)at >= 0);
	case ROW_REAL:
		return (struct row_value){
				.kind = ROW_IS_REAL, .known = true, .real = *(const double *)at};
	case ROW_READ:
		break;
	}
	return field->read(row);
}

struct row_value row_read(const struct row_field *field, const void *row)
{
	struct row_value value = read_member(field, row);

	value.known = value.known && (!field->known || field->known(row));
	return value;
}
