/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_DIAGNOSIS_RULES_H
#define TESTS_DIAGNOSIS_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What counts as a hit, and how sure a share of hits is: README.md says it in words.
 *
 * The truth is of a row of sites.def: fields 7 to 10, where "-" is nothing and "|" separates
 * alternatives.
 */
struct truth {
	const char *types;    /* of requests: a finding must be of one of them */
	const char *hits;     /* PROVIDER:NAME of points; any is right */
	const char *variable; /* of host=NAME and cpu@NAME that name must be told; of kind holder:
				 PROVIDER:NAME of points where it is held */
	const char *kind;     /* code, variable, host, resource, none; either: a hit, or what
				 `variable` says: KEY=VALUE, or a word of the sentence; holder: where
				 it is held, or a hit that waits for that */
	uint64_t fault_ns;    /* event time since which it is wrong */
};

#define SCORE_NAME  128
#define SCORE_RANKS 3 /* of hit@3 */

/* Why the loop stopped: of the document's verdict, or else of the first finding. */
struct score {
	char rule[16];          /* "" if it did not stop by itself */
	char where[SCORE_NAME]; /* PROVIDER:NAME, or NAME where no tree has it; "": no place */
	char holder[SCORE_NAME]; /* who is waited for most there, likewise, or the place
				    itself, if it is held there; "": nobody is named */
	char text[512];
	bool stopped, hit1, hit3;
	bool false_alarm;    /* nothing was wrong yet, and it gave a verdict or enabled a point */
	double seconds;      /* from the fault to the stop; negative: before it */
	uint32_t steps;      /* that enabled points, of all groups */
	uint64_t requests;   /* that the verdict rests on */
	uint32_t firing;     /* points beyond the skeleton that fired */
	uint32_t peak, ever; /* of those, enabled at once, and at any time, by search */
	uint32_t over_s;     /* the longest time in a row over the budget */
	bool breach;         /* longer than a step is watched */
};

/* A document of --batch=json at the loop's own stop. False: it is none, `error` says why. */
bool score_document(json_t *document, const struct truth *truth, struct score *score, char *error,
		size_t size);

/* Wilson's interval of a share, at 95 %. (E. B. Wilson 1927.) n = 0: from 0 to 1. */
void wilson(uint32_t hits, uint32_t n, double *low, double *high);

/*
 * The mean of ratios and its 95 % interval, by Student's t on their logarithms. n >= 2; all
 * ratios above 0.
 */
void ratio_interval(const double *ratios, uint32_t n, double *mean, double *low, double *high);

/* Sorts; the middle value, or the mean of the two. n >= 1. */
double median(double *values, uint32_t n);

#endif
