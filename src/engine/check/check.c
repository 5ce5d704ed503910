/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the whole of a check, what it finds, and what it sets aside; see check.h. */
#include "engine/check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"

const char *check_kind_name(enum check_kind k)
{
	static const char *const names[] = {
		[CHECK_TABLE] = "table", [CHECK_REFERENCE] = "reference", [CHECK_MISSING] = "missing",
		[CHECK_RECORD] = "record", [CHECK_ORPHAN] = "orphan", [CHECK_JOURNAL] = "journal",
		[CHECK_CACHE] = "cache", [CHECK_LEFTOVER] = "leftover",
	};

	return names[k];
}

const char *check_state_name(enum check_state s)
{
	static const char *const names[] = { "note", "wrong", "mended" };

	return names[s];
}

uint64_t check_count(const struct check *c, enum check_state s)
{
	uint64_t n = 0;

	for (int k = 0; k < N_CHECK_KINDS; k++)
		n += c->n[k][s];
	return n;
}

void check_found(struct check *c, enum check_kind k, enum check_state s, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->n[k][s]++;
	progress_clear(&c->progress);
	c->found(c->arg, k, s, log_plain(text));
}

static int aside_failed(const struct check *c, struct err *err)
{
	return err_errno(err, E_IO, "%s/" CHECK_ASIDE ": cannot write, so nothing was changed",
	                 c->folder);
}

int check_aside(struct check *c, const char *json, struct err *err)
{
	struct buf line;
	size_t done = 0;
	int rc = 0;

	if (c->aside < 0) {
		char path[4200];

		snprintf(path, sizeof path, "%.4000s/" CHECK_ASIDE, c->folder);
		c->aside = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (c->aside < 0)
			return aside_failed(c, err);
	}
	buf_init(&line, BUF_NO_LIMIT);
	buf_printf(&line, "{\"time\":%lld,\"was\":%s}\n", (long long)c->now, json);
	while (done < line.size && rc == 0) {
		ssize_t n = write(c->aside, line.data + done, line.size - done);

		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			rc = aside_failed(c, err);
	}
	buf_release(&line);
	return rc;
}

int check_aside_sync(struct check *c, struct err *err)
{
	return c->aside >= 0 && fsync(c->aside) ? aside_failed(c, err) : 0;
}

int check_look_again(struct check *c, struct store **ret, struct err *err)
{
	int rc = 0;

	if (c->repair)                  /* nobody else is at it */
		c->fresh = NULL;
	else if (!c->fresh)
		rc = c->look_again(c->arg, &c->fresh, err);
	*ret = c->fresh ? c->fresh : c->store;
	return rc;
}

int check_run(struct check *c, struct err *err)
{
	int rc;

	c->aside = -1;
	rc = check_tables(c, err);
	if (rc == 0)
		rc = check_files(c, err);
	if (rc == 0)
		rc = check_folder(c, err);
	progress_end(&c->progress);
	if (c->aside >= 0 && close(c->aside) && rc == 0)
		rc = aside_failed(c, err);
	c->aside = -1;
	return rc;
}

void check_release(struct check *c)
{
	store_close(c->fresh);
	vec_release(&c->captures);
	strtab_release(&c->names);
}
