/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - histories from archives; see trace.h. */
#include "engine/trace.h"

#include <sys/stat.h>

#include "engine/archive.h"

struct loader {
	struct history *h;
	struct trace_report *report;
};

static int add_record(void *arg, const struct record *r, struct err *err)
{
	struct loader *l = arg;

	return history_add(l->h, r, err);
}

static void report_bad(void *arg, const char *text)
{
	struct loader *l = arg;

	if (l->report->report)
		l->report->report(l->report->arg, text);
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

int trace_load(struct history *h, const char *const *paths, size_t n,
               struct trace_report *report, struct err *err)
{
	struct loader l = { h, report };
	struct archive_reader reader = { .record = add_record, .report = report_bad, .arg = &l,
	                                 .detector = &h->detect };
	uint64_t done = 0, total = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		total += file_size(paths[i]);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = archive_read(&reader, paths[i], err);
		done += file_size(paths[i]);
		if (report->progress)
			report->progress(report->arg, done, total);
	}
	report->n_records = reader.stats.n_records;
	report->n_bad = reader.stats.n_bad;
	if (rc < 0)
		return rc;
	return history_finish(h, err);
}
