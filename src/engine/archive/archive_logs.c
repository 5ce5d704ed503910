/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_logs.c - visits that other crawlers have written down, as records; see archive.h and
 * warc/logs/logs.h.  Pages that were never visited go to the reader's page().
 */
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "engine/archive/archive.h"
#include "warc/logs/logs.h"
#include "web/url/url.h"

struct log_reading {
	struct archive_reader *out;
	struct input *in;
	uint64_t line;
	struct buf url;
};

static void report(struct log_reading *d, const char *why)
{
	char text[700];

	d->out->stats.n_bad++;
	snprintf(text, sizeof text, "%.400s:%llu: %.250s", input_name(d->in),
	         (unsigned long long)d->line, why);
	if (d->out->report)
		d->out->report(d->out->arg, text);
}

static int deliver(struct log_reading *d, const struct logs_visit *v, struct err *err)
{
	struct record r = { .time = v->time, .status = v->status, .mime = v->mime,
	                    .digest = v->digest, .length = v->length, .given = v->url,
	                    .facts = { -1, -1, -1, -1, -1, -1 }, .offset = -1, .record_size = -1 };
	struct err why;

	buf_clear(&d->url);
	if (url_canonical(v->url.s, v->url.size, &d->url, &why) < 0) {
		report(d, why.text);
		return 0;
	}
	r.url = (struct text){ d->url.data, d->url.size };
	if (r.digest.size > 5 && !strncasecmp(r.digest.s, "sha1:", 5)) {
		r.digest.s += 5;        /* the bare form is ours */
		r.digest.size -= 5;
	}
	if (v->time != INT64_MIN) {
		d->out->stats.n_records++;
		return d->out->record(d->out->arg, &r, err);
	}
	if (!d->out->page) {
		d->out->stats.n_other++;
		return 0;
	}
	return d->out->page(d->out->arg, &r, err);
}

/* The next line.  1; 0: the end, *ret_size is 0; or error. */
static int next_line(struct log_reading *d, char **ret, size_t *ret_size, struct err *err)
{
	struct err why = { 0 };
	uint64_t lost;
	int rc;

	for (;;) {
		rc = input_line(d->in, LOGS_LINE_MAX, ret, ret_size, &why);
		d->line += rc != 0;
		if (rc == E_PARSE) {
			report(d, why.text);
			rc = input_resync(d->in, &lost, &why);
			if (rc > 0)
				continue;
		} else if (rc == E_LIMIT) {
			report(d, "a line that is too long");
			continue;
		}
		break;
	}
	if (rc == 0)
		*ret_size = 0;
	if (rc < 0 && err)
		*err = why;
	return rc;
}

int archive_read_log(struct archive_reader *a, struct input *in, enum archive_kind kind,
                     struct err *err)
{
	struct log_reading d = { .out = a, .in = in };
	struct logs_nutch nutch = { .status = -1 };
	char *line = NULL;
	size_t size = 0;
	int rc, done = 0;

	buf_init(&d.url, URL_SIZE_MAX);
	do {
		struct logs_visit visit;
		const char *why = "";
		enum logs_verdict verdict;

		rc = next_line(&d, &line, &size, err);
		if (rc < 0)
			break;
		verdict = kind == ARCHIVE_NUTCH ? logs_nutch(&nutch, line, size, &visit, &why) :
		          logs_heritrix(line, size, &visit, &why);
		if (verdict == LOGS_VISIT)
			done = deliver(&d, &visit, err);
		else if (verdict == LOGS_BAD)
			report(&d, why);
		else if (verdict == LOGS_OTHER && size)
			a->stats.n_other++;
	} while (rc > 0 && done >= 0);
	buf_release(&d.url);
	input_close(in);
	return rc < 0 ? rc : done < 0 ? done : 0;
}
