/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "field_words.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define MAX_WORD 24

/* Words of a name that make it a time or a part of one; but for those that are settings. */
static const char *const times[] = {"time", "timestamp", "datetime", "date", "clock", "deadline",
		"duration", "latency", "elapsed", "took", "ts", "uptime", "runtime", "walltime",
		"rtt", "age", "expiry", "expires", "expiration", "waited", "delay", "delayed",
		"slept", "when"};
static const char *const units[] = {"ns", "us", "ms", "s", "sec", "secs", "second", "seconds",
		"nsec", "usec", "msec", "nanos", "micros", "millis", "nanoseconds", "microseconds",
		"milliseconds", "jiffies", "ticks", "cycles"};
static const char *const settings[] = {
		"timeout", "interval", "period", "limit", "quota", "budget", "ttl", "max", "min"};
static const char *const identities[] = {"ptr", "pointer", "addr", "address", "skbaddr", "saddr",
		"daddr", "hash", "checksum", "crc", "digest", "fingerprint", "cookie", "token",
		"handle", "nonce", "uuid", "guid", "inode", "ino", "tid", "pid", "vtid", "vpid",
		"ppid", "tgid", "pthread", "uid", "gid", "fd", "port", "sport", "dport", "dev",
		"netns", "family", "protocol", "mode", "state", "prio", "priority", "errno", "irq",
		"vec", "cpu", "opcode"};
static const char *const ids[] = {"id", "ids", "seq", "seqno", "sequence", "serial", "request",
		"req", "trace", "span", "cid", "xid"};
/* Waiting for a resource is a part of the duration as well, but says for what. */
static const char *const resources[] = {
		"runqueue", "runnable", "disk", "net", "network", "irq", "softirq", "steal", "io"};

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(word, words[i]) == 0) {
			return true;
		}
	}
	return false;
}
#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof((words)[0]))

/* The next word of a name, in lower case. */
static const char *next_word(const char *at, char word[MAX_WORD])
{
	size_t n = 0;

	while (*at && !isalnum((unsigned char)*at)) {
		at++;
	}
	while (isalnum((unsigned char)*at)) {
		if (n < MAX_WORD - 1) {
			word[n++] = (char)tolower((unsigned char)*at);
		}
		at++;
		if (isupper((unsigned char)*at) && islower((unsigned char)at[-1])) {
			break;
		}
	}
	word[n] = '\0';
	return at;
}

struct field_words field_words(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *at = dot ? dot + 1 : name;
	struct field_words words = {.time = false};
	char word[MAX_WORD];

	for (at = next_word(at, word); word[0]; at = next_word(at, word)) {
		words.time |= IS_ONE_OF(word, times);
		words.unit = IS_ONE_OF(word, units); /* the last word is what counts */
		words.setting |= IS_ONE_OF(word, settings);
		words.identity = IS_ONE_OF(word, identities);
		words.id = words.identity || IS_ONE_OF(word, ids); /* "request_id", but not
								      "request_bytes" */
		words.resource |= IS_ONE_OF(word, resources);
	}
	return words;
}

bool is_interruption(const char *event)
{
	static const char *const prefixes[] = {
			"sched_", "irq_", "softirq_", "timer_", "pythiatop_", "socket_retransmit"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(event, prefixes[i], strlen(prefixes[i])) == 0) {
			return true;
		}
	}
	return false;
}

bool is_system_call(const char *event)
{
	return strncmp(event, "syscall_", 8) == 0;
}
