/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/grouping.h"
#include "groups/observed.h"

bool observed_copy(struct observed *copy, const struct observed *observed)
{
	copy->changes = observed->changes;
	if (!profile_copy(&copy->profile, &observed->profile)) {
		memset(copy, 0, sizeof(*copy));
		return false;
	}
	if (!sample_ring_copy(&copy->ring, &observed->ring)) {
		profile_release(&copy->profile);
		memset(copy, 0, sizeof(*copy));
		return false;
	}
	return true;
}

void observed_release(struct groups *groups, struct observed *observed)
{
	profile_release(&observed->profile);
	sample_ring_release(&groups->samples, &observed->ring);
}

void observed_count(struct observed *observed, enum horizon horizon, const struct sample *sample,
		bool away)
{
	struct sample_reader reader = sample_read(sample);
	struct profile_item item;

	profile_count_request(&observed->profile, horizon, &sample->request, away);
	while (sample_next(&reader, &item)) {
		profile_count_item(&observed->profile, horizon, &sample->request, &item, away);
	}
	observed->changes++;
}

void observed_count_fresh(struct observed *observed, enum horizon horizon,
		const struct profile_request *request, const struct profile_items *items)
{
	profile_count_request(&observed->profile, horizon, request, false);
	for (uint32_t i = 0; i < items->n; i++) {
		profile_count_item(&observed->profile, horizon, request, &items->items[i], false);
	}
	observed->changes++;
}
