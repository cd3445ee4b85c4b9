/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/formats.h"
#include "output/output.h"
#include "pythiatop/text.h"

/*
 * Calling contexts as folded stacks, `group;context;context N`, as flame graphs are made of.
 * (Gregg, "The flame graph", CACM 59(6), 2016.)
 *
 * A frame holds neither `;` nor a blank, whatever a name does, and a weight is a whole number above
 * 0: self time in ns, or the part in the variance of the group's latency, phi x Var(T), in us^2. A
 * part that is negative, because it shrinks where the others grow, has no width: it is left out.
 */

struct stack {
	char *text;
	size_t length, room;
	size_t *ends; /* of text at each depth */
	uint32_t n_ends;
};

static bool make_room(struct stack *stack, size_t more)
{
	char *grown;

	if (stack->room - stack->length > more) {
		return true;
	}
	grown = realloc(stack->text, (stack->room + more) * 2);
	if (grown) {
		stack->text = grown;
		stack->room = (stack->room + more) * 2;
	}
	return grown != NULL;
}

/* Appends a frame. An empty name is "-": a frame must not be empty. */
static bool push(struct stack *stack, const char *name)
{
	char safe[4096];
	const char *c;

	text_escape(safe, sizeof(safe), name && name[0] ? name : "-");
	if (!make_room(stack, 4 * strlen(safe) + 2)) {
		return false;
	}
	if (stack->length > 0) {
		stack->text[stack->length++] = ';';
	}
	for (c = safe; *c; c++) {
		if (*c == ';') {
			memcpy(stack->text + stack->length, "\\x3b", 4);
			stack->length += 4;
		} else {
			stack->text[stack->length++] = *c == ' ' ? '_' : *c;
		}
	}
	stack->text[stack->length] = '\0';
	return true;
}

/* The frame of a row, in place of what was at its depth and below. */
static bool enter(struct stack *stack, const struct tree_row *row)
{
	size_t *grown;

	if (row->depth + 1 >= stack->n_ends) {
		grown = realloc(stack->ends, (row->depth + 2) * 2 * sizeof(*grown));
		if (!grown) {
			return false;
		}
		stack->ends = grown;
		stack->n_ends = (row->depth + 2) * 2;
	}
	stack->length = stack->ends[row->depth];
	if (!push(stack, row->name)) {
		return false;
	}
	stack->ends[row->depth + 1] = stack->length;
	return true;
}

/*
 * What the times of a tree are multiplied by to be those of all requests. The time that the group's
 * requests took is known of all, so that the sum is right and only its parts are the sample's.
 */
static double scale_of(const struct groups_row *group, const struct tree_view *tree)
{
	const struct tree_row *root = tree->n > 0 ? &tree->rows[0] : NULL;

	if (!root || !(tree->sampled_share > 0) || tree->sampled_share >= 1) {
		return 1;
	}
	/* One root a request, whose length is the request's: the usual case. */
	if (root->n_below + 1 == tree->n && root->count == tree->requests && root->total_ns > 0) {
		return (double)group->count * group->mean_ns / root->total_ns;
	}
	return 1 / tree->sampled_share;
}

static double weight_of(const struct groups_row *group, const struct tree_view *tree,
		const struct tree_row *row, enum output_weight weight)
{
	if (weight == OUTPUT_SELF) {
		return row->mark == TREE_NO_POINT ? 0 : row->self_ns * scale_of(group, tree);
	}
	return tree->located && group->count > 1 ? row->phi * group->sd_ns * group->sd_ns / 1e6 : 0;
}

/* Relative standard error of the mean of a sample of the group's requests. */
static double error_of(const struct groups_row *group, const struct tree_view *tree)
{
	double left_out = 1 - tree->sampled_share;

	return tree->requests > 1 && group->cov > 0
			       ? group->cov * sqrt(left_out / (double)tree->requests)
			       : 0;
}

void output_folded_samples(FILE *out, const struct snapshot *snapshot)
{
	const struct groups_view *groups = &snapshot->groups;
	double least = 1, error = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; groups->trees && i < groups->n; i++) {
		const struct tree_view *tree = &groups->trees[i];

		if (tree->n > 0 && tree->sampled_share < 1) {
			n++;
			least = fmin(least, tree->sampled_share);
			error = fmax(error, error_of(&groups->rows[i], tree));
		}
	}
	if (n > 0) {
		fprintf(out,
				"pythiatop: the stacks of %" PRIu32 " of %" PRIu32
				" groups are of samples, "
				"the smallest of %.2g %% of the requests; they are scaled to all, "
				"with a "
				"standard error of at most %.2g %%\n",
				n, groups->n, 100 * least, 100 * error);
	}
}

static bool write_tree(FILE *out, const struct groups_row *group, const struct tree_view *tree,
		enum output_weight weight, struct stack *stack)
{
	char name[8192];
	uint32_t i;

	snprintf(name, sizeof(name), "%s %s", tree->type ? tree->type : "",
			tree->path ? tree->path : "");
	stack->length = 0;
	if (!push(stack, name)) {
		return false;
	}
	stack->ends[0] = stack->length;
	for (i = 0; i < tree->n; i++) {
		double value = weight_of(group, tree, &tree->rows[i], weight);

		if (!enter(stack, &tree->rows[i])) {
			return false;
		}
		if (isfinite(value) && value >= 0.5) {
			fprintf(out, "%s %.0f\n", stack->text, value);
		}
	}
	return true;
}

enum status output_folded(FILE *out, const struct snapshot *snapshot, enum output_weight weight)
{
	const struct groups_view *groups = &snapshot->groups;
	struct stack stack = {.ends = malloc(2 * sizeof(size_t)), .n_ends = 2};
	bool room = stack.ends != NULL;
	uint32_t i;

	for (i = 0; room && groups->trees && i < groups->n; i++) {
		room = write_tree(out, &groups->rows[i], &groups->trees[i], weight, &stack);
	}
	free(stack.text);
	free(stack.ends);
	return room ? STATUS_OK : STATUS_NO_MEMORY;
}
