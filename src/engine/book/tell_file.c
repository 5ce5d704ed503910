/* SPDX-License-Identifier: Apache-2.0 */
/* tell_file.c - a file of outcomes, or standard input; see tell.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input.h"
#include "base/mem.h"
#include "engine/book/lock.h"
#include "engine/book/tell.h"

#define STDIN_MAX (1u << 30)    /* bytes, held until they are all there */
#define READ_SIZE 65536
#define PART_LINES 500
#define PART_BYTES (4u << 20)

struct line {
	size_t from, size;              /* in the texts */
	const char *wrong;              /* or NULL */
};

/* Lines of a file that are told one after the other, from one read of their pages. */
struct part {
	struct buf texts;
	VEC(struct line) lines;
	uint64_t n_before;              /* lines of the file before the first */
};

/* Read lines until there are enough of them: 1 some, 0 the end. */
static int read_part(struct part *p, struct input *in, struct err *err)
{
	size_t size;
	char *text;
	int rc = 1;

	p->n_before += p->lines.n;
	p->lines.n = 0;
	buf_clear(&p->texts);
	while (p->lines.n < PART_LINES && p->texts.size < PART_BYTES &&
	       (rc = input_line(in, TELL_LINE_MAX - 1, &text, &size, err)) != 0) {
		struct line l = { .from = p->texts.size };

		if (rc < 0 && rc != E_LIMIT)
			return rc;
		if (rc == E_LIMIT)
			l.wrong = "line too long";
		else
			buf_add(&p->texts, text, size);
		l.size = p->texts.size - l.from;
		vec_push(&p->lines, l);
	}
	return p->lines.n != 0;
}

static int foresee_part(struct tell *t, const struct part *p, struct err *err)
{
	struct told told;

	for (size_t i = 0; store_is_far(t->store) && i < p->lines.n; i++) {
		const struct line *l = &p->lines.v[i];

		if (l->size && !tell_parse(&told, &t->text, p->texts.data + l->from, l->size))
			tell_expect(t, &told);
	}
	return tell_foresee(t, err);
}

static int tell_part(struct tell *t, const struct part *p, const char *name, struct err *err)
{
	struct told told;
	int rc = foresee_part(t, p, err);

	for (size_t i = 0; i < p->lines.n && rc == 0; i++) {
		const struct line *l = &p->lines.v[i];
		const char *why = l->wrong;
		unsigned long long number = p->n_before + i + 1;
		char message[300];

		if (!why && !l->size)
			continue;
		why = why ? why : tell_parse(&told, &t->text, p->texts.data + l->from, l->size);
		if (!why && (rc = tell_one(t, &told, &why, err)) < 0)
			return rc;
		if (!why)
			continue;
		t->stats.n_bad++;
		snprintf(message, sizeof message, "%s:%llu: %s", name, number, why);
		if (t->report)
			t->report(t->arg, message);
	}
	return rc;
}

static int read_lines(struct tell *t, struct input *in, struct err *err)
{
	struct part p = { 0 };
	int rc;

	buf_init(&p.texts, BUF_NO_LIMIT);
	while ((rc = read_part(&p, in, err)) > 0 &&
	       (rc = tell_part(t, &p, input_name(in), err)) == 0)
		;
	buf_release(&p.texts);
	vec_release(&p.lines);
	return rc;
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
		any = t->stats.n_lines > 0 || t->stats.n_given_back > 0;
		if (any && (rc = tell_end(t, err)) == 0 && (!t->mark ||
		    (rc = store_state_put(t->store, STORE_OF_SHARD, "inbox", t->mark, err)) == 0))
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
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	buf_init(&all, STDIN_MAX);
	if (!strcmp(path, "-"))
		rc = gather(&in, &all, err);
	if (rc == 0)
		rc = lock_wait(t->store, err);
	if (rc == 0) {
		rc = tell_lines(t, in, err);
		store_unlock(t->store);
	}
	input_close(in);
	buf_release(&all);
	return rc;
}
