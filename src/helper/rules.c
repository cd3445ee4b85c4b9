/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/rules.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <lttng/lttng.h>

#include "helper/loggers.h"
#include "helper/rights.h"

/* The first child element of that name, or the next of that name after `after`. */
static xmlNode *child(const xmlNode *parent, const char *name, const xmlNode *after)
{
	xmlNode *node = after ? after->next : parent ? parent->children : NULL;

	while (node && (node->type != XML_ELEMENT_NODE ||
				       xmlStrcmp(node->name, (const xmlChar *)name) != 0)) {
		node = node->next;
	}
	return node;
}

/* The text in the first child of that name, a copy; NULL: there is none. */
static char *text_of(const xmlNode *parent, const char *name)
{
	xmlNode *node = child(parent, name, NULL);
	xmlChar *content = node ? xmlNodeGetContent(node) : NULL;
	char *text = content ? strdup((const char *)content) : NULL;

	xmlFree(content);
	return text;
}

static bool text_is(const xmlNode *parent, const char *name, const char *wanted)
{
	char *text = text_of(parent, name);
	bool same = text && strcmp(text, wanted) == 0;

	free(text);
	return same;
}

/* `agent`: whose loggers it is about, or NULL. */
static enum rule_domain domain_of(const xmlNode *domain, const struct logger_domain **agent)
{
	char *type = text_of(domain, "type");
	enum rule_domain of = RULE_OTHER;

	*agent = type ? loggers_saved_as(type) : NULL;
	if (type && (*agent || strcmp(type, "UST") == 0)) {
		of = RULE_UST;
	} else if (type && strcmp(type, "KERNEL") == 0) {
		of = RULE_KERNEL;
	}
	free(type);
	return of;
}

/* A logger's rule as that of its point. False: out of memory. */
static bool name_as_point(struct rule *rule, const struct logger_domain *agent)
{
	char *own = rule->filter ? loggers_own_filter(rule->name, rule->filter) : NULL, *name;

	if (asprintf(&name, "%s:%s", agent->provider, rule->name) < 0) {
		free(own);
		return false;
	}
	free(rule->filter);
	free(rule->name);
	rule->filter = own;
	rule->name = name;
	rule->partial = rule->filter;
	return true;
}

static void rule_release(struct rule *rule)
{
	free(rule->session);
	free(rule->channel);
	free(rule->name);
	free(rule->filter);
}

static bool add(struct rules *rules, const struct rule *rule)
{
	if (rules->n == rules->size) {
		uint32_t size = rules->size ? 2 * rules->size : 64;
		struct rule *items = rules->n < RULES_MAX
						     ? realloc(rules->items, size * sizeof(*items))
						     : NULL;

		if (!items) {
			return false;
		}
		rules->items = items;
		rules->size = size;
	}
	rules->items[rules->n++] = *rule;
	return true;
}

bool rules_add(struct rules *rules, const struct rule *rule)
{
	struct rule copy = *rule;

	copy.session = strdup(rule->session);
	copy.channel = strdup(rule->channel);
	copy.name = strdup(rule->name);
	copy.filter = rule->filter ? strdup(rule->filter) : NULL;
	if (!copy.session || !copy.channel || !copy.name || (rule->filter && !copy.filter) ||
			!add(rules, &copy)) {
		rule_release(&copy);
		return false;
	}
	return true;
}

/* `like`: what the rule has from its session and channel; its texts are borrowed. */
static bool add_event(struct rules *rules, const xmlNode *event, const struct rule *like,
		const struct logger_domain *agent, bool goes)
{
	bool all = text_is(event, "type", "ALL");
	struct rule rule = {
			.session = strdup(like->session),
			.channel = strdup(like->channel),
			.name = text_of(event, "name"),
			.filter = text_of(event, "filter"),
			.domain = like->domain,
			.tracepoints = all || text_is(event, "type", "TRACEPOINT"),
			.syscalls = all || text_is(event, "type", "SYSCALL"),
			.enabled = text_is(event, "enabled", "true"),
			.loggers = agent,
	};

	rule.on = goes && rule.enabled;
	rule.partial = rule.filter || child(event, "exclusions", NULL) ||
		       (child(event, "loglevel_type", NULL) &&
				       !text_is(event, "loglevel_type", "ALL"));
	if (!rule.name) { /* all system calls, as old versions wrote it */
		rule.name = strdup("*");
	}
	if (!rule.session || !rule.channel || !rule.name ||
			(agent && !name_as_point(&rule, agent)) || !add(rules, &rule)) {
		rule_release(&rule);
		return false;
	}
	return true;
}

static bool add_session(struct rules *rules, const xmlNode *session, const char *name)
{
	bool started = text_is(session, "started", "true");
	const xmlNode *domains = child(session, "domains", NULL);
	const xmlNode *domain = NULL, *channel, *event;
	bool added = true;

	while (added && (domain = child(domains, "domain", domain))) {
		const xmlNode *channels = child(domain, "channels", NULL);

		for (channel = NULL; added && (channel = child(channels, "channel", channel));) {
			const xmlNode *events = child(channel, "events", NULL);
			const struct logger_domain *agent;
			struct rule like = {.session = (char *)(uintptr_t)name,
					.channel = text_of(channel, "name"),
					.domain = domain_of(domain, &agent)};
			bool goes = started && text_is(channel, "enabled", "true");

			added = like.channel;
			for (event = NULL; added && (event = child(events, "event", event));) {
				added = add_event(rules, event, &like, agent, goes);
			}
			free(like.channel);
		}
	}
	return added;
}

static int read_saved(struct rules *rules, const char *path, const char *name)
{
	struct stat info;
	xmlDoc *document;
	xmlNode *session;
	int code = 0;

	if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > RULES_MAX_BYTES) {
		return -LTTNG_ERR_LOAD_IO_FAIL;
	}
	document = xmlReadFile(path, NULL,
			XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE);
	session = document ? child(xmlDocGetRootElement(document), "session", NULL) : NULL;
	if (!session) {
		code = -LTTNG_ERR_LOAD_INVALID_CONFIG;
	} else if (!add_session(rules, session, name)) {
		code = -LTTNG_ERR_NOMEM;
	}
	xmlFreeDoc(document);
	return code;
}

int rules_read(struct rules *rules, struct answer *answer, const char *session,
		const char *directory)
{
	struct lttng_save_session_attr *attributes = lttng_save_session_attr_create();
	char path[PATH_MAX];
	int code = -LTTNG_ERR_NOMEM, length;

	length = snprintf(path, sizeof(path), "%s/%s.lttng", directory, session);
	if (length < 0 || (size_t)length >= sizeof(path) || strchr(session, '/')) {
		code = -LTTNG_ERR_INVALID;
	} else if (attributes &&
			lttng_save_session_attr_set_session_name(attributes, session) == 0 &&
			lttng_save_session_attr_set_output_url(attributes, directory) == 0 &&
			lttng_save_session_attr_set_overwrite(attributes, 1) == 0) {
		answer_calling(answer);
		code = lttng_save_session(attributes);
		if (code == 0) {
			code = read_saved(rules, path, session);
		}
		unlink(path);
	}
	lttng_save_session_attr_destroy(attributes);
	return code;
}

void rules_release(struct rules *rules)
{
	uint32_t i;

	for (i = 0; i < rules->n; i++) {
		rule_release(&rules->items[i]);
	}
	free(rules->items);
	memset(rules, 0, sizeof(*rules));
}

bool rule_covers(const struct rule *rule, enum rule_domain domain, bool syscall, const char *name)
{
	bool logger = domain == RULE_UST && loggers_of(name);

	return rule->domain == domain && rule->loggers == logger &&
	       (syscall ? rule->syscalls : rule->tracepoints) &&
	       (rule->name[0] == '*' || rule->name[0] == name[0] || rule->name[0] == '\\') &&
	       rights_glob(rule->name, name);
}
