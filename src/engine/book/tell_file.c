/* SPDX-License-Identifier: Apache-2.0 */
/* tell_file.c - a file of outcomes, or standard input; see tell.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input.h"
#include "engine/book/tell.h"

#define STDIN_MAX (1u << 30)    /* bytes, held until they are all there */
#define READ_SIZE 65536

static int read_lines(struct tell *t, struct input *in, struct err *err)
{
	struct told told;
	uint64_t n = 0;
	size_t size;
	char *text;
	int rc;

	while ((rc = input_line(in, TELL_LINE_MAX - 1, &text, &size, err)) != 0) {
		const char *why;
		char message[300];

		n++;
		if (rc < 0 && rc != E_LIMIT)
			return rc;
		if (rc >= 0 && !size)
			continue;
		why = rc == E_LIMIT ? "line too long" : tell_parse(&told, &t->text, text, size);
		if (!why && (rc = tell_one(t, &told, &why, err)) < 0)
			return rc;
		if (!why)
			continue;
		t->stats.n_bad++;
		snprintf(message, sizeof message, "%s:%llu: %s", input_name(in),
		         (unsigned long long)n, why);
		if (t->report)
			t->report(t->arg, message);
	}
	return 0;
}

static int tell_lines(struct tell *t, struct input *in, struct err *err)
{
	struct ledger l = { 0 };
	bool any = false;
	int rc = store_begin(t->store, err);

	if (rc < 0)
		return rc;
	buf_init(&t->text, 4 * (size_t)TELL_LINE_MAX);
	if ((rc = ledger_load(&l, t->store, err)) == 0 && (rc = tell_begin(t, &l, err)) == 0 &&
	    (rc = read_lines(t, in, err)) == 0) {
		any = t->stats.n_lines > 0 || t->stats.n_released > 0;
		if (any && (rc = tell_end(t, err)) == 0)
			rc = store_commit(t->store, err);
	}
	if (rc < 0 || !any) {
		store_rollback(t->store);
		t->ended = 0;
	}
	ledger_release(&l);
	tell_release(t);
	return rc;
}

/* A crawler that writes to us while it works may take hours, and the tables must not be
 * locked for so long: what comes is gathered first. */
static int gather(struct input **in, struct buf *all, struct err *err)
{
	long n;

	do {
		char *room = buf_room(all, READ_SIZE);

		if (!room)
			return err_set(err, E_LIMIT, "standard input: more than %u MiB; put it into a "
			               "file", STDIN_MAX >> 20);
		n = input_read(*in, room, READ_SIZE, err);
		if (n > 0)
			all->size += (size_t)n;
	} while (n > 0);
	if (n < 0)
		return (int)n;
	input_close(*in);
	*in = NULL;
	return input_open_memory(in, buf_text(all), all->size, "-", err);
}

int tell_file(struct tell *t, const char *path, struct err *err)
{
	struct input *in;
	struct buf all;
	int lock, rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	buf_init(&all, STDIN_MAX);
	if (!strcmp(path, "-"))
		rc = gather(&in, &all, err);
	if (rc == 0)
		rc = keep_lock_wait(t->store, t->warc_folder, &lock, err);
	if (rc == 0) {
		rc = tell_lines(t, in, err);
		if (lock >= 0)
			close(lock);
	}
	input_close(in);
	buf_release(&all);
	return rc;
}
