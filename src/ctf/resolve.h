/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_RESOLVE_H
#define PT_CTF_RESOLVE_H

#include "field.h"

/*
 * Finds the fields that tell the lengths of sequences and the options of variants, by their paths
 * (CTF 1.8, section 7.3.2; CTF2-SPEC-2.0, field locations), and has their values kept. False with
 * an error.
 */
bool ctf_resolve(struct ctf_fields *fields, struct ctf_field *field);

#endif
