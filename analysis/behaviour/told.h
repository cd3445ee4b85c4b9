/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_TOLD_H
#define PT_BEHAVIOUR_TOLD_H

#include "behaviour/behaviour.h"
#include "pythiatop/snapshot/shapes.h"

/*
 * What is told of shapes: of one type, or of all where `type` is 0, in a horizon as of now. In the
 * arena. False if out of memory. Cost: a few ms a type with the most strings there can be.
 *
 * Improbable is what TOLD_TAIL of the type's requests at most did or did something as improbable,
 * by a step that was AUTOMATON_ODDS times less probable than the most probable one there; told of
 * types with TOLD_LEAST requests, at most TOLD_IMPROBABLE of each.
 */
#define TOLD_TAIL       0.02
#define TOLD_LEAST      50u
#define TOLD_IMPROBABLE 16u

bool behaviour_tell(const struct behaviour *behaviour, uint32_t type, enum horizon horizon,
		struct arena *arena, struct shapes_view *out);

#endif
