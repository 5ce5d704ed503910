/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_test.c - cells: what they answer, how they die, and that the next work has a new one.
 *
 * The works are the test's own: they do what a parser does that was taken over.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/sandbox/calls.h"
#include "base/sandbox/cell.h"
#include "base/sandbox/cell_inner.h"
#include "base/sandbox/parcel.h"

static bool is(struct text t, const char *word)
{
	return t.size == strlen(word) && !memcmp(t.s, word, t.size);
}

static void pause_for_ever(void)
{
	char never;

	for (;;)
		(void)!read(3, &never, 1);
}

static int by_byte(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Does what its first part says, with its second. */
static int act(const struct text *p, size_t n, struct buf *out, struct err *err)
{
	static int works;

	works++;
	if (is(p[0], "echo")) {
		for (size_t i = n; i-- > 1;)
			buf_add(out, p[i].s, p[i].size);
		return 0;
	}
	if (is(p[0], "count"))
		buf_printf(out, "%d", works);
	if (is(p[0], "sort")) {         /* so much that the C library asks for memory */
		static char many[5000];

		many[0] = 1;
		qsort(many, sizeof many, 1, by_byte);
		buf_printf(out, "%d %d", many[0], many[sizeof many - 1]);
	}
	if (is(p[0], "pid"))
		buf_printf(out, "%d", (int)getpid());
	if (is(p[0], "fail"))
		return err_set(err, E_PARSE, "bad \x1b[31m%.*s", (int)p[1].size, p[1].s);
	if (is(p[0], "much"))
		for (int i = 0; i < 1000; i++)
			buf_add(out, p[1].s, p[1].size);
	if (is(p[0], "null"))
		*(volatile int *)(uintptr_t)p[1].size = 1;      /* its size is 0 */
	if (is(p[0], "loop"))
		for (volatile int i = 1; i; i |= 1)
			;
	if (is(p[0], "bomb"))
		for (;;)
			memset(malloc(1 << 20) ? : (abort(), NULL), 1, 1 << 20);
	if (is(p[0], "socket"))
		socket(AF_INET, SOCK_STREAM, 0);
	if (is(p[0], "open"))
		open("/etc/passwd", O_RDONLY);
	if (is(p[0], "write"))
		open("/tmp/cell_test.file", O_CREAT | O_WRONLY, 0600);
	if (is(p[0], "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (is(p[0], "fork"))
		(void)!fork();
	if (is(p[0], "kill"))
		kill(getppid(), SIGTERM);
	if (is(p[0], "run"))
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (is(p[0], "exit"))
		_exit(0);
	if (is(p[0], "sleep"))
		pause_for_ever();
	if (is(p[0], "stay")) {         /* says that it is done, and never is */
		(void)!write(3, "", 1);
		pause_for_ever();
	}
	if (is(p[0], "secret"))
		buf_str(out, getenv("CELL_TEST_SECRET") ? getenv("CELL_TEST_SECRET") : "none");
	if (is(p[0], "files"))          /* descriptors that it has */
		for (int fd = 0; fd < 1024; fd++)
			if (write(fd, "", 0) == 0)
				buf_printf(out, "%d ", fd);
	if (is(p[0], "lie-stop"))       /* as if the user had stopped the command */
		return err_set(err, E_STOP, "stopped");
	if (is(p[0], "lie-size"))
		out->size = (size_t)1 << 40;
	return is(p[0], "lie-code") ? -5000 : 0;
}

static const struct cell_table acts = { .works = { [CELL_PAGE] = act }, .memory = 64 << 20,
                                        .seconds = 1 };

static int begin(void **state)
{
	(void)state;
	return cells_begin(&acts);
}

static int finish(void **state)
{
	(void)state;
	cells_end();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);       /* nobody is left */
	return 0;
}

static int ask(const char *what, const char *with, struct buf *ret, struct err *err)
{
	return cell_call(CELL_PAGE, (struct text[]){ { what, strlen(what) },
	                 { with, strlen(with) } }, 2, 1000, ret, NULL, NULL, err);
}

static void answers(void **state)
{
	struct buf b;
	struct err err = { 0 };
	char *large = malloc(20 << 20);
	struct text parts[] = { { "echo", 4 }, { large, 20 << 20 }, { NULL, 0 }, { "x", 1 } };

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	assert_true(cells_do(CELL_PAGE));
	assert_false(cells_do(CELL_DECODE));
	assert_int_equal(ask("echo", "hello", &b, &err), 0);
	assert_string_equal(buf_text(&b), "hello");
	assert_int_equal(ask("echo", " again", &b, &err), 0);
	assert_string_equal(buf_text(&b), "hello again");
	buf_clear(&b);
	assert_int_equal(ask("sort", "", &b, &err), 0);
	assert_string_equal(buf_text(&b), "0 1");
	assert_int_equal(ask("fail", "luck", &b, &err), E_PARSE);
	assert_string_equal(err.text, "bad ?[31mluck");         /* a terminal obeys no cell */
	assert_int_equal(ask("much", "more", &b, &err), E_LIMIT);
	for (size_t i = 0; i < 20 << 20; i++)
		large[i] = (char)(i * 7 + (i >> 13));
	buf_clear(&b);
	assert_int_equal(cell_call(CELL_PAGE, parts, 4, 200 << 20, &b, NULL, NULL, &err), 0);
	assert_int_equal(b.size, (20 << 20) + 1);
	assert_true(b.data[0] == 'x' && !memcmp(b.data + 1, large, 20 << 20));
	buf_clear(&b);
	assert_int_equal(ask("echo", "small again", &b, &err), 0);
	assert_string_equal(buf_text(&b), "small again");
	free(large);
	buf_release(&b);
}

static void deaths(void **state)
{
	static const struct { const char *what, *why; bool calls; } tries[] = {
		{ "null", "signal 11", false }, { "loop", "longer than 1 s", false },
		{ "bomb", "signal 6", false }, { "sleep", "longer than 1 s", false },
		{ "exit", "", false }, { "socket", "system call", true },
		{ "open", "system call", true }, { "write", "system call", true },
		{ "exec", "system call", true }, { "fork", "system call", true },
		{ "kill", "system call", true }, { "run", "system call", true },
		{ "lie-size", "makes no sense", false }, { "lie-code", "makes no sense", false },
		{ "lie-stop", "makes no sense", false },
	};
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct err err = { 0 };

		/* a sanitizer takes its own faults, and has no limit of memory */
		if ((tries[i].calls && !calls_known()) ||
		    (CALLS_SANITIZED && (i == 0 || i == 2)))
			continue;
		buf_clear(&b);
		assert_int_equal(ask(tries[i].what, "", &b, &err), E_READER);
		if (!strstr(err.text, tries[i].why))
			fail_msg("%s: %s", tries[i].what, err.text);
		assert_int_equal(b.size, 0);
		assert_int_equal(ask("echo", tries[i].what, &b, &err), 0);
		assert_string_equal(buf_text(&b), tries[i].what);
	}
	assert_int_equal(access("/tmp/cell_test.file", F_OK), -1);
	buf_release(&b);
}

/* A cell has its socket and no descriptor else, whatever we had open, and none of the secrets of
 * our environment.  One that pretends to be done and stays keeps nobody. */
static void has_nothing(void **state)
{
	int fds[2] = { open("/dev/null", O_WRONLY), fcntl(1, F_DUPFD, 900) };
	struct err err;
	struct buf b;

	(void)state;
	assert_int_equal(setenv("CELL_TEST_SECRET", "hidden", 1), 0);
	assert_int_equal(cells_begin(&acts), 0);
	buf_init(&b, BUF_NO_LIMIT);
	assert_int_equal(ask("files", "", &b, &err), 0);
	assert_string_equal(buf_text(&b), CALLS_SANITIZED ? "2 3 " : "3 ");
	buf_clear(&b);
	assert_int_equal(ask("secret", "", &b, &err), 0);
	assert_string_equal(buf_text(&b), "none");
	buf_clear(&b);
	(void)!ask("stay", "", &b, &err);       /* says again what it said before: none of ours */
	assert_true(b.size < 1000);
	cells_end();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	close(fds[0]);
	close(fds[1]);
	buf_release(&b);
}

static bool is_never_sound(void *arg, const char *answer, size_t size)
{
	*(int *)arg += size == 1 && *answer == 'x';
	return false;
}

/* One that lied is not asked again. */
static void liars(void **state)
{
	struct text parts[] = { { "pid", 3 }, { "", 0 } }, echo[] = { { "echo", 4 }, { "x", 1 } };
	struct err err;
	struct buf a, b;
	int n = 0;

	(void)state;
	buf_init(&a, BUF_NO_LIMIT);
	buf_init(&b, BUF_NO_LIMIT);
	assert_int_equal(cell_call(CELL_PAGE, parts, 2, 100, &a, NULL, NULL, &err), 0);
	assert_int_equal(cell_call(CELL_PAGE, echo, 2, 100, &b, is_never_sound, &n, &err), E_READER);
	assert_int_equal(n, 1);
	buf_clear(&b);
	assert_int_equal(cell_call(CELL_PAGE, parts, 2, 100, &b, NULL, NULL, &err), 0);
	assert_string_not_equal(buf_text(&a), buf_text(&b));
	buf_release(&a);
	buf_release(&b);
}

static bool begins_well(void *arg, const char *answer, size_t size)
{
	(void)arg;
	return size && *answer != '!';
}

#define N_TOGETHER 19

struct together {
	struct cell_job jobs[N_TOGETHER];
	struct buf answers[N_TOGETHER];
	struct err errs[N_TOGETHER];
};

static void call_together(struct together *t, const char *const words[][2], size_t most)
{
	for (int i = 0; i < N_TOGETHER; i++) {
		const char *const *w = words[i];

		buf_init(&t->answers[i], BUF_NO_LIMIT);
		buf_add(&t->answers[i], ">", 1);        /* what was there stays */
		t->jobs[i] = (struct cell_job){
			.parts = { { w[0], strlen(w[0]) }, { w[1], strlen(w[1]) } }, .n = 2, .most = most,
			.ret = &t->answers[i], .check = begins_well, .err = &t->errs[i] };
	}
	cell_call_all(CELL_PAGE, t->jobs, N_TOGETHER);
}

static void free_together(struct together *t)
{
	for (int i = 0; i < N_TOGETHER; i++)
		buf_release(&t->answers[i]);
}

/* Works of one message: each has its own answer or error, and one that dies or lies costs none of
 * the others theirs. */
static void together(void **state)
{
	static const char *const bad[][2] = {
		{ "exit", "" }, { "loop", "" }, { "lie-size", "" }, { "lie-code", "" }, { "echo", "!x" },
		{ "socket", "" },
	};
	static struct together t;
	const char *words[N_TOGETHER][2];
	char texts[N_TOGETHER][8];
	uint64_t made[2], died[2];

	(void)state;
	for (size_t k = 0; k <= sizeof bad / sizeof *bad; k++) {
		bool fine = k == sizeof bad / sizeof *bad;

		if (!fine && !strcmp(bad[k][0], "socket") && !calls_known())
			continue;
		for (int i = 0; i < N_TOGETHER; i++) {
			snprintf(texts[i], sizeof texts[i], "text%d", i);
			words[i][0] = i == 5 ? "fail" : "echo";
			words[i][1] = texts[i];
			if (!fine && i == 3)
				memcpy(words[i], bad[k], sizeof words[i]);
		}
		cells_count(&made[0], &died[0]);
		call_together(&t, words, 1000);
		cells_count(&made[1], &died[1]);
		for (int i = 0; i < N_TOGETHER; i++) {
			bool broken = !fine && i == 3;

			assert_int_equal(t.jobs[i].rc, broken ? E_READER : i == 5 ? E_PARSE : 0);
			if (t.jobs[i].rc == 0)
				assert_string_equal(buf_text(&t.answers[i]) + 1, texts[i]);
		}
		assert_string_equal(t.errs[5].text, "bad ?[31mtext5");
		assert_int_equal(died[1] - died[0], fine ? 0 : 2);      /* the message; alone */
		free_together(&t);
	}
}

/* What has no room together is done nevertheless: parts, and answers. */
static void no_room_together(void **state)
{
	static struct together t;
	const char *words[N_TOGETHER][2];
	char *large = malloc((30 << 20) + 1), *thousandth = malloc((30 << 10) + 1);

	(void)state;
	memset(large, 'x', 30 << 20);
	large[30 << 20] = '\0';
	memset(thousandth, 'y', 30 << 10);
	thousandth[30 << 10] = '\0';
	for (int i = 0; i < N_TOGETHER; i++) {
		words[i][0] = i % 3 ? "much" : "echo";
		words[i][1] = i % 3 ? thousandth : i % 6 ? large : "small";
	}
	call_together(&t, words, 90 << 20);
	for (int i = 0; i < N_TOGETHER; i++) {
		assert_int_equal(t.jobs[i].rc, 0);
		assert_int_equal(t.answers[i].size, 1 + (i % 3 ? (size_t)1000 * (30 << 10) : strlen(words[i][1])));
	}
	free_together(&t);
	free(large);
	free(thousandth);
}

/* Ends of children that are ignored are seen nevertheless. */
static void ends_are_seen(void **state)
{
	struct err err;
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(cells_begin(&acts), 0);
	assert_int_equal(ask("socket", "", &b, &err), calls_known() ? E_READER : 0);
	assert_true(!calls_known() || strstr(err.text, "system call"));
	cells_end();
	buf_release(&b);
}

/* Works that belong together are done by one cell; a dead one stays dead. */
static void one_cell(void **state)
{
	struct text count[] = { { "count", 5 }, { "", 0 } }, leave[] = { { "exit", 4 }, { "", 0 } };
	struct cell *c;
	struct text there;
	struct err err;
	char said[3];

	(void)state;
	assert_int_equal(cell_take(&c, 1000, &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cell_ask(c, CELL_PAGE, count, 2, 100, &there, &err), 0);
		assert_int_equal(there.size, 1);
		said[i] = *there.s;
	}
	assert_true(said[1] == said[0] + 1 && said[2] == said[1] + 1);
	assert_int_equal(cell_ask(c, CELL_PAGE, leave, 2, 100, &there, &err), E_READER);
	assert_int_equal(cell_ask(c, CELL_PAGE, count, 2, 100, &there, &err), E_READER);
	cell_give(c);
}

/* Threads read while cells are killed at random: no work is lost that is not done twice in
 * vain. */
static atomic_int lost, done;
static atomic_bool over;
static _Atomic pid_t known[8];

static void *work(void *arg)
{
	size_t me = (size_t)(uintptr_t)arg;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	for (int i = 0; i < 400; i++) {
		struct err err = { 0 };
		char text[32];

		buf_clear(&b);
		if (ask("pid", "", &b, &err) == 0)
			known[me] = atoi(buf_text(&b));
		buf_clear(&b);
		snprintf(text, sizeof text, "%zu-%d", me, i);
		if (ask("echo", text, &b, &err) < 0)
			lost++;
		else if (!strcmp(buf_text(&b), text))
			done++;
	}
	buf_release(&b);
	return NULL;
}

static void *killer(void *arg)
{
	unsigned seed = 1;

	(void)arg;
	while (!over) {
		pid_t pid = known[(size_t)rand_r(&seed) % 8];

		usleep(500);
		/* only what is our child, and not reaped yet */
		if (pid > 0 && waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT | WNOHANG) == 0)
			kill(pid, SIGKILL);
	}
	return NULL;
}

static void killed_at_random(void **state)
{
	pthread_t threads[8], k;
	uint64_t made, died;

	(void)state;
	pthread_create(&k, NULL, killer, NULL);
	for (size_t i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	for (size_t i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	over = true;
	pthread_join(k, NULL);
	cells_count(&made, &died);
	assert_true(died > 20);                 /* it was tried */
	assert_int_equal(done + lost, 8 * 400);
	assert_true(lost < (int)died / 2);      /* killed twice in a row */
}

static void parcels(void **state)
{
	struct parcel p;
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	parcel_put(&b, 7);
	parcel_put_text(&b, (struct text){ "ab", 2 });
	parcel_put_text(&b, (struct text){ 0 });
	parcel_put_text(&b, (struct text){ "", 0 });
	p = (struct parcel){ b.data, b.size, false };
	assert_int_equal(parcel_number(&p), 7);
	assert_memory_equal(parcel_text(&p).s, "ab", 2);
	assert_null(parcel_text(&p).s);
	assert_non_null(parcel_text(&p).s);
	assert_true(!p.bad && p.left == 0);
	assert_int_equal(parcel_number(&p), 0);
	assert_true(p.bad);
	/* every prefix is bad, and nothing behind its end is looked at */
	for (size_t cut = 0; cut < b.size; cut++) {
		char *copy = malloc(cut ? cut : 1);

		memcpy(copy, b.data, cut);
		p = (struct parcel){ copy, cut, false };
		parcel_number(&p);
		for (int i = 0; i < 3; i++) {
			struct text t = parcel_text(&p);

			assert_true(!t.s || (t.s >= copy && t.s + t.size <= copy + cut));
		}
		assert_true(p.bad);
		free(copy);
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parcels),
		cmocka_unit_test_setup_teardown(answers, begin, finish),
		cmocka_unit_test_setup_teardown(deaths, begin, finish),
		cmocka_unit_test(has_nothing),
		cmocka_unit_test(ends_are_seen),
		cmocka_unit_test_setup_teardown(liars, begin, finish),
		cmocka_unit_test_setup_teardown(together, begin, finish),
		cmocka_unit_test_setup_teardown(no_room_together, begin, finish),
		cmocka_unit_test_setup_teardown(one_cell, begin, finish),
		cmocka_unit_test_setup_teardown(killed_at_random, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
