/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pt-testbed: starts the services, waits until they are ready, applies a fault if one is given, and
 * runs the load, and a command meanwhile. Ends with the load or the command, on a signal, or with
 * its parent, and takes all of it along; should it be killed, the others notice and end by
 * themselves (process.c).
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "work.h"

#define READY_NS        30000000000 /* a service that has not announced itself by then never will */
#define MAX_LOAD_ARGS   24
#define MAX_FAULT_WORDS (FAULT_COMMAND_BYTES / 2)

static const struct {
	const char *program, *name;
} services[] = {
#define PT_SERVICE(program, name) {program, name},
#include "services.def"
#undef PT_SERVICE
};
#define N_SERVICES (sizeof(services) / sizeof(services[0]))

struct testbed {
	char bin[400]; /* where our programs are */
	char dir[400]; /* the run directory */
	const char *seed, *fault;
	bool no_load;
	char *load_args[MAX_LOAD_ARGS]; /* passed on to pt-load */
	int n_load_args;
	char *const *command; /* runs beside the load, with the terminal; NULL: none */
	pid_t services[N_SERVICES];
	pid_t load, command_pid;
};

/*
 * Starts a program with no signal blocked, which ends with us. With a command, standard output is
 * the command's alone: ours goes to standard error. Returns the pid, or -1 (errno).
 */
static pid_t spawn(const struct testbed *testbed, const char *path, char *const argv[])
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t none;

		if (testbed->command != NULL && argv != testbed->command) {
			dup2(STDERR_FILENO, STDOUT_FILENO);
		}
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (getppid() == parent) {
			execvp(path, argv);
			fprintf(stderr, "pt-testbed: cannot run %s: %s\n", path, strerror(errno));
		}
		_exit(127);
	}
	return pid;
}

/* Starts the program of ours that argv[0] names. */
static pid_t spawn_own(const struct testbed *testbed, char *const argv[])
{
	char path[500];

	snprintf(path, sizeof(path), "%s/%s", testbed->bin, argv[0]);
	return spawn(testbed, path, argv);
}

static int start_services(struct testbed *testbed)
{
	for (size_t i = 0; i < N_SERVICES; i++) {
		char program[16], name[16], seed[32];
		char *argv[] = {program, (char[]){"--name"}, name, (char[]){"--dir"}, testbed->dir,
				(char[]){"--seed"}, seed, NULL};

		snprintf(program, sizeof(program), "%s", services[i].program);
		snprintf(name, sizeof(name), "%s", services[i].name);
		snprintf(seed, sizeof(seed), "%llu",
				strtoull(testbed->seed, NULL, 10) * 100 + (unsigned long long)i);
		testbed->services[i] = spawn_own(testbed, argv);
		if (testbed->services[i] < 0) {
			perror("pt-testbed: fork");
			return -1;
		}
	}
	return 0;
}

/* The name of a service that has ended, or NULL. */
static const char *find_dead(struct testbed *testbed)
{
	for (size_t i = 0; i < N_SERVICES; i++) {
		int how;

		if (testbed->services[i] <= 0 ||
				waitpid(testbed->services[i], &how, WNOHANG) <= 0) {
			continue;
		}
		testbed->services[i] = 0;
		if (!WIFSIGNALED(how) || WTERMSIG(how) != SIGABRT) {
			return services[i].name;
		}
		fprintf(stderr, "pt-testbed: %s crashed\n", services[i].name);
	}
	return NULL;
}

/* 0 when all have announced themselves; -1 if one cannot, or on a signal. */
static int wait_until_ready(struct testbed *testbed, const sigset_t *signals)
{
	uint64_t start_ns = clock_ns();
	const struct timespec tick = {.tv_nsec = 20000000};
	size_t ready = 0;

	while (ready < N_SERVICES) {
		char path[500];
		struct stat status;
		const char *dead = find_dead(testbed);

		if (dead != NULL || clock_ns() - start_ns > READY_NS) {
			fprintf(stderr, "pt-testbed: %s did not start\n",
					dead != NULL ? dead : services[ready].name);
			return -1;
		}
		snprintf(path, sizeof(path), "%s/%s.port", testbed->dir, services[ready].name);
		if (stat(path, &status) == 0) {
			ready++;
		} else {
			int got = sigtimedwait(signals, NULL, &tick);

			if (got > 0 && got != SIGCHLD) {
				return -1;
			}
		}
	}
	return 0;
}

static int apply_fault(const struct testbed *testbed)
{
	char words[FAULT_COMMAND_BYTES];
	char *argv[MAX_FAULT_WORDS + 4] = {(char[]){"pt-fault"}, (char[]){"--dir"}, (char[]){""}};
	int argc = 3, status;
	char *rest;
	pid_t pid;

	if (testbed->fault == NULL) {
		return 0;
	}
	if (strlen(testbed->fault) >= sizeof(words)) {
		fprintf(stderr, "pt-testbed: --fault is too long\n");
		return -1;
	}
	memcpy(words, testbed->fault, strlen(testbed->fault) + 1);
	argv[2] = (char *)testbed->dir;
	for (char *word = strtok_r(words, " ", &rest); word != NULL && argc < MAX_FAULT_WORDS + 3;
			word = strtok_r(NULL, " ", &rest)) {
		argv[argc++] = word;
	}
	pid = spawn_own(testbed, argv);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static int start_load(struct testbed *testbed)
{
	char *argv[MAX_LOAD_ARGS + 8] = {(char[]){"pt-load"}, (char[]){"--dir"}, testbed->dir,
			(char[]){"--seed"}, (char *)testbed->seed};

	if (testbed->no_load) {
		return 0;
	}
	memcpy(argv + 5, testbed->load_args, sizeof(testbed->load_args));
	testbed->load = spawn_own(testbed, argv);
	return testbed->load > 0 ? 0 : -1;
}

static int start_command(struct testbed *testbed)
{
	if (testbed->command == NULL) {
		printf("ready: %s\n", testbed->dir);
		fflush(stdout);
		return 0;
	}
	setenv("PT_TESTBED_DIR", testbed->dir, 1);
	testbed->command_pid = spawn(testbed, testbed->command[0], testbed->command);
	return testbed->command_pid > 0 ? 0 : -1;
}

/* True when *pid has ended; then *pid is 0, and *status what a shell would say. */
static bool has_ended(pid_t *pid, int *status)
{
	int how;

	if (*pid <= 0 || waitpid(*pid, &how, WNOHANG) != *pid) {
		return false;
	}
	*pid = 0;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return true;
}

/* Until the load or the command ends, a service dies, or a signal comes. Returns the status. */
static int watch(struct testbed *testbed, const sigset_t *signals)
{
	const struct timespec tick = {.tv_nsec = 100000000};

	for (;;) {
		const char *dead = find_dead(testbed);
		int status, got;

		if (dead != NULL) {
			fprintf(stderr, "pt-testbed: %s died\n", dead);
			return 1;
		}
		if (has_ended(&testbed->command_pid, &status) ||
				has_ended(&testbed->load, &status)) {
			return status;
		}
		got = sigtimedwait(signals, NULL, &tick);
		if (got > 0 && got != SIGCHLD) {
			return testbed->command != NULL ? 128 + got : 0;
		}
	}
}

/* Ends a child that runs, with patience, for it may have something to save or to say. */
static void end_child(pid_t pid)
{
	const struct timespec tick = {.tv_nsec = 20000000};

	if (pid <= 0) {
		return;
	}
	kill(pid, SIGTERM);
	for (int i = 0; i < 250; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0) {
			return;
		}
		nanosleep(&tick, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void end(struct testbed *testbed)
{
	end_child(testbed->command_pid);
	end_child(testbed->load);
	/* Callers before those they call: no call fails because its callee went first. */
	for (size_t i = N_SERVICES; i > 0; i--) {
		char path[500];

		end_child(testbed->services[i - 1]);
		/* It takes that away itself, unless it crashed or was killed. */
		snprintf(path, sizeof(path), "%s/%s.port", testbed->dir, services[i - 1].name);
		unlink(path);
	}
	rmdir(testbed->dir);
}

static int usage(FILE *out)
{
	fprintf(out, "usage: pt-testbed [options] [-- COMMAND [ARGUMENT...]]\n"
		     "Runs the testbed, and COMMAND meanwhile, and ends with it.\n"
		     "  --dir DIR       run directory, made if missing (default: a new one in "
		     "/tmp)\n"
		     "  --fault \"FAULT\" as for pt-fault, from the first request on\n"
		     "  --seed N        (1)      --no-load       services only, until a signal\n"
		     "  --clients N     (20)     --rate PER_S    (130)\n"
		     "  --duration S    (0: until a signal)      --burst-ms N  (200; 0: none)\n"
		     "  --drift SHARE:S the rate goes up and down by that share, slowly, in S "
		     "seconds\n"
		     "  --workload FILE requests come as in that file of pythiatop --workload\n"
		     "  --log FILE      a line a request: end time, type, request id, ns, "
		     "status\n");
	return out == stdout ? 0 : 2;
}

static int read_options(int argc, char **argv, struct testbed *testbed)
{
	static const struct option table[] = {{"dir", required_argument, NULL, 'd'},
			{"fault", required_argument, NULL, 'f'},
			{"seed", required_argument, NULL, 's'}, {"no-load", no_argument, NULL, 'n'},
			{"help", no_argument, NULL, 'h'}, {"clients", required_argument, NULL, 'L'},
			{"rate", required_argument, NULL, 'L'},
			{"duration", required_argument, NULL, 'L'},
			{"burst-ms", required_argument, NULL, 'L'},
			{"drift", required_argument, NULL, 'L'},
			{"workload", required_argument, NULL, 'L'},
			{"log", required_argument, NULL, 'L'}, {NULL, 0, NULL, 0}};
	static char names[MAX_LOAD_ARGS][16];
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "", table, &index)) != -1) {
		switch (c) {
		case 'd':
			snprintf(testbed->dir, sizeof(testbed->dir), "%s", optarg);
			break;
		case 'f':
			testbed->fault = optarg;
			break;
		case 's':
			testbed->seed = optarg;
			break;
		case 'n':
			testbed->no_load = true;
			break;
		case 'h':
			exit(usage(stdout));
		case 'L':
			if (testbed->n_load_args + 2 < MAX_LOAD_ARGS) {
				char *name = names[testbed->n_load_args];

				snprintf(name, sizeof(names[0]), "--%s", table[index].name);
				testbed->load_args[testbed->n_load_args++] = name;
				testbed->load_args[testbed->n_load_args++] = optarg;
			}
			break;
		default:
			return -1;
		}
	}
	if (optind < argc) {
		if (strcmp(argv[optind - 1], "--") != 0) {
			return -1;
		}
		testbed->command = argv + optind;
	}
	return 0;
}

/* Our own place and the run directory's. 0, or -1 after a message. */
static int find_places(struct testbed *testbed)
{
	char self[400];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0) {
		perror("pt-testbed: /proc/self/exe");
		return -1;
	}
	self[len] = '\0';
	snprintf(testbed->bin, sizeof(testbed->bin), "%s", dirname(self));
	if (testbed->dir[0] == '\0') {
		snprintf(testbed->dir, sizeof(testbed->dir), "/tmp/pt-testbed.XXXXXX");
		if (mkdtemp(testbed->dir) == NULL) {
			perror("pt-testbed: cannot make a run directory in /tmp");
			return -1;
		}
	} else if (mkdir(testbed->dir, 0700) != 0 && errno != EEXIST) {
		fprintf(stderr, "pt-testbed: cannot make %s: %s\n", testbed->dir, strerror(errno));
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct testbed testbed = {.seed = "1"};
	sigset_t signals;
	int status = 1;

	if (read_options(argc, argv, &testbed) != 0) {
		return usage(stderr);
	}
	if (find_places(&testbed) != 0) {
		return 1;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD); /* so that watch() notices ends at once */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (start_services(&testbed) == 0 && wait_until_ready(&testbed, &signals) == 0 &&
			apply_fault(&testbed) == 0 && start_load(&testbed) == 0 &&
			start_command(&testbed) == 0) {
		status = watch(&testbed, &signals);
	}
	end(&testbed);
	return status;
}
