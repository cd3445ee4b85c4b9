/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "control/ask.h"
#include "pythiatop/text.h"

void control_hosts_view(const struct control_hosts *hosts, int index, const char *name,
		struct control_host *view)
{
	const struct host *host;

	*view = (struct control_host){
			.name = "", .url = "", .session = "", .probe = "", .hostname = ""};
	if (index < 0 || (uint32_t)index >= hosts->n_hosts) {
		char shown[CONTROL_NAME_BYTES];

		text_escape(shown, sizeof(shown), name);
		view->state = CONTROL_OFF;
		snprintf(view->sentence, sizeof(view->sentence),
				"Control off: no helper for %.150s. Try: pythiatop --control "
				"%.150s=ssh://%.150s",
				shown, shown, shown);
		return;
	}
	host = hosts->hosts[index];
	view->name = host->target.name;
	view->url = host->target.url;
	view->state = host->state;
	view->local = host->target.local;
	view->read_only = host->read_only;
	view->generation = host->generation;
	view->session = host->session;
	view->probe = host->probe;
	view->hostname = host->hostname;
	view->event_ns = host->event_ns;
	memcpy(view->sentence, host->sentence, sizeof(view->sentence));
}
