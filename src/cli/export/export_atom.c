/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_atom.c - the newest changes as an Atom feed (RFC 4287); see export.h.
 *
 * An entry's id is the page's URL with the time of the change as its fragment, so each
 * change is an entry of its own and is the same entry in the next feed.  The feed has the name of
 * the repository's folder; its id is made of the path, which readers do not get to see.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/when.h"
#include "cli/export/changes.h"
#include "cli/export/export.h"
#include "cli/frame/repository.h"
#include "engine/changes/change_lines.h"

#define LINES 6                         /* of a difference, in an entry */
#define SUMMARY_MAX 4096

/* Text of XML: only characters that XML 1.0 allows, and none that means something. */
static void print_xml(FILE *out, const char *s, size_t size)
{
	char *plain = mem_strndup(s, size);

	log_plain(plain);
	for (const char *p = plain; *p; p++) {
		/* U+FFFE and U+FFFF are characters of no XML */
		if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			putc('?', out);
			p += 2;
			continue;
		}
		switch (*p) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: putc(*p, out);
		}
	}
	free(plain);
}

static void print_element(FILE *out, const char *name, const char *attributes,
                          const char *text, size_t size)
{
	fprintf(out, "<%s%s>", name, attributes);
	print_xml(out, text, size);
	fprintf(out, "</%s>\n", name);
}

static int by_time(const void *pa, const void *pb)
{
	const struct store_visit *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

static int print_entry(struct exporting *e, FILE *out, struct change_lines *lines,
                       const struct store_visit *v, struct err *err)
{
	struct store_capture c = { 0 };
	struct store_page page;
	struct buf summary;
	char time[21], *url;
	int rc = store_page_get(e->store, v->page, &page, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a visit of page %u, which is not there",
		                             v->page);
	url = mem_strndup(page.url.s, page.url.size);
	rc = v->capture ? store_capture_get(e->store, v->capture, &c, err) : 0;
	when_iso(v->time, time);
	fputs("<entry>\n<title>", out);
	if (rc > 0 && c.title.size)
		print_xml(out, c.title.s, c.title.size);
	else
		print_xml(out, url, strlen(url));
	fputs("</title>\n<id>", out);
	print_xml(out, url, strlen(url));
	fprintf(out, "#%s</id>\n<link rel=\"alternate\" href=\"", time);
	print_xml(out, url, strlen(url));
	fprintf(out, "\"/>\n<updated>%s</updated>\n<category term=\"%s\"/>\n", time,
	        change_name(v));
	buf_init(&summary, SUMMARY_MAX);
	buf_printf(&summary, "%s\n", change_name(v));
	if (rc >= 0)
		rc = change_lines_add(lines, url, v->page, v->capture, LINES, &summary, err);
	print_element(out, "summary", " type=\"text\"", buf_text(&summary), summary.size);
	fputs("</entry>\n", out);
	buf_release(&summary);
	free(url);
	return rc < 0 ? rc : 0;
}

/* ---- entries, of one store or shard after shard ---- */

struct atom_entry { int64_t time; char *text; };
struct atom { VEC(struct atom_entry) entries; };        /* the newest first */

static int newest_first(const void *pa, const void *pb)
{
	const struct atom_entry *a = pa, *b = pb;

	return a->time != b->time ? (a->time > b->time ? -1 : 1) : strcmp(a->text, b->text);
}

static int add_entry(struct exporting *e, struct change_lines *lines, const struct store_visit *v,
                     struct err *err)
{
	struct atom_entry entry = { .time = v->time };
	size_t size = 0;
	FILE *out = open_memstream(&entry.text, &size);
	int rc = out ? print_entry(e, out, lines, v, err) : err_errno(err, E_FAIL, "no memory");

	if (out && fclose(out) && rc == 0)
		rc = err_errno(err, E_FAIL, "no memory");
	if (rc == 0)
		vec_push(&e->atom->entries, entry);
	else
		free(entry.text);
	return rc;
}

int export_atom(struct exporting *e, struct err *err)
{
	struct changes c = { 0 };
	struct change_lines lines;
	int rc = changes_load(&c, e->store, e->since, e->from, e->to_cycle, err);

	if (!e->atom)
		e->atom = mem_zalloc(1, sizeof *e->atom);
	if (c.rows.n)
		qsort(c.rows.v, c.rows.n, sizeof *c.rows.v, by_time);
	change_lines_init(&lines, e->store, e->cli->common.repository);
	for (size_t i = 0; i < c.rows.n && (int64_t)i < e->limit && rc == 0; i++)
		rc = add_entry(e, &lines, &c.rows.v[i], err);
	change_lines_release(&lines);
	changes_release(&c);
	if (e->atom->entries.n)
		qsort(e->atom->entries.v, e->atom->entries.n, sizeof *e->atom->entries.v, newest_first);
	while ((int64_t)e->atom->entries.n > e->limit)
		free(e->atom->entries.v[--e->atom->entries.n].text);
	return rc;
}

int export_atom_end(struct exporting *e, struct err *err)
{
	struct atom *a = e->atom;
	FILE *out = e->out;
	char time[21], *folder = realpath(e->cli->common.repository, NULL);
	const char *path = folder ? folder : e->cli->common.repository, *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	uint64_t high = hash_bytes(path, strlen(path), 1), low = hash_bytes(path, strlen(path), 2);

	(void)err;
	when_iso(a->entries.n ? a->entries.v[0].time : clock_now(), time);
	fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	      "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>Changes in ", out);
	print_xml(out, name, strlen(name));
	/* a UUID of version 8 (RFC 9562) */
	fprintf(out, "</title>\n<id>urn:uuid:%08x-%04x-8%03x-%04x-%012llx", (unsigned)(high >> 32),
	        (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
	        (unsigned)(low >> 48 & 0x3fff) | 0x8000, (unsigned long long)(low & 0xffffffffffff));
	fprintf(out, "</id>\n<updated>%s</updated>\n<author><name>freshet</name></author>\n"
	        "<generator version=\"" FRESHET_VERSION "\">freshet</generator>\n", time);
	for (size_t i = 0; i < a->entries.n; i++)
		fputs(a->entries.v[i].text, out);
	fputs("</feed>\n", out);
	e->n_written = a->entries.n;
	free(folder);
	return 0;
}

void export_atom_release(struct exporting *e)
{
	for (size_t i = 0; e->atom && i < e->atom->entries.n; i++)
		free(e->atom->entries.v[i].text);
	if (e->atom)
		vec_release(&e->atom->entries);
	free(e->atom);
	e->atom = NULL;
}
