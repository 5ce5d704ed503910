/* SPDX-License-Identifier: Apache-2.0 */
/* export_files.c - an index, archives and a folder for a browser; see export.h. */
#include <errno.h>
#include <stdio.h>
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

static int tell_records(const struct exporting *e, const struct export *x)
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
		       (unsigned long long)x->n_written, e->to,
		       (unsigned long long)x->n_missing, (unsigned long long)x->n_lost);
	}
	return 0;
}

int export_archive(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct export x = { .store = e->store, .folder = e->cli->common.repository,
	                    .report = log_warn_few, .arg = &n_told,
	                    .compress = (enum warc_compress)e->compress };
	uint64_t seed = (uint64_t)e->cli->common.seed ^ (uint64_t)clock_now() << 20;
	char folder[4096];
	int rc = 0;

	/* shards of a fleet: a folder for each, since the names of their files may be equal */
	snprintf(folder, sizeof folder, "%.4000s/shard-%d", e->to, e->cli->shard);
	if (shards_count(e->cli) > 1)
		rc = mkdir(e->to, 0777) && errno != EEXIST ? err_errno(err, E_IO, "%s", e->to) : 0;
	if (rc == 0)
		rc = export_warc(&x, shards_count(e->cli) > 1 ? folder : e->to, seed, err);

	return rc < 0 ? rc : tell_records(e, &x);
}

int export_package(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct export x = { .store = e->store, .folder = e->cli->common.repository,
	                    .report = log_warn_few, .arg = &n_told };
	int64_t now = clock_now();
	int rc = export_wacz(&x, e->to, (uint64_t)e->cli->common.seed ^ (uint64_t)now << 20, now, err);

	return rc < 0 ? rc : tell_records(e, &x);
}

int export_folder(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct mirror m = { .store = e->store, .folder = e->cli->common.repository,
	                    .to = e->to, .report = log_warn_few, .arg = &n_told };
	int rc = mirror_write(&m, err);

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
