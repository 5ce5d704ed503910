/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - handles of the public library, how its calls begin and end, and what puts pages
 * under care; include/freshet.h is its manual. */
#include "engine/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/import/import.h"
#include "repo/place.h"

#define STRUCT_SIZE_MAX 4096    /* bytes: more is no size, but what lay there before */

const char *freshet_version(void)
{
	return FRESHET_VERSION;
}

static int public_code(int code)
{
	switch (code) {
	case E_USAGE:
	case E_GONE: return FRESHET_E_USAGE;
	case E_IO: return FRESHET_E_IO;
	case E_PARSE: return FRESHET_E_PARSE;
	case E_LIMIT: return FRESHET_E_LIMIT;
	case E_NET: return FRESHET_E_NET;
	case E_STORE: return FRESHET_E_STORE;
	case E_BUSY: return FRESHET_E_BUSY;
	case E_STOP: return FRESHET_E_STOP;
	default: return FRESHET_E_FAIL;
	}
}

int api_begin(struct freshet *f, enum api_need need)
{
	if (!f)
		return FRESHET_E_USAGE;
	if (f->busy) {
		/* the call that is under way has its message still to come */
		return FRESHET_E_USAGE;
	}
	f->err = (struct err){ 0 };
	if (need == API_STORE && !f->store)
		return public_code(err_set(&f->err, E_USAGE, "this handle has no repository"));
	f->busy = true;
	f->progress.stopped = false;
	arena_reset(&f->texts);
	return 0;
}

int api_end(struct freshet *f, int rc)
{
	f->busy = false;
	if (f->store)
		store_thaw(f->store);   /* the next call sees what others have written */
	if (rc >= 0) {
		f->err = (struct err){ 0 };
		return rc;
	}
	if (!f->err.text[0])
		snprintf(f->err.text, sizeof f->err.text, "%s", rc == E_STOP ? "stopped" : "failed");
	return public_code(rc);
}

static size_t size_of(const void *s)
{
	size_t size;

	memcpy(&size, s, sizeof size);
	return size;
}

static int check_size(struct freshet *f, const void *s, const char *name)
{
	size_t size = s ? size_of(s) : sizeof size;

	if (size < sizeof size || size > STRUCT_SIZE_MAX)
		return err_set(&f->err, E_USAGE, "%s: its size is not set; write .size = sizeof of it",
		               name);
	return 0;
}

int api_take(struct freshet *f, void *to, size_t size, const void *from, const char *name)
{
	size_t theirs = from ? size_of(from) : 0;
	int rc = check_size(f, from, name);

	if (rc < 0)
		return rc;
	memset(to, 0, size);
	if (from)
		memcpy(to, from, theirs < size ? theirs : size);
	for (size_t i = size; i < theirs; i++)
		if (((const char *)from)[i])
			return err_set(&f->err, E_USAGE, "%s: asks for something that libfreshet %s does "
			               "not know", name, FRESHET_VERSION);
	return 0;
}

int api_check_result(struct freshet *f, const void *to)
{
	return to ? check_size(f, to, "the result") :
	       err_set(&f->err, E_USAGE, "there is no place for the result");
}

int api_give(struct freshet *f, void *to, const void *from, size_t size)
{
	int rc = api_check_result(f, to);
	size_t theirs, n;

	if (rc < 0)
		return rc;
	theirs = size_of(to);
	n = theirs < size ? theirs : size;
	/* what we do not know of it is nothing; its size stays */
	memset((char *)to + sizeof theirs, 0, theirs - sizeof theirs);
	memcpy((char *)to + sizeof theirs, (const char *)from + sizeof theirs, n - sizeof theirs);
	return 0;
}

int64_t api_now(const struct freshet *f, int64_t t)
{
	return t ? t : f->now ? f->now : (int64_t)time(NULL);
}

const char *api_text(struct freshet *f, struct text t)
{
	return t.s ? arena_strndup(&f->texts, t.s, t.size) : NULL;
}

void api_warn(void *arg, const char *text)
{
	struct freshet *f = arg;

	if (f->hooks.warn)
		f->hooks.warn(f->hooks.arg, text);
}

bool api_progress(struct freshet *f, const char *what, uint64_t done, uint64_t total)
{
	return f->hooks.progress && f->hooks.progress(f->hooks.arg, what, done, total);
}

static bool watch(void *f, const char *what, uint64_t done, uint64_t total)
{
	return api_progress(f, what, done, total);
}

struct progress *api_watch(struct freshet *f)
{
	f->progress = (struct progress){ .watch = watch, .arg = f };
	return &f->progress;
}

static int make_folder(const char *path, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s: no folder can be made there", path);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return err_set(err, E_IO, "%s: is a file; name a folder for the repository", path);
	return 0;
}

static int open_folder(struct freshet *f, const char *dir, enum store_mode mode)
{
	char path[PLACE_SIZE];
	int rc = place_find(dir, path, &f->err);

	if (rc < 0)
		return rc;
	strcpy(f->folder, dir);
	snprintf(f->archive, sizeof f->archive, "%.4000s/warc", dir);
	if (mode == STORE_CREATE)
		rc = make_folder(dir, &f->err);
	if (rc == 0)
		rc = store_open(&f->store, path, mode, &f->err);
	if (rc == 0)
		store_caches(f->store, dir);
	if (rc == 0 && mode == STORE_CREATE)
		rc = make_folder(f->archive, &f->err);
	return rc;
}

static int open_handle(struct freshet **ret, const char *dir, enum store_mode mode)
{
	struct freshet *f;

	if (!ret)
		return FRESHET_E_USAGE;
	f = *ret = mem_zalloc(1, sizeof *f);
	return dir ? api_end(f, open_folder(f, dir, mode)) : 0;
}

int freshet_open(struct freshet **ret, const char *dir)
{
	return open_handle(ret, dir, STORE_EXISTING);
}

int freshet_create(struct freshet **ret, const char *dir)
{
	int rc = open_handle(ret, dir, STORE_CREATE);

	if (rc == 0 && !dir)
		rc = api_end(*ret, err_set(&(*ret)->err, E_USAGE, "a repository wants a folder"));
	return rc;
}

void freshet_close(struct freshet *f)
{
	if (!f)
		return;
	api_client_close(f);
	store_close(f->store);
	arena_release(&f->texts);
	free(f);
}

const char *freshet_error(const struct freshet *f)
{
	return f ? f->err.text : "there is no handle";
}

int freshet_listen(struct freshet *f, const struct freshet_hooks *hooks)
{
	struct freshet_hooks h;
	int rc = api_begin(f, API_NOTHING);

	if (rc < 0)
		return rc;
	rc = API_TAKE(f, h, hooks);
	if (rc == 0)
		f->hooks = h;
	return api_end(f, rc);
}

int freshet_clock(struct freshet *f, int64_t now)
{
	int rc = api_begin(f, API_NOTHING);

	if (rc < 0)
		return rc;
	f->now = now;
	return api_end(f, 0);
}

/* 1: new, 0: known. */
static int import_one(struct freshet *f, const char *url, const double *weight)
{
	struct import i = { .store = f->store, .now = api_now(f, 0), .weigh = weight != NULL,
	                    .weight = weight ? *weight : 0, .restore = true };
	struct import_settings *as = NULL;
	int rc = url ? import_settings_load(&as, &i, &f->err) :
	         err_set(&f->err, E_USAGE, "no URL");

	if (rc == 0)
		rc = import_url(&i, url, &f->err);
	import_settings_free(as);
	if (rc >= 0 && i.stats.n_outside)
		return err_set(&f->err, E_USAGE, "%s: the rules of scope (include, exclude) leave it "
		               "out", url);
	return rc < 0 ? rc : i.stats.n_pages > 0;
}

int freshet_add(struct freshet *f, const char *url)
{
	int rc = api_begin(f, API_STORE);

	return rc < 0 ? rc : api_end(f, import_one(f, url, NULL));
}

int freshet_weigh(struct freshet *f, const char *url, double weight)
{
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = import_one(f, url, &weight);
	return api_end(f, rc < 0 ? rc : 0);
}

static bool see_import(void *arg, uint64_t n_done)
{
	return api_progress(arg, "importing", n_done, 0);
}

int freshet_import(struct freshet *f, const char *path)
{
	struct import i = { 0 };
	struct import_settings *as = NULL;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	i = (struct import){ .store = f->store, .folder = f->folder, .now = api_now(f, 0),
	                     .report = api_warn, .progress = see_import, .arg = f };
	i.latest = i.now + IMPORT_FUTURE;
	rc = path ? import_settings_load(&as, &i, &f->err) :
	     err_set(&f->err, E_USAGE, "no file to import");
	if (rc == 0)
		rc = import_file(&i, path, &f->err);
	import_settings_free(as);
	return api_end(f, rc < 0 ? rc : 0);
}
