/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TREE_H
#define PT_SOURCE_TREE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "tree_bytes.h"

/* What libbabeltrace2 gives as a field, as the bytes of a FIELD_TREE. */

/* Writes the field to tree->bytes, tree->size of them. False if it is to be absent. */
bool tree_encode(struct tree *tree, const bt_field *field);

#endif
