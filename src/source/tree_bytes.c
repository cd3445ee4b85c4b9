/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "pythiatop/event.h"

#define TREE_BYTES_MAX (EVENT_MAX_BYTES / 2)

bool tree_init(struct tree *tree)
{
	tree->size = 0;
	tree->bytes = malloc(TREE_BYTES_MAX);
	return tree->bytes != NULL;
}

void tree_release(struct tree *tree)
{
	free(tree->bytes);
	tree->bytes = NULL;
}

bool tree_add_node(struct tree *tree, enum tree_node kind, uint64_t n, size_t follows)
{
	uint32_t head[2] = {kind, (uint32_t)n};

	if (n > UINT32_MAX || tree->size + sizeof(head) + follows > TREE_BYTES_MAX) {
		return false;
	}
	memcpy(tree->bytes + tree->size, head, sizeof(head));
	tree->size += sizeof(head);
	return true;
}

bool tree_add_number(struct tree *tree, enum tree_node kind, uint64_t bits)
{
	if (!tree_add_node(tree, kind, 1, sizeof(bits))) {
		return false;
	}
	memcpy(tree->bytes + tree->size, &bits, sizeof(bits));
	tree->size += sizeof(bits);
	return true;
}

bool tree_add_double(struct tree *tree, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return tree_add_number(tree, TREE_DOUBLE, bits);
}

bool tree_add_string(struct tree *tree, const char *text, size_t length)
{
	size_t padded = (length + 7) & ~(size_t)7;

	if (length > TREE_BYTES_MAX || !tree_add_node(tree, TREE_STRING, length, padded)) {
		return false;
	}
	memcpy(tree->bytes + tree->size, text, length);
	memset(tree->bytes + tree->size + length, 0, padded - length);
	tree->size += padded;
	return true;
}

bool tree_add_name(struct tree *tree, const char *name)
{
	return tree_add_string(tree, name ? name : "", name ? strlen(name) : 0);
}

bool tree_repeat(struct tree *tree, size_t first, size_t size)
{
	if (tree->size + size > TREE_BYTES_MAX) {
		return false;
	}
	memcpy(tree->bytes + tree->size, tree->bytes + first, size);
	tree->size += size;
	return true;
}
