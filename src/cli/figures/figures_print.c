/* SPDX-License-Identifier: Apache-2.0 */
/* figures_print.c - figures as tables, as JSON, and as files of SVG. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io/output.h"
#include "cli/figures/figures.h"

static void cell(struct table *t, const struct plot *p, size_t series, size_t point)
{
	double y = p->series[series].y[point], se = p->series[series].se[point];

	if (isnan(y))
		table_cell(t, "-");
	else if (isnan(se))
		table_cell(t, "%.*f", p->decimals, y);
	else
		table_cell(t, "%.*f ± %.*f", p->decimals, y, p->decimals, se);
}

/* Rows are the longer of the two: points, or series. */
static void print_plot(const struct plot *p, FILE *out)
{
	bool by_point = p->kind == PLOT_TABLE || p->n_x > p->n_series;
	size_t n_rows = by_point ? p->n_x : p->n_series;
	size_t n_columns = (by_point ? p->n_series : p->n_x) + 1;
	const char **heads = mem_array(n_columns, sizeof *heads);
	char (*names)[PLOT_LABEL] = mem_zalloc(n_columns, sizeof *names);
	struct table *t;

	snprintf(names[0], sizeof names[0], "<%.70s", by_point ? p->x_label : "");
	for (size_t k = 1; k < n_columns; k++) {
		char buf[PLOT_LABEL];

		snprintf(names[k], sizeof names[k], "%s", by_point ? p->series[k - 1].label :
		         plot_name(p, k - 1, buf));
	}
	for (size_t k = 0; k < n_columns; k++)
		heads[k] = names[k];
	t = table_new(heads, n_columns);
	for (size_t i = 0; i < n_rows; i++) {
		char buf[PLOT_LABEL];

		table_cell(t, "%s", by_point ? plot_name(p, i, buf) : p->series[i].label);
		for (size_t k = 1; k < n_columns; k++)
			cell(t, p, by_point ? k - 1 : i, by_point ? i : k - 1);
	}
	table_print(t, out);
	table_free(t);
	free(names);
	free(heads);
}

void figures_print(const struct figures *f, FILE *out)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct plot *p = &f->plots[i];

		fprintf(out, "%s%s, %s: %s\n\n", i ? "\n" : "", f->paper->name, p->id, p->title);
		print_plot(p, out);
		fprintf(out, "\n%s%s%s\n", p->y_label, *p->y_label ? ". " : "", p->caption);
	}
}

static void json_numbers(struct json *j, const char *key, const double *v, size_t n)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < n; i++)
		json_num(j, v[i]);              /* null where it is not known */
	json_end_array(j);
}

static void json_plot(struct json *j, const struct plot *p)
{
	static const char *const kinds[] = { "lines", "bars", "table" };
	char buf[PLOT_LABEL];

	json_object(j);
	json_kstr(j, "figure", p->id);
	json_kstr(j, "title", p->title);
	json_kstr(j, "kind", kinds[p->kind]);
	json_kstr(j, "caption", p->caption);
	json_kstr(j, "x_label", p->x_label);
	json_kstr(j, "y_label", p->y_label);
	json_key(j, "x");
	json_array(j);
	for (size_t i = 0; i < p->n_x; i++) {
		if (p->names[i][0])
			json_str(j, plot_name(p, i, buf));
		else
			json_num(j, p->x[i]);
	}
	json_end_array(j);
	json_key(j, "series");
	json_array(j);
	for (size_t i = 0; i < p->n_series; i++) {
		json_object(j);
		json_kstr(j, "label", p->series[i].label);
		json_numbers(j, "y", p->series[i].y, p->n_x);
		json_numbers(j, "se", p->series[i].se, p->n_x);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

void figures_print_json(const struct figures *f)
{
	struct json j;

	cli_json_begin(&j, "figures");
	json_kstr(&j, "paper", f->paper->name);
	json_kint(&j, "seeds", f->ask->n_seeds);
	json_key(&j, "figures");
	json_array(&j);
	for (size_t i = 0; i < f->n; i++)
		json_plot(&j, &f->plots[i]);
	json_end_array(&j);
	cli_json_end(&j);
}

static int draw_one(const struct plot *p, const char *path, struct err *err)
{
	struct output *o;
	struct buf svg;
	int rc = output_open(&o, path, err);

	if (rc < 0)
		return rc;
	buf_init(&svg, PLOT_SVG_MAX);
	plot_svg(p, &svg);
	if (svg.full) {
		output_abandon(o);
		rc = err_set(err, E_LIMIT, "%s: the drawing passes %zu MB", path, PLOT_SVG_MAX >> 20);
	} else {
		fwrite(svg.data, 1, svg.size, output_file(o));
		rc = output_close(o, err);
	}
	buf_release(&svg);
	return rc;
}

int figures_draw(const struct figures *f, const char *folder, struct err *err)
{
	int rc = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", folder);
	for (size_t i = 0; i < f->n && rc == 0; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s-%s.svg", folder, f->paper->name, f->plots[i].id);
		rc = draw_one(&f->plots[i], path, err);
	}
	return rc;
}
