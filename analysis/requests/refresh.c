/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/engine.h"

/*
 * Takes up new plans. Where they use other namespaces than before (a request id turned up in a
 * trace that had none) what is open cannot go on: it is finished as it stands.
 */
void requests_refresh(struct requests *r)
{
	const struct plan_namespace *namespaces;
	uint32_t i, n;
	bool same;

	if (!r->refresh) {
		return;
	}
	n = model_namespaces(r->model, &namespaces);
	same = n == r->n_namespaces;
	for (i = 0; same && i < n; i++) {
		same = namespaces[i].kind == r->namespaces[i].kind &&
		       namespaces[i].global == r->namespaces[i].global &&
		       namespaces[i].ttl_ns == r->namespaces[i].ttl_ns;
	}
	r->plans = model_plans(r->model);
	r->knows_switches = model_knows_switches(r->model);
	r->refresh = false;
	variants_refresh(&r->variants);
	keys_reader_refresh(&r->keys_reader);
	if (!same && r->n_fragments > 0) {
		requests_finish(r);
	}
	memcpy(r->namespaces, namespaces, n * sizeof(*namespaces));
	r->n_namespaces = n;
}

void requests_finish(struct requests *r)
{
	requests_refresh(r);
	while (r->seeded.first) {
		struct fragment *f = r->seeded.first;

		if (f->ending) {
			fragment_finish(r, f, REQUEST_COMPLETE);
		} else {
			f->end_ns = f->last_ns;
			fragment_finish(r, f, REQUEST_TRUNCATED);
		}
	}
	while (r->unseeded.first) {
		fragment_expire(r, r->unseeded.first);
	}
}
