/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_write.c - see rank_write.h.
 *
 * Numbers become text on all processors, some lines at a time; what is ready is written in
 * the order of the nodes.
 */
#include "cli/rank/rank_write.h"

#include <string.h>

#include "base/buf.h"
#include "base/io/digits.h"
#include "base/io/output.h"

#define LINES 16384u            /* that become text at a time */

static void put_line(const struct ranked *r, uint32_t v, struct buf *b)
{
	const struct strtab *names = &r->g.text.names;
	char text[2 * DIGITS_SIZE];
	size_t n = 0;

	if (names->n)
		buf_str(b, strtab_get(names, v));
	else
		n = digits_u32(text, v);
	text[n++] = '\t';
	n += digits_12g(text + n, r->rank[v]);
	text[n++] = '\n';
	buf_add(b, text, n);
}

static void write_lines(const struct ranked *r, FILE *f)
{
	uint32_t n = r->g.text.graph.n_nodes;

	#pragma omp parallel
	{
		struct buf lines;

		buf_init(&lines, SIZE_MAX);
		#pragma omp for ordered schedule(static, 1)
		for (uint32_t first = 0; first < n; first += LINES) {
			uint32_t end = n - first < LINES ? n : first + LINES;

			buf_clear(&lines);
			for (uint32_t v = first; v < end; v++)
				put_line(r, v, &lines);
			#pragma omp ordered
			fwrite(lines.data, 1, lines.size, f);
		}
		buf_release(&lines);
	}
}

int rank_write(const struct ranked *r, const char *path, struct err *err)
{
	struct output *out;
	int rc = output_open(&out, path, err);

	if (rc < 0)
		return rc;
	write_lines(r, output_file(out));
	return output_close(out, err);
}

int rank_write_links(const struct ranked *r, const char *path, struct err *err)
{
	struct output *out;
	int rc = output_open(&out, path, err);

	if (rc < 0)
		return rc;
	if (graph_text_write(&r->g.text.graph, r->g.text.names.n ? &r->g.text.names : NULL,
	                     output_file(out)))
		return output_close(out, err);
	output_abandon(out);
	return err_errno(err, E_IO, "%s: cannot be written", path);
}
