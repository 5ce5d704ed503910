/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - one new archive file out of old ones, safe at every step; see rewrite.h. */
#include "engine/prune/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "engine/archive/content.h"
#include "warc/warc_write.h"

#define STATE_KEY REWRITE_STATE
#define ROUNDS_MAX 100000u      /* how often a file is written anew */
#define AT_ONCE 1000            /* captures read back, or moved, in one call */

/* How a name ends: ".warc.gz", ".warc.zst" or "". */
static const char *end_of(const char *name, size_t size)
{
	for (int how = WARC_GZIP; how <= WARC_ZSTD; how++) {
		const char *end = warc_compress_end((enum warc_compress)how);
		size_t n = strlen(end);

		if (size > n && !memcmp(name + size - n, end, n))
			return end;
	}
	return "";
}

/* "freshet-" 14 digits "-" digits "-" host ".warc.gz", or .zst */
bool rewrite_is_ours(const char *name, size_t size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t digits, at = 23;

	if (size >= REWRITE_NAME - 20 || size < 32 || memcmp(name, "freshet-", 8) ||
	    !*end_of(name, size))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!name[i] || !strchr(letters, name[i]))
			return false;
	for (size_t i = 8; i < 22; i++)
		if (name[i] < '0' || name[i] > '9')
			return false;
	digits = strspn(name + at, "0123456789");
	return name[22] == '-' && digits > 0 && name[at + digits] == '-';
}

bool rewrite_is_own(struct text worker, struct text name, struct text *ret)
{
	if (worker.s || !name.s)
		return false;
	if (name.size > 5 && !memcmp(name.s, "warc/", 5)) {     /* imported where it lies */
		name.s += 5;
		name.size -= 5;
	}
	if (ret)
		*ret = name;
	return rewrite_is_ours(name.s, name.size);
}

bool rewrite_is_workers(struct text worker, struct text name)
{
	static const char shard[] = "/shard-";
	size_t n = sizeof shard - 1, digits;

	if (!worker.s || !worker.size || *worker.s == '.' || memchr(worker.s, '/', worker.size) ||
	    name.size <= worker.size + n || memcmp(name.s, worker.s, worker.size) ||
	    memcmp(name.s + worker.size, shard, n))
		return false;
	name.s += worker.size + n;
	name.size -= worker.size + n;
	for (digits = 0; digits < name.size && name.s[digits] >= '0' && name.s[digits] <= '9'; )
		digits++;
	return digits && digits < 6 && digits < name.size && name.s[digits] == '/' &&
	       rewrite_is_ours(name.s + digits + 1, name.size - digits - 1);
}

static void open_name(const char *name, char ret[REWRITE_NAME + 8])
{
	snprintf(ret, REWRITE_NAME + 8, "%s" WARC_OPEN_END, name);
}

static void step(const struct rewrite *w, const char *what)
{
	if (w->p->step)
		w->p->step(w->p->arg, what);
}

/* A failed write; the disk may be full. */
static int cannot(struct rewrite *w, const char *what, struct err *err)
{
	w->p->no_room |= errno == ENOSPC || errno == EDQUOT;
	return err_errno(err, E_IO, "%s/warc/%s: cannot %s", w->p->folder, w->row, what);
}

static bool is_there(int folder_fd, const char *name)
{
	return faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The name of the old file with "-r1" before its end, or the next number that is free. */
static int choose_name(struct rewrite *w, const char *old, struct err *err)
{
	const char *end = end_of(old, strlen(old));
	size_t stem = strlen(old) - strlen(end), digits = stem;

	while (digits && old[digits - 1] >= '0' && old[digits - 1] <= '9')
		digits--;
	if (digits > 2 && digits < stem && old[digits - 1] == 'r' && old[digits - 2] == '-')
		stem = digits - 2;
	for (unsigned i = 1; i < ROUNDS_MAX; i++) {
		char open[REWRITE_NAME + 8];

		snprintf(w->name, sizeof w->name, "%.*s-r%u%s", (int)stem, old, i, end);
		if (!rewrite_is_ours(w->name, strlen(w->name)))
			break;          /* it is too long: nobody would know it as ours */
		open_name(w->name, open);
		if (!is_there(w->folder_fd, w->name) && !is_there(w->folder_fd, open))
			return 0;
	}
	return err_set(err, E_IO, "%s/warc/%s: no name is free beside it", w->p->folder, old);
}

/* A new file says what it is. */
static int write_info(struct rewrite *w, const char *old, struct err *err)
{
	struct warc_out info = { .type = "warcinfo", .time = w->p->now, .filename = w->name,
	                         .content_type = "application/warc-fields" };
	const int64_t from[] = { w->p->now, getpid() };
	struct warc_ids ids = { .seed = hash_bytes(w->name, strlen(w->name),
	                                           hash_bytes(from, sizeof from, 0)) };
	struct warc_packing how = { .compress = strcmp(end_of(old, strlen(old)),
		warc_compress_end(WARC_ZSTD)) ? WARC_GZIP : WARC_ZSTD };
	struct warc_packer *packer = warc_packer_new(how);
	struct warc_packed packed;
	struct buf text;
	int rc;

	warc_packed_init(&packed);
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "software: freshet/" FRESHET_VERSION "\r\n"
	           "format: WARC File Format 1.1\r\n"
	           "description: records of %s and of files after it, taken over as they were\r\n",
	           old);
	info.block = text.data;
	info.block_size = text.size;
	rc = warc_pack_record(packer, &info, ids, &packed, err);
	if (rc == 0)
		rc = rewrite_copy(w, packed.members.data, packed.members.size, err);
	warc_packed_release(&packed);
	warc_packer_free(packer);
	buf_release(&text);
	return rc;
}

int rewrite_begin(struct rewrite *w, struct prune *p, int folder_fd, const char *old,
                  struct text front, struct err *err)
{
	char open[REWRITE_NAME + 8];
	int rc;

	*w = (struct rewrite){ .p = p, .folder_fd = folder_fd, .fd = -1 };
	rc = choose_name(w, old, err);
	if (p->worker)
		snprintf(w->row, sizeof w->row, "%.64s/shard-%d/%s", p->worker, p->shard, w->name);
	else
		snprintf(w->row, sizeof w->row, "%s", w->name);
	step(w, "name the new file");
	if (rc == 0)
		rc = store_state_put(p->store, STORE_OF_WORKER, STATE_KEY, w->name, err);
	if (rc == 0)
		rc = store_sync(p->store, err);
	if (rc < 0) {
		w->name[0] = '\0';
		return rc;
	}
	step(w, "create the new file");
	open_name(w->name, open);
	w->fd = openat(folder_fd, open, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	               0666);
	if (w->fd < 0)
		return cannot(w, "create", err);
	rc = rewrite_copy(w, front.s, front.size, err);
	return rc < 0 ? rc : write_info(w, old, err);
}

int rewrite_copy(struct rewrite *w, const char *data, size_t size, struct err *err)
{
	while (size) {
		ssize_t n = write(w->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cannot(w, "write", err);
		data += n;
		size -= (size_t)n;
		w->size += (uint64_t)n;
	}
	return 0;
}

/* ---- reading back ---- */

struct reading {
	struct rewrite *w;
	struct content content;
	size_t next;                    /* in w->moved */
};

static int read_back(void *arg, const struct store_capture *c, struct err *err)
{
	struct reading *r = arg;
	struct rewrite *w = r->w;
	struct store_capture now = *c;
	struct store_page page;
	int rc;

	while (r->next < w->moved.n && w->moved.v[r->next].capture != c->id)
		r->next++;
	if (r->next == w->moved.n)
		return err_set(err, E_STORE, "capture %llu: the store gives another order than it "
		               "was asked for", (unsigned long long)c->id);
	rc = store_page_get(w->p->store, c->page, &page, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a capture of page %u, which is not there",
		                             c->page);
	now.file = w->moved.v[r->next].file;
	now.offset = w->moved.v[r->next].offset;
	now.size = w->moved.v[r->next].size;
	rc = content_load(&r->content, &now, page.url, err);
	r->next++;
	return rc;
}

/* Each record must be the one that its capture says. */
static int check_records(struct rewrite *w, struct err *err)
{
	struct reading r = { .w = w };
	uint64_t ids[AT_ONCE];
	int rc = 0;

	content_init(&r.content, w->p->folder, 0);
	for (size_t from = 0; from < w->moved.n && rc == 0; from += AT_ONCE) {
		size_t n = w->moved.n - from < AT_ONCE ? w->moved.n - from : AT_ONCE;

		for (size_t i = 0; i < n; i++)
			ids[i] = w->moved.v[from + i].capture;
		rc = store_captures_get(w->p->store, ids, n, read_back, &r, err);
	}
	content_release(&r.content);
	return rc;
}

static int name_it(struct rewrite *w, struct err *err)
{
	struct store *s = w->p->store;
	int rc = store_begin(s, err);

	if (rc == 0)
		rc = store_captures_move(s, w->moved.v, w->moved.n, err);
	if (rc == 0)
		rc = store_state_put(s, STORE_OF_WORKER, STATE_KEY, NULL, err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	return rc < 0 ? rc : store_sync(s, err);
}

int rewrite_end(struct rewrite *w, struct err *err)
{
	char open[REWRITE_NAME + 8];
	int rc, closed;

	open_name(w->name, open);
	for (size_t i = 0; i < w->moved.n; i++) {
		w->moved.v[i].file = (struct text){ w->row, strlen(w->row) };
		if (w->p->worker)
			w->moved.v[i].worker = (struct text){ w->p->worker, strlen(w->p->worker) };
	}
	step(w, "sync the new file");
	rc = fsync(w->fd) ? cannot(w, "write", err) : 0;
	closed = close(w->fd);
	w->fd = -1;
	if (rc == 0 && closed)
		rc = cannot(w, "write", err);
	step(w, "rename the new file");
	if (rc == 0 && (renameat(w->folder_fd, open, w->folder_fd, w->name) ||
	                fsync(w->folder_fd)))
		rc = cannot(w, "complete", err);
	step(w, "read the new file back");
	if (rc == 0)
		rc = check_records(w, err);
	step(w, "have the tables name the new file");
	if (rc == 0)
		rc = name_it(w, err);
	if (rc == 0) {
		vec_release(&w->moved);
		step(w, "the tables name the new file");
	}
	return rc;
}

static void delete_new(int folder_fd, const char *name)
{
	char open[REWRITE_NAME + 8];

	open_name(name, open);
	(void)unlinkat(folder_fd, open, 0);
	(void)unlinkat(folder_fd, name, 0);
}

void rewrite_abandon(struct rewrite *w)
{
	char *state = NULL;

	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	/* the tables decide: a commit may have been made although its answer was lost */
	if (*w->name && store_state_get(w->p->store, STORE_OF_WORKER, STATE_KEY, &state,
	                                NULL) > 0 && !strcmp(state, w->name)) {
		delete_new(w->folder_fd, w->name);
		(void)!store_state_put(w->p->store, STORE_OF_WORKER, STATE_KEY, NULL, NULL);
	}
	free(state);
	vec_release(&w->moved);
}

int rewrite_repair(struct store *s, const char *warc_folder, struct err *err)
{
	char *name = NULL, shown[200];
	int fd, rc = store_state_get(s, STORE_OF_WORKER, STATE_KEY, &name, err);

	if (rc <= 0)
		return rc;
	rc = 0;
	fd = open(warc_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!rewrite_is_ours(name, strlen(name)))
		rc = err_set(err, E_STORE, "settings, the state of this worker, " STATE_KEY ": '%s' is "
		             "no name of an archive file; remove the row if you made it",
		             log_quote(name, strlen(name), shown, sizeof shown));
	else if (fd < 0)
		rc = err_errno(err, E_IO, "%s", warc_folder);
	else
		delete_new(fd, name);
	if (fd >= 0)
		close(fd);
	free(name);
	return rc < 0 ? rc : store_state_put(s, STORE_OF_WORKER, STATE_KEY, NULL, err);
}
