/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The load generator: closed-loop clients, each with one request under way at most, who create,
 * list and delete their own objects. It is not traced: clients of a real cloud are not either.
 *
 * Requests come at random (exponential gaps, so that all clients together reach --rate), except
 * that servers are created in bursts: an orchestrator works off what was asked for since its last
 * round, every --burst-ms. That is how several builds come to one host at once.
 *
 * What is asked for comes with a body of 0.1 to 3.5 KiB. With --drift, the rate swings slowly.
 *
 * With --workload requests come by themselves, as often and as unevenly as the file has it
 * (schedule.h), and the objects are of all clients together: whoever is free asks next.
 *
 * Reproducible for a seed in what each client does; when, depends on the machine as well.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "schedule.h"
#include "wire.h"
#include "work.h"

#define MAX_CLIENTS 1000
#define MAX_OWNED   16  /* objects of one kind; a client that has so many deletes one */
#define MAX_SHARED  256 /* the same of all clients together, with --workload */
#define BINS        512 /* of the latency histogram: 16 per octave from 1 us */

enum kind { KIND_SERVER, KIND_FIP, KIND_VOLUME, N_KINDS };
enum verb { VERB_CREATE, VERB_LIST, VERB_DELETE, N_VERBS };

static const struct {
	const char *name;
	uint32_t weight;
} types[] = {
#define PT_TYPE(name, weight) {#name, weight},
#include "types.def"
#undef PT_TYPE
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))
_Static_assert(N_TYPES == (size_t)N_KINDS * N_VERBS,
		"types.def is kind by kind: create, list, delete");

struct tally {
	uint64_t done, failed;
	uint32_t bins[BINS];
};

/* All clients' options and results; the mutex guards the tallies and the log. */
struct load {
	const char *dir;
	uint32_t clients;
	uint64_t seed;
	double rate_per_s, duration_s;
	uint64_t burst_ns;
	double drift, drift_period_ns; /* the rate varies by that share, this slowly; 0: not */
	uint64_t start_ns;
	pthread_mutex_t mutex;
	struct tally tallies[N_TYPES];
	FILE *log;
	atomic_bool stop;
	const char *workload;        /* a file; NULL: none */
	struct schedule *schedule;   /* of it */
	struct client *owner;        /* of all objects, with a schedule */
	int32_t owed[N_KINDS];       /* deletes that became creates, less the other way round */
	pthread_mutex_t owner_mutex; /* guards these */
};

struct client {
	struct load *load;
	uint32_t number;
	int fd;
	uint64_t owned[N_KINDS][MAX_SHARED];
	uint32_t n_owned[N_KINDS], most_owned;
};

static void count(struct load *load, size_t type, const struct message *reply, uint64_t start_ns)
{
	uint64_t took_ns = clock_ns() - start_ns;
	double bin = 16 * log2(fmax(1, (double)took_ns / 1000));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_lock(&load->mutex);
	load->tallies[type].done++;
	load->tallies[type].failed += reply->status != 0;
	load->tallies[type].bins[(size_t)fmin(bin, BINS - 1)]++;
	if (load->log != NULL) {
		fprintf(load->log, "%lld.%09ld %s %llu %llu %d\n", (long long)now.tv_sec,
				now.tv_nsec, types[type].name,
				(unsigned long long)reply->request_id, (unsigned long long)took_ns,
				reply->status);
	}
	pthread_mutex_unlock(&load->mutex);
}

/* What to ask next: by weight, but create what is lacking and delete what is too much. */
static size_t choose(const struct client *client)
{
	uint32_t draw = random_below(100);
	size_t type = 0;
	uint32_t n;

	while (type < N_TYPES - 1 && draw >= types[type].weight) {
		draw -= types[type++].weight;
	}
	n = client->n_owned[type / N_VERBS];
	if (type % N_VERBS == VERB_DELETE && n == 0) {
		return type - VERB_DELETE + VERB_CREATE;
	}
	if (type % N_VERBS == VERB_CREATE && n == client->most_owned) {
		return type - VERB_CREATE + VERB_DELETE;
	}
	return type;
}

/* Few images are wanted often, many rarely. */
static uint64_t choose_image(void)
{
	return (uint64_t)fmin(11, random_exponential(2.5));
}

/* What comes with a request: a little mostly, and up to 3.5 KiB. */
static uint32_t choose_body(void)
{
	return 128 + (uint32_t)fmin(3456, random_exponential(800));
}

/*
 * The next one of the schedule, and when. Where there is nothing to delete something is created,
 * and a later request of the kind is the other way round, so that the shares stay.
 */
static size_t choose_scheduled(struct load *load, uint64_t *due_ns)
{
	size_t type = schedule_next(load->schedule, due_ns), other;
	enum kind kind = (enum kind)(type / N_VERBS);
	size_t creates = (size_t)kind * N_VERBS + VERB_CREATE;
	size_t deletes = (size_t)kind * N_VERBS + VERB_DELETE;
	uint32_t owned = load->owner->n_owned[kind];

	*due_ns += load->start_ns;
	if (type != creates && type != deletes) {
		return type;
	}
	other = load->owed[kind] > 0 ? deletes : load->owed[kind] < 0 ? creates : type;
	if (owned == 0) {
		other = creates;
	} else if (owned >= MAX_SHARED - 64) { /* as many may be under way */
		other = deletes;
	}
	load->owed[kind] += type != other ? (other == creates ? 1 : -1) : 0;
	return other;
}

static void prepare(struct client *client, size_t type, struct message *message)
{
	enum kind kind = (enum kind)(type / N_VERBS);

	*message = (struct message){.method = METHOD_server_create + (uint32_t)type,
			.arg = {client->number},
			.payload_bytes = choose_body()};
	if (type % N_VERBS == VERB_DELETE) {
		uint32_t which = random_below(client->n_owned[kind]);

		message->arg[1] = client->owned[kind][which];
		client->owned[kind][which] = client->owned[kind][--client->n_owned[kind]];
	} else if (kind == KIND_SERVER) {
		message->arg[1] = choose_image();
		message->arg[2] = random_below(4) == 0; /* with a volume */
	} else {
		message->arg[1] = random_below(16);
	}
}

static int ask(struct client *client, struct message *message)
{
	int status;

	if (client->fd < 0) {
		client->fd = wire_connect(client->load->dir, "api", WIRE_SERVICE);
		if (client->fd < 0) {
			return errno;
		}
	}
	status = wire_send(client->fd, message);
	if (status == 0) {
		status = wire_receive(client->fd, message);
	}
	if (status != 0) {
		close(client->fd);
		client->fd = -1;
	}
	return status;
}

/* What is asked for next, and who owns what it is about. Waits until it is time. */
static size_t begin_request(struct client *client, struct message *message)
{
	struct load *load = client->load;
	uint64_t due_ns, now_ns;
	size_t type;

	if (load->schedule == NULL) {
		type = choose(client);
		prepare(client, type, message);
		return type;
	}
	pthread_mutex_lock(&load->owner_mutex);
	type = choose_scheduled(load, &due_ns);
	prepare(load->owner, type, message);
	message->arg[0] = client->number;
	pthread_mutex_unlock(&load->owner_mutex);
	now_ns = clock_ns();
	if (due_ns > now_ns) {
		sleep_ns(due_ns - now_ns);
	}
	return type;
}

static void keep(struct client *client, enum kind kind, uint64_t object)
{
	if (client->n_owned[kind] < MAX_SHARED) {
		client->owned[kind][client->n_owned[kind]++] = object;
	}
}

static void request(struct client *client)
{
	struct load *load = client->load;
	struct message message;
	size_t type = begin_request(client, &message);
	enum kind kind = (enum kind)(type / N_VERBS);
	uint64_t start_ns;
	int status;

	if (type == METHOD_server_create - METHOD_server_create && load->burst_ns > 0 &&
			load->schedule == NULL) {
		sleep_ns(load->burst_ns - clock_ns() % load->burst_ns);
	}
	start_ns = clock_ns();
	status = ask(client, &message);
	if (status != 0) {
		message.status = status;
		sleep_ns(100000000); /* the api is not there: do not spin */
	}
	count(load, type, &message, start_ns);
	if (message.status == 0 && type % N_VERBS == VERB_CREATE) {
		pthread_mutex_lock(&load->owner_mutex);
		keep(load->schedule != NULL ? load->owner : client, kind, message.arg[0]);
		pthread_mutex_unlock(&load->owner_mutex);
	}
}

/* The mean gap between two requests of a client, at this moment. */
static double gap_now_ns(const struct load *load)
{
	double gap_ns = 1e9 * load->clients / load->rate_per_s;
	double at = (double)(clock_ns() - load->start_ns);

	return load->drift == 0
			       ? gap_ns
			       : gap_ns / (1 + load->drift * sin(6.283185307179586 * at /
									     load->drift_period_ns));
}

static void *client_thread(void *argument)
{
	struct client *client = argument;
	struct load *load = client->load;
	double due_ns = (double)clock_ns();

	random_seed(load->seed * MAX_CLIENTS + client->number);
	while (!atomic_load(&load->stop)) {
		double now_ns, gap_ns = gap_now_ns(load);

		if (load->schedule != NULL) {
			request(client);
			continue;
		}
		due_ns += random_exponential(gap_ns);
		now_ns = (double)clock_ns();
		if (due_ns > now_ns) {
			sleep_ns((uint64_t)fmin(due_ns - now_ns, 10e9));
		} else if (now_ns - due_ns > 10 * gap_ns) {
			due_ns = now_ns; /* too slow for the rate: no rush afterwards */
		}
		request(client);
	}
	return NULL;
}

static double quantile_ms(const struct tally *tally, double q)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < BINS; i++) {
		seen += tally->bins[i];
		if ((double)seen >= q * (double)tally->done) {
			return exp2(((double)i + 0.5) / 16) / 1000;
		}
	}
	return 0;
}

static void report(struct load *load, double seconds)
{
	uint64_t done = 0, failed = 0;

	pthread_mutex_lock(&load->mutex);
	for (size_t i = 0; i < N_TYPES; i++) {
		const struct tally *tally = &load->tallies[i];

		done += tally->done;
		failed += tally->failed;
		printf("%-20s %7llu requests, p50 %6.1f ms, p95 %6.1f ms\n", types[i].name,
				(unsigned long long)tally->done, quantile_ms(tally, 0.5),
				quantile_ms(tally, 0.95));
	}
	pthread_mutex_unlock(&load->mutex);
	printf("%.1f requests/s: %llu in %.1f s, %llu failed\n", (double)done / seconds,
			(unsigned long long)done, seconds, (unsigned long long)failed);
	fflush(stdout);
}

/* SHARE:SECONDS. 0, or -1 after a message. */
static int read_drift(const char *text, struct load *load)
{
	double seconds;
	char end;

	if (sscanf(text, "%lf:%lf%c", &load->drift, &seconds, &end) != 2 || !(load->drift >= 0) ||
			!(load->drift <= 0.95) || !(seconds >= 1) || !(seconds <= 1e6)) {
		fprintf(stderr, "pt-load: --drift takes SHARE:SECONDS, such as 0.5:60, not %s\n",
				text);
		return -1;
	}
	load->drift_period_ns = seconds * 1e9;
	return 0;
}

static int read_options(int argc, char **argv, struct load *load)
{
	static const struct option table[] = {{"dir", required_argument, NULL, 'd'},
			{"clients", required_argument, NULL, 'c'},
			{"seed", required_argument, NULL, 's'},
			{"rate", required_argument, NULL, 'r'},
			{"duration", required_argument, NULL, 't'},
			{"burst-ms", required_argument, NULL, 'b'},
			{"drift", required_argument, NULL, 'v'},
			{"workload", required_argument, NULL, 'w'},
			{"log", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case 'd':
			load->dir = optarg;
			break;
		case 'c':
			load->clients = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 's':
			load->seed = strtoull(optarg, NULL, 10);
			break;
		case 'r':
			load->rate_per_s = strtod(optarg, NULL);
			break;
		case 't':
			load->duration_s = strtod(optarg, NULL);
			break;
		case 'b':
			load->burst_ns = strtoull(optarg, NULL, 10) * 1000000;
			break;
		case 'v':
			if (read_drift(optarg, load) != 0) {
				return -1;
			}
			break;
		case 'w':
			load->workload = optarg;
			break;
		case 'l':
			load->log = fopen(optarg, "we");
			if (load->log == NULL) {
				fprintf(stderr, "pt-load: cannot write %s: %s\n", optarg,
						strerror(errno));
				return -1;
			}
			break;
		default:
			return -1;
		}
	}
	if (load->dir == NULL || load->clients < 1 || load->clients > MAX_CLIENTS ||
			!(load->rate_per_s > 0)) {
		fprintf(stderr,
				"usage: pt-load --dir DIR [--clients 1..%d] [--rate PER_S] [--seed "
				"N]"
				" [--duration S] [--burst-ms N] [--drift SHARE:S] [--workload "
				"FILE] [--log FILE]\n",
				MAX_CLIENTS);
		return -1;
	}
	return 0;
}

static bool read_workload(struct load *load)
{
	const char *names[N_TYPES];

	if (load->workload == NULL) {
		return true;
	}
	for (size_t i = 0; i < N_TYPES; i++) {
		names[i] = types[i].name;
	}
	load->schedule = schedule_read(load->workload, names, N_TYPES, load->seed);
	return load->schedule != NULL;
}

/* Waits for the end of the time given, or for a signal to stop. */
static void wait_for_end(const struct load *load, const sigset_t *signals)
{
	double seconds = load->duration_s > 0 ? load->duration_s : 1e8;
	struct timespec wait = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};

	while (sigtimedwait(signals, NULL, &wait) < 0 && errno == EINTR) {
	}
}

int main(int argc, char **argv)
{
	static struct load load = {.clients = 20,
			.seed = 1,
			.rate_per_s = 130,
			.burst_ns = 200000000,
			.mutex = PTHREAD_MUTEX_INITIALIZER,
			.owner_mutex = PTHREAD_MUTEX_INITIALIZER};
	static struct client clients[MAX_CLIENTS], owner = {.number = 0, .most_owned = MAX_SHARED};
	sigset_t signals;

	if (read_options(argc, argv, &load) != 0) {
		return 2;
	}
	if (!read_workload(&load)) {
		return 2;
	}
	load.owner = &owner;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	process_adopt("load");
	load.start_ns = clock_ns();
	for (uint32_t i = 0; i < load.clients; i++) {
		pthread_t thread;

		clients[i] = (struct client){
				.load = &load, .number = i, .fd = -1, .most_owned = MAX_OWNED};
		if (pthread_create(&thread, NULL, client_thread, &clients[i]) != 0) {
			fprintf(stderr, "pt-load: cannot start client %u\n", i);
			return 1;
		}
		pthread_detach(thread);
	}
	wait_for_end(&load, &signals);
	atomic_store(&load.stop, true);
	report(&load, (double)(clock_ns() - load.start_ns) / 1e9);
	if (load.log != NULL) {
		pthread_mutex_lock(&load.mutex); /* whoever still counts, waits for ever */
		fflush(load.log);
	}
	_exit(0); /* requests under way are not waited for */
}
