/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/meaning.h"
#include "requests/model_internal.h"

bool model_meanings(const struct model *model, const struct event_type *types, uint32_t n,
		struct meaning *out)
{
	struct model *trial = model_create(model->names);
	const struct plan *plans;
	bool done = trial != NULL;

	if (!trial) {
		return false;
	}
	memcpy(trial->schemas, model->schemas, sizeof(trial->schemas));
	trial->n_schemas = model->n_schemas;
	for (uint32_t i = 0; i < model->n_types && done; i++) {
		done = model_add_extracted(trial, model->types[i], model->extracts[i]);
	}
	for (uint32_t i = 0; i < n && done; i++) {
		done = model_add_type(trial, &types[i]);
	}
	plans = done ? model_plans(trial) : NULL;
	for (uint32_t i = 0; i < n && plans; i++) {
		const struct plan *plan = &plans[model->n_types + i];

		out[i] = (struct meaning){.role = plan->role,
				.skeleton = plan->skeleton,
				.about_tracer = plan->about_tracer,
				.provider = plan->provider,
				.span = plan->name.fixed};
	}
	model_destroy(trial);
	return plans != NULL || (done && n == 0);
}
