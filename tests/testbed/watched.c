/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watched.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intake/url.h"
#include "source/viewer.h"

#define WAIT_VIEWER_S 30
#define LOOKS_PER_S   20

static struct viewer_fault fault;

/* -1: that cannot be told, because of `fault`. */
static int n_viewers(struct viewer *viewer, const char *host, const char *session)
{
	struct viewer_list list = {.sessions = NULL};
	bool listed = viewer_list(viewer, &list, &fault) == STATUS_OK;
	int n = 0;

	for (uint32_t i = 0; i < list.n; i++) {
		if (strcmp(list.sessions[i].name, session) == 0 &&
				strcmp(list.sessions[i].host, host) == 0) {
			n += (int)list.sessions[i].viewers;
		}
	}
	viewer_list_release(&list);
	return listed ? n : -1;
}

const char *wait_for_viewer(const char *relay, const char *host, const char *session)
{
	struct viewer *viewer;
	char error[256];
	struct url url;
	int n = 0;

	if (!relay || url_parse(&url, relay, error, sizeof(error)) != STATUS_OK) {
		return "the relay daemon's URL is missing, or wrong";
	}
	if (viewer_connect(&viewer, url.relay, url.port, 5000, &fault) != STATUS_OK) {
		return fault.text;
	}
	for (int i = 0; i < WAIT_VIEWER_S * LOOKS_PER_S && n == 0; i++) {
		usleep(1000000 / LOOKS_PER_S);
		n = n_viewers(viewer, host, session);
	}
	viewer_close(viewer);
	if (n > 0) {
		usleep(300000); /* it has attached; now it asks for the streams */
	}
	return n > 0 ? NULL : n < 0 ? fault.text : "no viewer came within 30 s";
}
