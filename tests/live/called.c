/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose functions are recorded by pythiatop-probe, and that says what is to be found.
 *
 * usage: pt-called values        calls functions with all kinds of arguments; writes a line
 *                                "EVENT|PAYLOAD" for each event, as babeltrace2 shows it
 *        pt-called requests N    N requests of two steps each, and steps outside of any
 *        pt-called hot SECONDS   calls one function as fast as it can; writes how often
 *        pt-called wait          says that it runs, and serves one request for each line
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define APART __attribute__((noinline, used))

static volatile int sink;

enum colour { RED = 3, BLUE = -4 };

struct pair {
	long a, b, c;
};

APART int called_numbers(int first, unsigned char second, long long third, enum colour colour,
		bool yes, unsigned long long large)
{
	sink = first + second + (int)third + colour + yes + (int)large;
	return first - 1;
}

APART unsigned char called_text(const char *text, double not_in_a_register, const char *other)
{
	sink = (int)strlen(text) + (int)not_in_a_register + (int)strlen(other);
	return 250;
}

APART void called_structure(int before, struct pair pair, int after)
{
	sink = before + (int)pair.b + after;
}

APART void *called_pointer(void *pointer)
{
	sink = pointer == NULL;
	return pointer;
}

APART int called_deep(int n)
{
	sink = n;
	return n == 0 ? 0 : called_deep(n - 1) + 1;
}

APART void called_step(int n)
{
	sink = n;
}

APART void called_request(int n)
{
	called_step(n);
	called_step(n + 1);
	sink = n;
}

APART void called_hot(void)
{
	sink++;
}

static void values(void)
{
	char here;

	called_numbers(-5, 200, INT64_C(-9000000000), BLUE, true, UINT64_C(18000000000000000000));
	puts("called_numbers_entry|{ first = -5, second = 200, third = -9000000000, colour = -4, "
	     "yes = "
	     "1, large = 18000000000000000000 }");
	puts("called_numbers_exit|{ ret = -6 }");
	/* babeltrace2 shows the escape character so; of a second string the address is told. */
	called_text("a \"b\" \033[31m", 2.5, "other");
	puts("called_text_entry|{ text = \"a \\\"b\\\" \\e[31m\", other = 0x");
	puts("called_text_exit|{ ret = 250 }");
	called_structure(7, (struct pair){1, 2, 3}, 8);
	puts("called_structure_entry|{ before = 7 }");
	puts("called_structure_exit|{ }");
	called_pointer(&here);
	printf("called_pointer_entry|{ pointer = 0x%llX }\n", (unsigned long long)(uintptr_t)&here);
	printf("called_pointer_exit|{ ret = 0x%llX }\n", (unsigned long long)(uintptr_t)&here);
	called_deep(2);
	for (int n = 2; n >= 0; n--) {
		printf("called_deep_entry|{ n = %d }\n", n);
	}
	for (int n = 0; n <= 2; n++) {
		printf("called_deep_exit|{ ret = %d }\n", n);
	}
}

static void hot(int seconds)
{
	const time_t end = time(NULL) + seconds;
	unsigned long long n = 0;

	while (time(NULL) < end) {
		for (int i = 0; i < 1000; i++) {
			called_hot();
		}
		n += 1000;
	}
	printf("%llu\n", n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[16];

	prctl(PR_SET_NAME, "\033[31mred\\");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "values") == 0) {
		values();
	} else if (strcmp(what, "requests") == 0 && argc > 2) {
		for (int i = 0; i < atoi(argv[2]); i++) {
			called_request(i);
			called_step(-1);
		}
	} else if (strcmp(what, "hot") == 0 && argc > 2) {
		hot(atoi(argv[2]));
	} else if (strcmp(what, "wait") == 0) {
		puts("runs");
		while (fgets(line, sizeof(line), stdin)) {
			called_request(0);
		}
	} else {
		fputs("usage: pt-called values|requests N|hot SECONDS|wait\n", stderr);
		return 2;
	}
	return 0;
}
