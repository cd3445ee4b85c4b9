/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sends a recorded trace into a relay daemon as a live session: the session daemon's side of the
 * protocol of LTTng-tools 2.13 (lttng-tools, sessiond-comm/relayd.h).
 *
 * The trace is one that `pythiatop --dump` wrote: cut into packets of a live timer, with every
 * number at a place that is known. (A trace as a tracer wrote it has packets of many seconds.)
 * Its clock is moved, so that its first packet begins now.
 *
 * usage: pt-replay --relay net://HOST:PORT --control PORT --data PORT [options] TRACE
 *   --host NAME --session NAME   as whom (default: replayed, replay)
 *   --speed X                    times as fast as it was recorded; 0 (default): unpaced
 *   --wait-viewer                send events only when somebody watches the session
 *   --loop N                     the whole session N times, one after the other
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "intake/url.h"
#include "source/viewer.h"

#define LIVE_TIMER_US 200000u
#define TIMER_NS      (LIVE_TIMER_US * UINT64_C(1000))
#define STREAMS_MAX   64
#define WAIT_VIEWER_S 30
#define LINGER_S      5 /* the relay daemon forgets what nobody has asked for when a session ends */
#define NOTHING_SENT  UINT64_MAX
#define MAGIC         0xc1fc1fc1u
#define REPLY_OK      10u

enum command {
	COMMAND_ADD_STREAM = 1,
	COMMAND_CREATE_SESSION = 2,
	COMMAND_VERSION = 5,
	COMMAND_METADATA = 6,
	COMMAND_CLOSE_STREAM = 7,
	COMMAND_INDEX = 13,
	COMMAND_STREAMS_SENT = 16,
	COMMAND_CREATE_CHUNK = 19,
};

/* How sink.ctf.fs of babeltrace2 2.0 begins a packet; sizes in bits. */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint64_t stream_class, stream_instance;
	uint64_t packet_bits, content_bits, begin_ns, end_ns, sequence;
} __attribute__((packed));

struct stream {
	const unsigned char *bytes;
	size_t size, at;
	uint64_t handle, n_sent, told_ns;
};

struct replay {
	const char *relay, *host, *session, *trace;
	uint16_t control_port, data_port;
	double speed;
	bool wait_viewer;
	unsigned long loops;

	int control, data;
	struct stream streams[STREAMS_MAX];
	uint32_t n_streams;
	uint64_t first_ns, last_ns; /* on the trace's clock */
	uint64_t shift_ns;          /* of the last session; 0: there was none */
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

/* --- Messages: big-endian, packed --- */

struct message {
	unsigned char *bytes;
	size_t n, room;
};

static void put(struct message *message, const void *bytes, size_t n)
{
	if (message->n + n > message->room) {
		message->room = (message->n + n) * 2;
		message->bytes = realloc(message->bytes, message->room);
		if (!message->bytes) {
			die("out of memory");
		}
	}
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

static void put32(struct message *message, uint32_t value)
{
	value = htobe32(value);
	put(message, &value, sizeof(value));
}

static void put64(struct message *message, uint64_t value)
{
	value = htobe64(value);
	put(message, &value, sizeof(value));
}

static void put8(struct message *message, uint8_t value)
{
	put(message, &value, sizeof(value));
}

static void write_all(int fd, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n > 0) {
		ssize_t done = send(fd, at, n, MSG_NOSIGNAL);

		if (done <= 0) {
			die("the relay daemon is gone: %s", strerror(errno));
		}
		at += done;
		n -= (size_t)done;
	}
}

static void read_all(int fd, void *bytes, size_t n)
{
	unsigned char *at = bytes;

	while (n > 0) {
		ssize_t done = recv(fd, at, n, 0);

		if (done <= 0) {
			die("no answer from the relay daemon: %s", strerror(errno));
		}
		at += done;
		n -= (size_t)done;
	}
}

static void send_command(struct replay *replay, enum command command, struct message *message)
{
	struct message head = {.bytes = NULL};

	put64(&head, 0);
	put64(&head, message->n);
	put32(&head, command);
	put32(&head, 0);
	put(&head, message->bytes ? message->bytes : (unsigned char *)"", message->n);
	write_all(replay->control, head.bytes, head.n);
	free(head.bytes);
	free(message->bytes);
	*message = (struct message){.bytes = NULL};
}

static void expect_ok(struct replay *replay, const char *what)
{
	uint32_t code;

	read_all(replay->control, &code, sizeof(code));
	if (be32toh(code) != REPLY_OK) {
		die("the relay daemon refuses to %s: code %u", what, be32toh(code));
	}
}

static int dial(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_port = htons(port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		die("cannot connect to port %u: %s", port, strerror(errno));
	}
	return fd;
}

/* --- The trace --- */

static const unsigned char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	void *bytes;

	if (fd < 0 || fstat(fd, &info) != 0) {
		die("cannot open %s: %s", path, strerror(errno));
	}
	*size = (size_t)info.st_size;
	bytes = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
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
			head->packet_bits < sizeof(*head) * 8) {
		die("a packet is not as pythiatop --dump writes them");
	}
	return true;
}

static void open_streams(struct replay *replay)
{
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/stream*", replay->trace);
	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc > STREAMS_MAX) {
		die("%s: no streams, or more than %d", replay->trace, STREAMS_MAX);
	}
	replay->first_ns = UINT64_MAX;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stream *stream = &replay->streams[replay->n_streams++];
		struct packet_head head;

		stream->bytes = map_file(found.gl_pathv[i], &stream->size);
		if (packet_at(stream, &head) && head.begin_ns < replay->first_ns) {
			replay->first_ns = head.begin_ns;
		}
	}
	globfree(&found);
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
	char path[4096], value[128];
	const unsigned char *bytes;
	char *text;
	size_t size;

	snprintf(path, sizeof(path), "%s/metadata", replay->trace);
	bytes = map_file(path, &size);
	text = size ? strndup((const char *)bytes, size) : NULL;
	if (!text) {
		die("%s is empty", path);
	}
	munmap((void *)bytes, size);
	snprintf(value, sizeof(value), "%" PRIu64, shift_ns / 1000000000u);
	text = with_value(text, "offset_s = ", value);
	snprintf(value, sizeof(value), "%" PRIu64, shift_ns % 1000000000u);
	text = with_value(text, "offset = ", value);
	snprintf(value, sizeof(value), "\"%s\"", replay->host);
	return with_value(text, "hostname = ", value);
}

/* --- The session --- */

static void say_hello(struct replay *replay)
{
	struct message message = {.bytes = NULL};
	uint32_t version[2];

	put32(&message, 2);
	put32(&message, 13);
	send_command(replay, COMMAND_VERSION, &message);
	read_all(replay->control, version, sizeof(version));
	if (be32toh(version[0]) != 2 || be32toh(version[1]) < 11) {
		die("the relay daemon is older than 2.11");
	}
}

static void create_session(struct replay *replay)
{
	struct message message = {.bytes = NULL};
	struct {
		uint64_t id;
		uint32_t code, path_length;
	} __attribute__((packed)) reply;
	unsigned char uuid[16];
	char path[4096];

	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid)) {
		die("no random numbers");
	}
	put32(&message, (uint32_t)strlen(replay->session) + 1);
	put32(&message, (uint32_t)strlen(replay->host) + 1);
	put32(&message, 1);
	put32(&message, LIVE_TIMER_US);
	put8(&message, 0); /* no snapshot session */
	put(&message, uuid, sizeof(uuid));
	put64(&message, 1);
	put64(&message, (uint64_t)time(NULL));
	put8(&message, 0); /* no chunk so far */
	put64(&message, 0);
	put8(&message, 0); /* the name contains no time */
	put(&message, replay->session, strlen(replay->session) + 1);
	put(&message, replay->host, strlen(replay->host) + 1);
	put(&message, "", 1);
	send_command(replay, COMMAND_CREATE_SESSION, &message);
	read_all(replay->control, &reply, sizeof(reply));
	if (be32toh(reply.code) != REPLY_OK || be32toh(reply.path_length) > sizeof(path)) {
		die("the relay daemon refuses the session: code %u", be32toh(reply.code));
	}
	read_all(replay->control, path, be32toh(reply.path_length));
	put64(&message, 0);
	put64(&message, (uint64_t)time(NULL));
	put32(&message, 0);
	send_command(replay, COMMAND_CREATE_CHUNK, &message);
	expect_ok(replay, "make a chunk");
}

static uint64_t add_stream(struct replay *replay, const char *name)
{
	struct message message = {.bytes = NULL};
	struct {
		uint64_t handle;
		uint32_t code;
	} __attribute__((packed)) reply;

	put32(&message, (uint32_t)strlen(name) + 1);
	put32(&message, sizeof("kernel/"));
	put64(&message, 0);
	put64(&message, 0);
	put64(&message, 0); /* chunk */
	put(&message, name, strlen(name) + 1);
	put(&message, "kernel/", sizeof("kernel/"));
	send_command(replay, COMMAND_ADD_STREAM, &message);
	read_all(replay->control, &reply, sizeof(reply));
	if (be32toh(reply.code) != REPLY_OK) {
		die("the relay daemon refuses the stream %s: code %u", name, be32toh(reply.code));
	}
	return be64toh(reply.handle);
}

static uint64_t begin_session(struct replay *replay, const char *description)
{
	struct message message = {.bytes = NULL};
	uint64_t metadata;
	char name[32];

	create_session(replay);
	metadata = add_stream(replay, "metadata");
	for (uint32_t i = 0; i < replay->n_streams; i++) {
		snprintf(name, sizeof(name), "channel_%" PRIu32, i);
		replay->streams[i].handle = add_stream(replay, name);
		replay->streams[i].at = 0;
		replay->streams[i].n_sent = 0;
	}
	send_command(replay, COMMAND_STREAMS_SENT, &message);
	expect_ok(replay, "take the streams");
	put64(&message, metadata);
	put32(&message, 0);
	put(&message, description, strlen(description));
	send_command(replay, COMMAND_METADATA, &message);
	return metadata;
}

static void close_stream(struct replay *replay, uint64_t handle, uint64_t last)
{
	struct message message = {.bytes = NULL};

	put64(&message, handle);
	put64(&message, last);
	send_command(replay, COMMAND_CLOSE_STREAM, &message);
	expect_ok(replay, "close a stream");
}

static bool has_viewer(struct viewer *viewer, const struct replay *replay)
{
	struct viewer_list list = {.sessions = NULL};
	struct viewer_fault fault;
	bool found = false;

	if (viewer_list(viewer, &list, &fault) != STATUS_OK) {
		die("%s", fault.text);
	}
	for (uint32_t i = 0; i < list.n; i++) {
		found = found || (strcmp(list.sessions[i].name, replay->session) == 0 &&
						 strcmp(list.sessions[i].host, replay->host) == 0 &&
						 list.sessions[i].viewers > 0);
	}
	viewer_list_release(&list);
	return found;
}

static void wait_for_viewer(const struct replay *replay)
{
	struct viewer_fault fault;
	struct viewer *viewer;
	char error[256];
	struct url url;

	if (!replay->relay || url_parse(&url, replay->relay, error, sizeof(error)) != STATUS_OK ||
			viewer_connect(&viewer, url.relay, url.port, 5000, &fault) != STATUS_OK) {
		die("--wait-viewer: cannot ask the relay daemon %s",
				replay->relay ? replay->relay : "(no --relay)");
	}
	for (int i = 0; !has_viewer(viewer, replay); i++) {
		if (i == WAIT_VIEWER_S * 20) {
			die("no viewer came within %d s", WAIT_VIEWER_S);
		}
		usleep(50000);
	}
	viewer_close(viewer);
	usleep(300000); /* it has attached; now it asks for the streams */
}

/* --- Sending --- */

static void send_index(
		struct replay *replay, const struct stream *stream, const struct packet_head *head)
{
	struct message message = {.bytes = NULL};

	put64(&message, stream->handle);
	put64(&message, stream->n_sent);
	put64(&message, head->packet_bits);
	put64(&message, head->content_bits);
	put64(&message, head->begin_ns);
	put64(&message, head->end_ns);
	put64(&message, 0);
	put64(&message, head->stream_class);
	put64(&message, head->stream_instance);
	put64(&message, head->sequence);
	send_command(replay, COMMAND_INDEX, &message);
	expect_ok(replay, "take an index");
}

static void send_packet(
		struct replay *replay, struct stream *stream, const struct packet_head *head)
{
	struct message message = {.bytes = NULL};
	size_t size = head->packet_bits / 8;

	put64(&message, 0);
	put64(&message, stream->handle);
	put64(&message, stream->n_sent);
	put32(&message, (uint32_t)size);
	put32(&message, 0);
	write_all(replay->data, message.bytes, message.n);
	free(message.bytes);
	write_all(replay->data, stream->bytes + stream->at, size);
	send_index(replay, stream, head);
	stream->at += size;
	stream->n_sent++;
	replay->last_ns = head->end_ns > replay->last_ns ? head->end_ns : replay->last_ns;
	stream->told_ns = head->end_ns;
}

/* Streams without a packet tell how far they are, so that nobody waits for them. */
static void tell_idle(struct replay *replay, uint64_t now_ns)
{
	struct packet_head head;

	for (uint32_t i = 0; i < replay->n_streams; i++) {
		struct stream *stream = &replay->streams[i];

		if (stream->n_sent == 0 || !packet_at(stream, &head)) {
			continue;
		}
		head.end_ns = now_ns < head.begin_ns ? now_ns : head.begin_ns;
		if (head.end_ns > stream->told_ns + TIMER_NS) {
			head.packet_bits = head.content_bits = 0;
			send_index(replay, stream, &head);
			stream->told_ns = head.end_ns;
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
	struct packet_head head, least;
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

static void replay_once(struct replay *replay)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME), metadata;
	uint64_t shift_ns = now_ns > replay->first_ns ? now_ns - replay->first_ns : 0;
	uint64_t after_ns = replay->shift_ns + replay->last_ns - replay->first_ns + TIMER_NS;
	char *description;

	/* Faster than it was recorded, the last session ended later than now. */
	shift_ns = replay->shift_ns && after_ns > shift_ns ? after_ns : shift_ns;
	replay->shift_ns = shift_ns;
	description = describe(replay, shift_ns);
	replay->control = dial(replay->control_port);
	say_hello(replay);
	replay->data = dial(replay->data_port);
	metadata = begin_session(replay, description);
	free(description);
	if (replay->wait_viewer) {
		wait_for_viewer(replay);
	}
	send_all(replay);
	sleep(LINGER_S);
	for (uint32_t i = 0; i < replay->n_streams; i++) {
		close_stream(replay, replay->streams[i].handle,
				replay->streams[i].n_sent ? replay->streams[i].n_sent - 1
							  : NOTHING_SENT);
	}
	close_stream(replay, metadata, NOTHING_SENT);
	close(replay->data);
	close(replay->control);
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
			replay->loops = strtoul(optarg, NULL, 10);
			break;
		default:
			return false;
		}
	}
	replay->trace = argv[optind];
	return optind + 1 == argc && replay->control_port && replay->data_port;
}

int main(int argc, char **argv)
{
	static struct replay replay = {.host = "replayed", .session = "replay", .loops = 1};

	if (!parse(&replay, argc, argv)) {
		fprintf(stderr, "usage: pt-replay [--relay net://HOST:PORT] --control PORT --data "
				"PORT "
				"[--host NAME] [--session NAME] [--speed X] [--wait-viewer] "
				"[--loop N] TRACE\n");
		return 2;
	}
	open_streams(&replay);
	for (unsigned long i = 0; i < replay.loops; i++) {
		replay_once(&replay);
	}
	return 0;
}
