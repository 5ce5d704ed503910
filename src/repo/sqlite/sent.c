/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sent.c - the journal of requests, a file beside the database.
 *
 * A request must be recorded before it is sent, while a batch of answers is open.  To
 * commit that batch for each request would sync the archive each time.  So a group of
 * requests is one write() to the end of PATH-sent, one line each: CYCLE PLACE PAGE REASON
 * READ (README.md explains the fields).  The lines survive any end of the program.  After
 * a crash of the machine lines may be lost, as the last batches may be.  The
 * file is deleted when no request is under way.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo/sqlite/store_sqlite.h"

#define LINE_MAX_SIZE 64        /* bytes; five numbers of 32 bits are shorter */

static void sent_path(const struct store_sqlite *s, char out[sizeof s->path + 8])
{
	snprintf(out, sizeof s->path + 8, "%s-sent", s->path);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0)
			data += n, size -= (size_t)n;
	}
	return 0;
}

int sqlite_sent_start(struct store *base, const struct store_sent *sent, size_t n,
                      struct err *err)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 8];
	struct buf lines;
	int rc = 0;

	sent_path(s, path);
	if (s->sent < 0)
		s->sent = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (s->sent < 0)
		return err_errno(err, E_IO, "%s", path);
	buf_init(&lines, BUF_NO_LIMIT);
	for (size_t i = 0; i < n; i++)
		buf_printf(&lines, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %u %u\n", sent[i].cycle,
		           sent[i].place, sent[i].page, sent[i].reason, sent[i].read);
	if (write_all(s->sent, lines.data, lines.size))
		rc = err_errno(err, E_IO, "%s", path);
	buf_release(&lines);
	return rc;
}

/* The next line, without what a power failure took away: that reads as zeros, and what was
 * before them in the line is unfinished.  False: there is no whole line any more. */
static bool whole_line(FILE *in, char line[LINE_MAX_SIZE])
{
	size_t n = 0;
	int c;

	while ((c = getc(in)) != EOF) {
		if (c == 0)
			n = 0;
		else if (n < LINE_MAX_SIZE - 1)
			line[n++] = (char)c;
		if (c == '\n' || n == LINE_MAX_SIZE - 1)
			break;
	}
	line[n] = '\0';
	return c != EOF;
}

/* 1: a valid line; 0: the end, or an unfinished last line; negative: the file is damaged.
 * */
static int read_line(FILE *in, const char *path, struct store_sent *ret, struct err *err)
{
	char line[LINE_MAX_SIZE];
	unsigned reason, read;
	int end = 0;

	if (!whole_line(in, line))
		return 0;
	if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %u %u%n", &ret->cycle, &ret->place,
	           &ret->page, &reason, &read, &end) != 5 || line[end] != '\n' ||
	    reason > UINT8_MAX || read > 1)
		return err_set(err, E_STORE, "%s: damaged; without it, pages that were under way "
		               "when the last cycle broke off are asked for again", path);
	ret->reason = (uint8_t)reason;
	ret->read = read != 0;
	return 1;
}

int sqlite_sent(struct store *base, store_sent_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 8];
	struct store_sent sent;
	struct stat st;
	FILE *in;
	int fd, rc;

	sent_path(s, path);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(err, E_IO, "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !(in = fdopen(fd, "r"))) {
		close(fd);
		return err_set(err, E_STORE, "%s: not a file", path);
	}
	while ((rc = read_line(in, path, &sent, err)) > 0)
		if ((rc = each(arg, &sent, err)))
			break;
	fclose(in);
	return rc;
}

int sqlite_sent_clear(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 8];

	sent_path(s, path);
	if (s->sent >= 0)
		close(s->sent);
	s->sent = -1;
	return unlink(path) && errno != ENOENT ? err_errno(err, E_IO, "%s", path) : 0;
}
