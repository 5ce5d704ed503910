/* SPDX-License-Identifier: Apache-2.0 */
/* live_print.c - lists, JSON and table of a run that looked for life. */
#include "cli/print/live_print.h"

#include "base/io/json.h"
#include "base/when.h"
#include "cli/frame/command.h"
#include "warc/cdx.h"
#include "warc/cdx_sort.h"
#include "web/url/url.h"

struct listing {
	enum live_format format;
	FILE *out;
	struct json j;
	struct cdx_sorter *sorter;
	struct buf surt, line;
};

static struct text to_text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static int add_cdxj(struct listing *l, const char *url, int64_t time, int status,
                    const char *redirect, struct err *err)
{
	struct cdx_line line;
	int rc;

	buf_clear(&l->surt);
	buf_clear(&l->line);
	url_surt(url, strlen(url), &l->surt);
	cdx_clear(&line);
	line.surt = (struct text){ l->surt.data, l->surt.size };
	line.url = to_text(url);
	line.time = time;
	line.status = status;
	if (redirect)
		line.redirect = to_text(redirect);
	rc = cdx_write(&l->line, &line, false, err);
	return rc < 0 ? rc : cdx_sorter_add(l->sorter, l->line.data, l->line.size - 1, err);
}

static int list_one(void *arg, const struct life_found *f, struct err *err)
{
	struct listing *l = arg;
	bool redirected = strcmp(f->url, f->page) != 0;
	char t[21];
	int rc;

	switch (l->format) {
	case LIVE_URLS:
		fprintf(l->out, "%s\n", f->url);
		break;
	case LIVE_JSONL:
		when_iso(f->time, t);
		json_object(&l->j);
		json_kstr(&l->j, "url", f->url);
		if (redirected)
			json_kstr(&l->j, "from", f->page);
		json_kint(&l->j, "status", f->status);
		json_kstr(&l->j, "time", t);
		json_end_object(&l->j);
		json_newline(&l->j);
		break;
	case LIVE_CDXJ:
		rc = add_cdxj(l, f->url, f->time, 200, NULL, err);
		if (rc == 0 && redirected)
			rc = add_cdxj(l, f->page, f->time, f->status, f->url, err);
		return rc;
	}
	return 0;
}

static int emit(void *arg, const char *line, size_t size, struct err *err)
{
	struct listing *l = arg;

	(void)err;
	fwrite(line, 1, size, l->out);
	putc('\n', l->out);             /* errors are found when the output is closed */
	return 0;
}

int live_print_list(struct store *s, uint32_t cycle, enum live_format format,
                    const char *folder, FILE *out, struct err *err)
{
	struct listing l = { .format = format, .out = out };
	int rc;

	buf_init(&l.surt, BUF_NO_LIMIT);
	buf_init(&l.line, BUF_NO_LIMIT);
	json_to_file(&l.j, out);
	if (format == LIVE_CDXJ)
		l.sorter = cdx_sorter_new(CDX_SORT_MEMORY, folder);
	rc = life_list(s, cycle, list_one, &l, err);
	if (rc == 0 && l.sorter)
		rc = cdx_sorter_finish(l.sorter, emit, &l, err);
	cdx_sorter_free(l.sorter);
	buf_release(&l.surt);
	buf_release(&l.line);
	return rc;
}

static double cost(const struct crawl_report *r)
{
	return r->life.alive ? (double)life_requests(&r->life, r->cycle.downloads) /
		(double)r->life.alive : 0;
}

static uint64_t dead(const struct life_report *l)
{
	return l->tested - l->classes[LIVENESS_REAL_200] - l->redirects_alive;
}

void live_print_json(struct json *j, const struct crawl_report *r, const struct life_opts *o)
{
	const struct life_report *l = &r->life;

	cli_json_schema(j, "live");
	json_kint(j, "requests", (int64_t)life_requests(l, r->cycle.downloads));
	json_kint(j, "alive", (int64_t)l->alive);
	json_kint(j, "dead", (int64_t)dead(l));
	json_kint(j, "soft_404", (int64_t)l->soft_404);
	json_key(j, "estimated_alive");
	if (l->estimated || l->ended) {         /* all pages were tested: the number is known */
		json_array(j);
		json_int(j, (int64_t)l->low);
		json_int(j, (int64_t)l->estimate);
		json_int(j, (int64_t)l->high);
		json_end_array(j);
	} else {
		json_null(j);
	}
	json_knum(j, "cost", cost(r));
	json_knum(j, "target", o->target);
	json_kbool(j, "reached", l->reached);
	json_kstr(j, "policy", r->policy);
	if (*r->explain)
		json_kstr(j, "explain", r->explain);
	json_kint(j, "pages", (int64_t)(l->pages));
	json_kint(j, "tested", (int64_t)l->tested);
	json_kint(j, "hits", (int64_t)l->hits);
	json_kint(j, "blocked", (int64_t)l->blocked);
	json_key(j, "statuses");
	json_object(j);
	for (int i = 0; i < LIVENESS_CLASSES; i++)
		json_kint(j, liveness_name((enum liveness_class)i), (int64_t)l->classes[i]);
	json_end_object(j);
	json_kint(j, "redirects_alive", (int64_t)l->redirects_alive);
	json_kint(j, "redirect_targets", (int64_t)l->targets);
	json_key(j, "sample");
	json_object(j);
	json_kint(j, "tested", (int64_t)l->sample);
	json_kint(j, "hits", (int64_t)l->sample_hits);
	json_end_object(j);
	json_kint(j, "page_requests", r->cycle.downloads);
	json_kint(j, "probes", (int64_t)l->probes);
	json_kint(j, "robots_requests", (int64_t)l->robots);
	json_kbool(j, "complete", !r->stopped);
	json_kbool(j, "resumed", r->resumed);
	json_knum(j, "seconds", r->cycle.seconds_total);
	cli_json_end(j);
}

static void row(struct table *t, const char *name, uint64_t n, uint64_t all)
{
	table_cell(t, "%s", name);
	table_cell(t, "%llu", (unsigned long long)n);
	table_cell(t, "%.2f %%", all ? 100.0 * (double)n / (double)all : 0.0);
}

void live_print_table(const struct crawl_report *r, const struct life_opts *o, FILE *out)
{
	static const char *const heads[] = { "<status", "pages", "share" };
	const struct life_report *l = &r->life;
	struct table *t = table_new(heads, 3);

	for (int i = 0; i < LIVENESS_CLASSES; i++)
		row(t, liveness_name((enum liveness_class)i), l->classes[i], l->tested);
	row(t, "tested", l->tested, l->tested);
	table_print(t, out);
	table_free(t);
	fprintf(out, "\nalive         %llu (%llu by redirects, to %llu places)\n",
	        (unsigned long long)l->alive, (unsigned long long)l->redirects_alive,
	        (unsigned long long)l->targets);
	if (l->estimated)
		fprintf(out, "living pages  about %llu of %llu, %llu to %llu with 95 %% confidence "
		        "(%llu of %llu in the sample)\n", (unsigned long long)l->estimate,
		        (unsigned long long)l->pages, (unsigned long long)l->low,
		        (unsigned long long)l->high, (unsigned long long)l->sample_hits,
		        (unsigned long long)l->sample);
	fprintf(out, "requests      %llu: %u for pages, %llu for siblings, %llu for robots.txt\n",
	        (unsigned long long)life_requests(l, r->cycle.downloads), r->cycle.downloads,
	        (unsigned long long)l->probes, (unsigned long long)l->robots);
	if (l->alive)
		fprintf(out, "cost          %.3f requests, %.3f pages tested for each living one\n",
		        cost(r), (double)l->tested / (double)l->alive);
	else
		fprintf(out, "cost          -, no page that lives was found\n");
	if (l->blocked)
		fprintf(out, "not asked     %llu, forbidden by robots.txt or the gate\n",
		        (unsigned long long)l->blocked);
	if (o->sample_only)
		fprintf(out, "target        none: only the sample was to be tested\n");
	else if (o->target > 0 && !r->stopped)
		fprintf(out, "target        %.4g: %s\n", o->target, l->reached ? "reached" :
		        l->ended ? "every page was tested" : "not reached within the budget");
}
