/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sends a recorded trace into a relay daemon as a live session.
 *
 * What is sent is a trace that `pythiatop --dump` wrote: cut into packets of a live timer, with
 * every number at a place that is known. (A trace as a tracer wrote it has packets of many
 * seconds.) Any other recording is re-cut by pythiatop first, into a directory that goes
 * afterwards; if it has several traces, each becomes a session of that name, as a tracer's domains
 * do.
 *
 * The clock is moved, so that the first packet begins now; with a speed above 1, so that the last
 * one ends when it is sent, for events of the future would be no test of anything live.
 *
 * Repeated, it stays one session with the same streams: times and packet numbers go on counting,
 * and the relay daemon keeps only the last files of each stream.
 *
 * usage: pt-replay --relay net://HOST:PORT --control PORT --data PORT [options] TRACE
 *   --host NAME --session NAME   as whom (default: replayed, replay)
 *   --speed X                    times as fast as it was recorded; 0 (default): unpaced
 *   --wait-viewer                send events only when somebody watches the session
 *   --loop N                     N times in a row; 0: until it is ended
 *   --keep-time                  with the times of the recording, instead of from now on
 *   --pythiatop PROGRAM          what re-cuts (default: ../pythiatop beside this program)
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "relay/producer.h"
#include "watched.h"

#define LIVE_TIMER_US 200000u
#define TIMER_NS      (LIVE_TIMER_US * UINT64_C(1000))
#define STREAMS_MAX   64
#define LINGER_S      5 /* the relay daemon forgets what nobody has asked for when a session ends */
#define TRACES_MAX    16
#define LOOP_GAP_NS   1000000u /* between the last event of a round and the first of the next */
#define LOOP_FILE     (UINT64_C(4) << 20) /* bytes of a relay daemon's file of an endless stream */
#define LOOP_FILES    4u
#define EVENT_IDS_MAX 65536u
#define MAGIC         0xc1fc1fc1u
#define ANSWER_MS     60000 /* a loaded machine takes its time */

/* How sink.ctf.fs of babeltrace2 2.0 begins a packet; sizes in bits. */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint64_t stream_class, stream_instance;
	uint64_t packet_bits, content_bits, begin_ns, end_ns, sequence;
} __attribute__((packed));

struct stream {
	unsigned char *bytes;
	size_t size, at;
	uint64_t n_packets;
	struct producer_stream sent;
	unsigned long round; /* how often it was sent to its end */
};

struct replay {
	const char *relay, *host, *session, *pythiatop;
	const char *trace;
	char *metadata; /* its text */
	uint16_t control_port, data_port;
	double speed;
	bool wait_viewer, keep_time;
	unsigned long rounds; /* ULONG_MAX: for ever */

	struct producer *producer;
	struct producer_stream described;
	struct stream streams[STREAMS_MAX];
	uint32_t n_streams;
	uint64_t first_ns, last_ns; /* of the recording, on its own clock */
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "pt-replay: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- The trace --- */

static unsigned char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	void *bytes;

	if (fd < 0 || fstat(fd, &info) != 0) {
		die("cannot open %s: %s", path, strerror(errno));
	}
	*size = (size_t)info.st_size;
	/* Private: what is changed in memory stays there. */
	bytes = *size ? mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) : NULL;
	close(fd);
	if (bytes == MAP_FAILED) {
		die("cannot read %s: %s", path, strerror(errno));
	}
	return bytes;
}

/* The packet a stream is at; false: it is at its end. */
static bool packet_at(const struct stream *stream, struct packet_head *head)
{
	if (stream->size - stream->at < sizeof(*head)) {
		return false;
	}
	memcpy(head, stream->bytes + stream->at, sizeof(*head));
	if (head->magic != MAGIC || head->packet_bits / 8 > stream->size - stream->at ||
			head->packet_bits < sizeof(*head) * 8 ||
			head->content_bits > head->packet_bits) {
		die("a packet is not as pythiatop --dump writes them");
	}
	return true;
}

static void read_metadata(struct replay *replay)
{
	char path[PATH_MAX + 16];
	unsigned char *bytes;
	size_t size;

	snprintf(path, sizeof(path), "%s/metadata", replay->trace);
	bytes = map_file(path, &size);
	replay->metadata = size ? strndup((const char *)bytes, size) : NULL;
	if (!replay->metadata) {
		die("%s is empty", path);
	}
	munmap(bytes, size);
}

/* Takes all of the trace into memory: its files may go afterwards. */
static void open_trace(struct replay *replay, const char *trace)
{
	char pattern[PATH_MAX + 16];
	glob_t found;

	replay->trace = trace;
	read_metadata(replay);
	snprintf(pattern, sizeof(pattern), "%s/stream*", replay->trace);
	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc > STREAMS_MAX) {
		die("%s: no streams, or more than %d", replay->trace, STREAMS_MAX);
	}
	replay->n_streams = 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stream *stream = &replay->streams[replay->n_streams++];
		struct packet_head head;

		*stream = (struct stream){.n_packets = 0};
		stream->bytes = map_file(found.gl_pathv[i], &stream->size);
		while (packet_at(stream, &head)) {
			replay->first_ns = head.begin_ns < replay->first_ns ? head.begin_ns
									    : replay->first_ns;
			replay->last_ns = head.end_ns > replay->last_ns ? head.end_ns
									: replay->last_ns;
			stream->at += head.packet_bits / 8;
			stream->n_packets++;
		}
		stream->at = 0;
	}
	globfree(&found);
}

/* --- Rounds --- */

static uint64_t round_ns(const struct replay *replay)
{
	return replay->last_ns - replay->first_ns + LOOP_GAP_NS;
}

static uint64_t get64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static void add64(unsigned char *at, uint64_t by)
{
	uint64_t value = htole64(get64(at) + by);

	memcpy(at, &value, sizeof(value));
}

/*
 * Moves a packet to the next round. An event begins with the number of its class and its time, of
 * 64 bits each: a time within the packet, not before the last one, right behind a small number, is
 * that. (Nothing else of an event is a time since 1970 in nanoseconds; that the first one found is
 * the packet's is checked.)
 */
static void move_packet(const struct replay *replay, const struct stream *stream)
{
	unsigned char *packet = stream->bytes + stream->at;
	struct packet_head head;
	uint64_t by_ns = round_ns(replay), at_ns, first_ns = 0;

	if (!packet_at(stream, &head)) {
		return;
	}
	at_ns = head.begin_ns;
	for (size_t i = sizeof(head) + 8, end = head.content_bits / 8; i + 8 <= end;) {
		uint64_t ns = get64(packet + i);

		if (ns >= at_ns && ns <= head.end_ns && get64(packet + i - 8) < EVENT_IDS_MAX) {
			first_ns = first_ns ? first_ns : ns;
			at_ns = ns;
			add64(packet + i, by_ns);
			i += 8;
		} else {
			i++;
		}
	}
	if (first_ns != head.begin_ns) {
		die("a packet's events are not as pythiatop --dump writes them");
	}
	add64(packet + offsetof(struct packet_head, begin_ns), by_ns);
	add64(packet + offsetof(struct packet_head, end_ns), by_ns);
	add64(packet + offsetof(struct packet_head, sequence), stream->n_packets);
}

/* Behind the packet that it is at; from the end back to the beginning, a round later. */
static void go_on(const struct replay *replay, struct stream *stream, size_t packet_bytes)
{
	struct packet_head head;

	stream->at += packet_bytes;
	if (!packet_at(stream, &head) && stream->round + 1 < replay->rounds) {
		stream->round++;
		stream->at = 0;
	}
	if (stream->round > 0) {
		move_packet(replay, stream);
	}
}

/* Copies the description, with the value of each line that begins with `name = ` replaced. */
static char *with_value(char *text, const char *name, const char *value)
{
	char *at = strstr(text, name), *end, *result;

	end = at ? strchr(at, ';') : NULL;
	if (!end) {
		die("the description has no \"%s\": was the trace written by pythiatop --dump?",
				name);
	}
	*at = '\0';
	if (asprintf(&result, "%s%s%s%s", text, name, value, end) < 0) {
		die("out of memory");
	}
	free(text);
	return result;
}

static char *describe(const struct replay *replay, uint64_t shift_ns)
{
	char value[128], *text = strdup(replay->metadata);

	if (!text) {
		die("out of memory");
	}
	snprintf(value, sizeof(value), "%" PRIu64, shift_ns / 1000000000u);
	text = with_value(text, "offset_s = ", value);
	snprintf(value, sizeof(value), "%" PRIu64, shift_ns % 1000000000u);
	text = with_value(text, "offset = ", value);
	snprintf(value, sizeof(value), "\"%s\"", replay->host);
	return with_value(text, "hostname = ", value);
}

/* --- The session --- */

static void check(enum status status, const struct producer_fault *fault)
{
	if (status != STATUS_OK) {
		die("%s", fault->text);
	}
}

static void add_stream(struct replay *replay, struct producer_stream *stream, const char *name)
{
	bool endless = replay->rounds > 1 && strcmp(name, "metadata") != 0;
	struct producer_fault fault;

	check(producer_add_stream(replay->producer, stream, name, "kernel/",
			      endless ? LOOP_FILE : 0, endless ? LOOP_FILES : 0, &fault),
			&fault);
}

static void begin_session(struct replay *replay, const char *description)
{
	const struct producer_session session = {.host = replay->host,
			.name = replay->session,
			.live_timer_us = LIVE_TIMER_US,
			.begin_s = (uint64_t)time(NULL)};
	struct producer_fault fault;
	char name[32];

	check(producer_create_session(replay->producer, &session, &fault), &fault);
	add_stream(replay, &replay->described, "metadata");
	for (uint32_t i = 0; i < replay->n_streams; i++) {
		snprintf(name, sizeof(name), "channel_%" PRIu32, i);
		add_stream(replay, &replay->streams[i].sent, name);
	}
	check(producer_publish(replay->producer, &fault), &fault);
	check(producer_send_metadata(replay->producer, &replay->described, description,
			      strlen(description), &fault),
			&fault);
}

static void end_session(struct replay *replay)
{
	struct producer_fault fault;

	for (uint32_t i = 0; i < replay->n_streams; i++) {
		check(producer_close_stream(replay->producer, &replay->streams[i].sent, &fault),
				&fault);
	}
	check(producer_close_stream(replay->producer, &replay->described, &fault), &fault);
	producer_close(replay->producer);
}

/* --- Sending --- */

static struct producer_packet told_of(const struct packet_head *head)
{
	return (struct producer_packet){.packet_bits = head->packet_bits,
			.content_bits = head->content_bits,
			.begin_ns = head->begin_ns,
			.end_ns = head->end_ns,
			.stream_class = head->stream_class,
			.stream_instance = head->stream_instance,
			.sequence = head->sequence};
}

static void send_packet(
		struct replay *replay, struct stream *stream, const struct packet_head *head)
{
	const struct producer_packet packet = told_of(head);
	struct producer_fault fault;

	check(producer_send_packet(replay->producer, &stream->sent, &packet,
			      stream->bytes + stream->at, &fault),
			&fault);
	go_on(replay, stream, head->packet_bits / 8);
}

/* Streams without a packet tell how far they are, so that nobody waits for them. */
static void tell_idle(struct replay *replay, uint64_t now_ns)
{
	struct packet_head head;

	for (uint32_t i = 0; i < replay->n_streams; i++) {
		struct stream *stream = &replay->streams[i];

		if (stream->sent.n_sent == 0 || !packet_at(stream, &head)) {
			continue;
		}
		head.end_ns = now_ns < head.begin_ns ? now_ns : head.begin_ns;
		if (head.end_ns > stream->sent.told_ns + TIMER_NS) {
			const struct producer_packet beacon = told_of(&head);
			struct producer_fault fault;

			check(producer_send_beacon(
					      replay->producer, &stream->sent, &beacon, &fault),
					&fault);
		}
	}
}

static void pace(struct replay *replay, uint64_t began_ns, uint64_t end_ns)
{
	while (replay->speed > 0) {
		uint64_t passed_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
		uint64_t now_ns = replay->first_ns + (uint64_t)((double)passed_ns * replay->speed);

		tell_idle(replay, now_ns);
		if (now_ns >= end_ns) {
			return;
		}
		usleep(5000);
	}
}

/* In the order of the packets' ends, as a tracer would. */
static void send_all(struct replay *replay)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	struct packet_head head, least = {.magic = 0};
	struct stream *next;

	for (;;) {
		next = NULL;
		for (uint32_t i = 0; i < replay->n_streams; i++) {
			if (packet_at(&replay->streams[i], &head) &&
					(!next || head.end_ns < least.end_ns)) {
				next = &replay->streams[i];
				least = head;
			}
		}
		if (!next) {
			return;
		}
		pace(replay, began_ns, least.end_ns);
		send_packet(replay, next, &least);
	}
}

/* What the trace's clock is ahead of now. */
static uint64_t shift_of(const struct replay *replay, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns;

	if (replay->keep_time) {
		return 0;
	}
	if (replay->speed > 1 && replay->rounds != ULONG_MAX) {
		double total_ns = (double)round_ns(replay) * (double)replay->rounds;

		begin_ns -= (uint64_t)(total_ns * (1 - 1 / replay->speed));
	}
	return begin_ns > replay->first_ns ? begin_ns - replay->first_ns : 0;
}

static void replay_trace(struct replay *replay, uint64_t shift_ns)
{
	char *description = describe(replay, shift_ns);
	const struct producer_target target = {.host = "127.0.0.1",
			.control_port = replay->control_port,
			.data_port = replay->data_port};
	struct producer_fault fault;

	check(producer_connect(&replay->producer, &target, ANSWER_MS, &fault), &fault);
	begin_session(replay, description);
	free(description);
	if (replay->wait_viewer) {
		const char *wrong = wait_for_viewer(replay->relay, replay->host, replay->session);

		if (wrong) {
			die("--wait-viewer: %s", wrong);
		}
	}
	send_all(replay);
	sleep(LINGER_S);
	end_session(replay);
}

/* --- Recordings --- */

static bool is_dump(const char *trace)
{
	static const char mark[] = "generated by a Babeltrace `sink.ctf.fs`";
	char path[PATH_MAX + 16], head[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/metadata", trace);
	file = fopen(path, "re");
	if (!file) {
		return false;
	}
	if (fread(head, 1, sizeof(head) - 1, file) == 0) {
		head[0] = '\0';
	}
	fclose(file);
	return strstr(head, mark) != NULL;
}

static int run(const char *const *arguments)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		execvp(arguments[0], (char *const *)arguments);
		fprintf(stderr, "pt-replay: cannot start %s: %s\n", arguments[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		return -1;
	}
	return WEXITSTATUS(status);
}

static void beside_this(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash ? slash : path, size - (size_t)((slash ? slash : path) - path),
			"/../pythiatop");
}

/* Re-cuts a recording into `directory`/cut; longer windows than a recording's are allowed. */
static bool cut(const struct replay *replay, const char *recording, const char *directory)
{
	char program[PATH_MAX], to[PATH_MAX];
	const char *arguments[] = {replay->pythiatop ? replay->pythiatop : program, "--batch=json",
			"--window=3600", "--dump", to, recording, NULL};

	beside_this(program, sizeof(program));
	snprintf(to, sizeof(to), "%s/cut", directory);
	return run(arguments) == 0;
}

static void remove_tree(const char *directory)
{
	const char *arguments[] = {"rm", "-rf", "--", directory, NULL};

	run(arguments);
}

/* Re-cuts the recording that was named if it needs it, and opens what is to be sent. */
static uint32_t open_traces(struct replay *replays, const char *recording)
{
	char directory[] = "/tmp/pt-replay.XXXXXX", pattern[PATH_MAX];
	const struct replay options = replays[0];
	bool whole = is_dump(recording);
	glob_t found;
	uint32_t n;

	if (!whole && !mkdtemp(directory)) {
		die("no temporary directory: %s", strerror(errno));
	}
	if (!whole && !cut(&replays[0], recording, directory)) {
		remove_tree(directory);
		die("%s could not be re-cut", recording);
	}
	snprintf(pattern, sizeof(pattern), "%s/cut/*/*", directory);
	if (glob(whole ? recording : pattern, GLOB_ONLYDIR, NULL, &found) != 0 ||
			found.gl_pathc > TRACES_MAX) {
		die("%s: no trace, or more than %d", recording, TRACES_MAX);
	}
	n = (uint32_t)found.gl_pathc;
	for (uint32_t i = 0; i < n; i++) {
		replays[i] = options;
		open_trace(&replays[i], found.gl_pathv[i]);
	}
	if (!whole) {
		remove_tree(directory);
	}
	return n;
}

/* All on one clock: from the first packet of any to the last one. */
static void join_clocks(struct replay *replays, uint32_t n)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		first_ns = replays[i].first_ns < first_ns ? replays[i].first_ns : first_ns;
		last_ns = replays[i].last_ns > last_ns ? replays[i].last_ns : last_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		replays[i].first_ns = first_ns;
		replays[i].last_ns = last_ns;
	}
}

/* Each is a session of its own, sent by a process of its own. */
static int replay_all(struct replay *replays, uint32_t n)
{
	uint64_t shift_ns = shift_of(&replays[0], clock_ns(CLOCK_REALTIME));
	int status, failed = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			replay_trace(&replays[i], shift_ns);
			exit(0);
		}
	}
	replay_trace(&replays[0], shift_ns);
	while (wait(&status) > 0) {
		failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	return failed;
}

static bool parse(struct replay *replay, int argc, char **argv)
{
	static const struct option options[] = {
			{"relay", required_argument, NULL, 'r'},
			{"control", required_argument, NULL, 'c'},
			{"data", required_argument, NULL, 'd'},
			{"host", required_argument, NULL, 'h'},
			{"session", required_argument, NULL, 's'},
			{"speed", required_argument, NULL, 'x'},
			{"wait-viewer", no_argument, NULL, 'w'},
			{"loop", required_argument, NULL, 'l'},
			{"keep-time", no_argument, NULL, 'k'},
			{"pythiatop", required_argument, NULL, 'p'},
			{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			replay->relay = optarg;
			break;
		case 'c':
			replay->control_port = (uint16_t)strtoul(optarg, NULL, 10);
			break;
		case 'd':
			replay->data_port = (uint16_t)strtoul(optarg, NULL, 10);
			break;
		case 'h':
			replay->host = optarg;
			break;
		case 's':
			replay->session = optarg;
			break;
		case 'x':
			replay->speed = strtod(optarg, NULL);
			break;
		case 'w':
			replay->wait_viewer = true;
			break;
		case 'l':
			replay->rounds = strtoul(optarg, NULL, 10);
			replay->rounds = replay->rounds ? replay->rounds : ULONG_MAX;
			break;
		case 'k':
			replay->keep_time = true;
			break;
		case 'p':
			replay->pythiatop = optarg;
			break;
		default:
			return false;
		}
	}
	return optind + 1 == argc && replay->control_port && replay->data_port;
}

int main(int argc, char **argv)
{
	static struct replay replays[TRACES_MAX] = {{.host = "replayed",
			.session = "replay",
			.rounds = 1,
			.first_ns = UINT64_MAX}};
	uint32_t n;

	if (!parse(&replays[0], argc, argv)) {
		fprintf(stderr, "usage: pt-replay [--relay net://HOST:PORT] --control PORT --data "
				"PORT "
				"[--host NAME] [--session NAME] [--speed X] [--wait-viewer] "
				"[--loop N] [--keep-time] [--pythiatop PROGRAM] TRACE\n");
		return 2;
	}
	n = open_traces(replays, argv[optind]);
	join_clocks(replays, n);
	return replay_all(replays, n);
}
