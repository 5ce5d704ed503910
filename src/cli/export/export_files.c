/* SPDX-License-Identifier: Apache-2.0 */
/* export_files.c - an index, archives and a folder for a browser; see export.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "cli/export/export.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/export/export.h"
#include "engine/mirror/mirror.h"

/* Is the file there, and not an older state of this list? */
static bool is_other_list(const char *path, const struct buf *words)
{
	FILE *f = fopen(path, "re");
	bool other = false;
	size_t at = 0, n;
	char piece[4096];

	if (!f)
		return false;
	while (!other && (n = fread(piece, 1, sizeof piece, f)) > 0) {
		other = at + n > words->size || memcmp(words->data + at, piece, n);
		at += n;
	}
	fclose(f);
	return other;
}

/* The numbers of `terms` need their list: words.txt beside the trace. */
static int write_words(struct exporting *e, struct err *err)
{
	const char *to = e->to, *slash = strrchr(to, '/');
	struct output *out;
	struct buf words;
	char path[4096];
	int rc;

	buf_init(&words, BUF_NO_LIMIT);
	snprintf(path, sizeof path, "%.*swords.txt", slash ? (int)(slash - to + 1) : 0, to);
	rc = export_words(e->store, &words, err);
	if (rc == 0 && words.size && is_other_list(path, &words))
		rc = err_set(err, E_USAGE, "%s belongs to another trace: write to another folder",
		             path);
	if (rc == 0 && words.size && (rc = output_open(&out, path, err)) == 0) {
		fwrite(words.data, 1, words.size, output_file(out));
		rc = output_close(out, err);
	}
	buf_release(&words);
	return rc;
}

int export_index(struct exporting *e, struct err *err)
{
	struct export x = { .store = e->store, .folder = e->cli->common.repository };
	int rc = 0;

	if (e->extended && e->to && strcmp(e->to, "-"))
		rc = write_words(e, err);
	if (rc == 0)
		rc = export_cdxj(&x, e->extended, e->out, err);
	e->n_written += x.n_written;
	return rc;
}

static int tell_records(const struct exporting *e, const struct export *x, const char *to)
{
	if (e->cli->common.json) {
		struct json j;

		cli_json_begin(&j, "export");
		json_kint(&j, "written", (int64_t)x->n_written);
		json_kint(&j, "without_content", (int64_t)x->n_missing);
		json_kint(&j, "lost", (int64_t)x->n_lost);
		cli_json_end(&j);
	} else {
		printf("%llu records written to %s; %llu captures without content; %llu lost\n",
		       (unsigned long long)x->n_written, to,
		       (unsigned long long)x->n_missing, (unsigned long long)x->n_lost);
	}
	return 0;
}

/* Where a shard of a fleet goes: a folder for each, since the names of their files may be
 * equal. */
static int folder_of(const struct exporting *e, char ret[4096], struct err *err)
{
	bool all = shards_count(e->cli) > 1 && e->cli->common.shard < 0;

	snprintf(ret, 4096, all ? "%.4000s/shard-%d" : "%.4000s", e->to, e->cli->shard);
	return all && mkdir(e->to, 0777) && errno != EEXIST ? err_errno(err, E_IO, "%s", e->to) : 0;
}

int export_archive(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct export x = { .store = e->store, .folder = e->cli->common.repository,
	                    .report = log_warn_few, .arg = &n_told,
	                    .compress = (enum warc_compress)e->compress };
	uint64_t seed = (uint64_t)e->cli->common.seed ^ (uint64_t)clock_now() << 20;
	char folder[4096];
	int rc = folder_of(e, folder, err);

	if (rc == 0)
		rc = export_warc(&x, folder, seed, err);
	return rc < 0 ? rc : tell_records(e, &x, folder);
}

int export_package(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct export x = { .store = e->store, .folder = e->cli->common.repository,
	                    .report = log_warn_few, .arg = &n_told };
	int64_t now = clock_now();
	struct buf to;
	int rc;

	buf_init(&to, BUF_NO_LIMIT);
	shards_file(e->cli, e->to, &to);
	rc = export_wacz(&x, buf_text(&to), (uint64_t)e->cli->common.seed ^ (uint64_t)now << 20, now,
	                 err);
	if (rc == 0) {
		rc = tell_records(e, &x, buf_text(&to));
	} else if (rc == E_USAGE && strcmp(buf_text(&to), e->to)) {
		log_info("shard %d: %s", e->cli->shard, err->text);     /* the others go on */
		rc = 0;
	}
	buf_release(&to);
	return rc;
}

int export_folder(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	char folder[4096];
	struct mirror m = { .store = e->store, .folder = e->cli->common.repository,
	                    .to = folder, .report = log_warn_few, .arg = &n_told };
	int rc = folder_of(e, folder, err);

	if (rc == 0)
		rc = mirror_write(&m, err);
	if (rc < 0)
		return rc;
	if (e->cli->common.json) {
		struct json j;

		cli_json_begin(&j, "export");
		json_kint(&j, "written", (int64_t)m.n_written);
		json_kint(&j, "same", (int64_t)m.n_same);
		json_kint(&j, "without_content", (int64_t)m.n_missing);
		json_kint(&j, "lost", (int64_t)m.n_lost);
		cli_json_end(&j);
	} else {
		printf("%llu files written to %s, %llu as they were; %llu pages without content; "
		       "%llu lost\n", (unsigned long long)m.n_written, m.to,
		       (unsigned long long)m.n_same, (unsigned long long)m.n_missing,
		       (unsigned long long)m.n_lost);
	}
	return 0;
}
