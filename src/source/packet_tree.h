/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_PACKET_TREE_H
#define PT_SOURCE_PACKET_TREE_H

#include "ctf/walk.h"
#include "tree_bytes.h"

/*
 * The field at the place as the bytes of a FIELD_TREE. False if it is to be absent; it has been
 * found sound before.
 */
bool packet_tree_encode(struct tree *tree, const struct ctf_field *field, struct ctf_place *place);

#endif
