/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - parsing of option tables; printing is in option_print.c. */
#include "base/option/option.h"

#include <ctype.h>
#include <errno.h>

#include "base/option/near.h"

static bool same_name(const char *a, const char *b, size_t size)
{
	size_t i;

	for (i = 0; i < size && a[i]; i++)
		if ((a[i] == '_' ? '-' : a[i]) != (b[i] == '_' ? '-' : b[i]))
			return false;
	return i == size && !a[i];
}

const struct option_spec *option_find(const struct option_spec *specs,
                                      const char *name, size_t size)
{
	for (; specs->name; specs++)
		if (same_name(specs->name, name, size))
			return specs;
	return NULL;
}

void option_display(const struct option_spec *s, char out[64])
{
	size_t i;

	for (i = 0; i < 63 && s->name[i]; i++)
		out[i] = s->name[i] == '_' ? '-' : s->name[i];
	out[i] = '\0';
}

size_t option_count(const struct option_spec *specs)
{
	size_t n = 0;

	while (specs[n].name)
		n++;
	return n;
}

static int choice_index(const char *choices, const char *value)
{
	size_t size = strlen(value);
	int i = 0;

	for (const char *p = choices; ; i++) {
		const char *end = strchrnul(p, '|');

		if ((size_t)(end - p) == size && !memcmp(p, value, size))
			return i;
		if (!*end)
			return -1;
		p = end + 1;
	}
}

static int parse_number(const struct option_spec *s, const char *value, double *ret,
                        struct err *err)
{
	char shown[64], *end;
	double v;

	option_display(s, shown);
	errno = 0;
	v = strtod(value, &end);
	if (end > value && !strcmp(end, "%") && s->type == OPTION_DOUBLE && s->min >= 0 &&
	    s->max > s->min && s->max <= 1) {
		v /= 100;               /* a share may be written as 80% */
		end++;
	}
	if (end == value || *end || errno || v != v)
		return err_set(err, E_USAGE, "%s: '%s' is not a number", shown, value);
	if (s->type == OPTION_INT && (v != (double)(int64_t)v || v > 9e15 || v < -9e15))
		return err_set(err, E_USAGE, "%s: '%s' is not a whole number", shown, value);
	if (s->max > s->min && (v < s->min || v > s->max))
		return err_set(err, E_USAGE, "%s: %s is outside %.16g .. %.16g", shown, value,
		               s->min, s->max);
	*ret = v;
	return 0;
}

static int parse_duration(const struct option_spec *s, const char *value, void *at,
                          struct err *err)
{
	char shown[64];
	double v;

	option_display(s, shown);
	if (!duration_parse_exact(value, &v))
		return err_set(err, E_USAGE, "%s: '%s' is not a duration such as %s12h, 2w", shown,
		               value, s->type == OPTION_SECONDS ? "250ms, 1.5s, " : "90s, ");
	if (s->max > s->min && (v < s->min || v > s->max))
		return err_set(err, E_USAGE, "%s: %s is outside %.12g .. %.12g seconds", shown,
		               value, s->min, s->max);
	if (s->type == OPTION_SECONDS)
		*(double *)at = v;
	else if (!duration_parse(value, at))
		return err_set(err, E_USAGE, "%s: '%s' is less than a second", shown, value);
	return 0;
}

bool option_bytes(const char *value, int64_t *ret)
{
	static const char units[] = "kMG";
	const char *unit;
	char *end;
	double v;

	if (!isdigit((unsigned char)*value) || value[strspn(value, "0123456789.kKMmGg")])
		return false;
	v = strtod(value, &end);
	if (*end && !end[1] && (unit = strchr(units, *end == 'K' ? 'k' : *end == 'm' ? 'M' :
	                                      *end == 'g' ? 'G' : *end))) {
		for (long i = unit - units; i >= 0; i--)
			v *= 1024;
		end++;
	}
	if (*end || v > 9e15)
		return false;
	*ret = (int64_t)v;
	return true;
}

static int parse_size(const struct option_spec *s, const char *value, int64_t *ret,
                      struct err *err)
{
	char shown[64];

	option_display(s, shown);
	if (!option_bytes(value, ret))
		return err_set(err, E_USAGE, "%s: '%s' is not a number of bytes such as 500k, 10M",
		               shown, value);
	if (s->max > s->min && ((double)*ret < s->min || (double)*ret > s->max))
		return err_set(err, E_USAGE, "%s: %s is outside %.16g .. %.16g bytes", shown, value,
		               s->min, s->max);
	return 0;
}

static int parse_flag(const char *value, bool *ret)
{
	static const char *const yes[] = { "1", "yes", "true", "on" };
	static const char *const no[] = { "0", "no", "false", "off" };

	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(value, yes[i]) || !strcmp(value, no[i])) {
			*ret = !strcmp(value, yes[i]);
			return 0;
		}
	}
	return -1;
}

int option_set(const struct option_spec *s, void *opts, const char *value, struct err *err)
{
	void *at = (char *)opts + s->offset;
	struct option_list *list;
	char shown[64];
	double v = 0;
	int k;

	option_display(s, shown);
	switch (s->type) {
	case OPTION_FLAG:
		if (parse_flag(value, at))
			return err_set(err, E_USAGE, "%s: '%s' is not 0 or 1", shown, value);
		return 0;
	case OPTION_INT:
	case OPTION_DOUBLE:
		k = parse_number(s, value, &v, err);
		if (k < 0)
			return k;
		if (s->type == OPTION_INT)
			*(int64_t *)at = (int64_t)v;
		else
			*(double *)at = v;
		return 0;
	case OPTION_CHOICE:
		k = choice_index(s->choices, value);
		if (k < 0)
			return err_set(err, E_USAGE, "%s: '%s' is none of %s", shown, value,
			               s->choices);
		*(int *)at = k;
		return 0;
	case OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_DURATION:
	case OPTION_SECONDS:
		return parse_duration(s, value, at, err);
	case OPTION_TIME:
		if (!when_parse(value, strlen(value), at))
			return err_set(err, E_USAGE, "%s: '%s' is not a time such as "
			               "20221001000000 or 2022-10-01", shown, value);
		return 0;
	case OPTION_SHARE:
		if (!share_parse(value, at))
			return err_set(err, E_USAGE, "%s: '%s' is neither a number from 1 on nor "
			               "a share up to 100%%", shown, value);
		return 0;
	case OPTION_SIZE:
		return parse_size(s, value, at, err);
	case OPTION_LIST:
		list = at;
		mem_grow((void **)&list->v, &list->cap, list->n + 1, sizeof *list->v);
		list->v[list->n++] = value;
		return 0;
	}
	return err_set(err, E_USAGE, "%s: unknown type", shown);
}

void option_defaults(const struct option_spec *specs, void *opts)
{
	struct err err;

	for (; specs->name; specs++)
		if (specs->def && option_set(specs, opts, specs->def, &err) < 0)
			abort();        /* our own table is wrong */
}

void option_release(const struct option_spec *specs, void *opts)
{
	for (; specs->name; specs++) {
		struct option_list *list = (void *)((char *)opts + specs->offset);

		if (specs->type == OPTION_LIST) {
			free(list->v);
			*list = (struct option_list){ 0 };
		}
	}
}

/* "a, b, c" for messages; cut with an ellipsis when it does not fit. */
static void list_names(const struct option_spec *specs, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (; specs->name && n + 70 < size; specs++) {
		char shown[64];

		option_display(specs, shown);
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", shown);
	}
	if (specs->name)
		snprintf(out + n, size - n, ", ...");
}

int option_parse_spec(const struct option_spec *specs, void *opts, const char *text,
                      struct arena *keep, struct err *err)
{
	while (*text) {
		const char *end = strchrnul(text, ',');
		const char *eq = memchr(text, '=', (size_t)(end - text));
		const struct option_spec *s;
		char names[300];
		int rc;

		if (!eq)
			return err_set(err, E_USAGE, "'%.*s' is not key=value",
			               (int)(end - text), text);
		s = option_find(specs, text, (size_t)(eq - text));
		if (!s) {
			list_names(specs, names, sizeof names);
			return err_set(err, E_USAGE, "no parameter '%.*s'; there %s %s",
			               (int)(eq - text), text, *names ? "are" : "is",
			               *names ? names : "none");
		}
		rc = option_set(s, opts, arena_strndup(keep, eq + 1, (size_t)(end - eq - 1)), err);
		if (rc < 0)
			return rc;
		text = *end ? end + 1 : end;
	}
	return 0;
}

static const struct option_spec *find_in_groups(const struct option_group *groups,
                                                size_t n_groups, const char *name,
                                                size_t size, char letter, size_t *ret_group)
{
	for (size_t g = 0; g < n_groups; g++) {
		const struct option_spec *s = groups[g].specs;

		*ret_group = g;
		if (!letter && (s = option_find(s, name, size)))
			return s;
		for (; letter && s->name; s++)
			if (s->letter == letter)
				return s;
	}
	return NULL;
}

/* arg is --name or --name=value, size that of the name; 0: it is one letter. */
static int unknown_option(const struct option_group *groups, size_t n_groups,
                          const char *arg, size_t size, struct err *err)
{
	struct near near = near_begin(arg + 2, size);
	char names[2][64];
	int kept = 0;

	for (size_t g = 0; size && g < n_groups; g++) {
		for (const struct option_spec *s = groups[g].specs; s->name; s++) {
			option_display(s, names[!kept]);
			near_try(&near, names[!kept]);
			if (near.best == names[!kept])
				kept = !kept;
		}
	}
	if (near.best)
		return err_set(err, E_USAGE, "unknown option --%.*s; did you mean --%s? --help "
		               "lists the options", (int)size, arg + 2, near.best);
	return err_set(err, E_USAGE, "unknown option %s; --help lists the options", arg);
}

/* One option at argv[*i]; takes the next argument if it needs a value. */
static int parse_one(const struct option_group *groups, size_t n_groups, int argc,
                     char **argv, int *i, struct err *err)
{
	const char *arg = argv[*i], *value = NULL;
	bool is_long = arg[1] == '-';
	const char *name = is_long ? arg + 2 : arg + 1;
	const char *eq = is_long ? strchr(name, '=') : NULL;
	size_t size = eq ? (size_t)(eq - name) : strlen(name), g = 0;
	const struct option_spec *s;
	int rc;

	s = find_in_groups(groups, n_groups, name, size, is_long ? 0 : name[0], &g);
	if (!s)
		return unknown_option(groups, n_groups, arg, is_long ? size : 0, err);
	if (eq)
		value = eq + 1;
	else if (!is_long && name[1])
		value = name + 1;
	if (s->type == OPTION_FLAG && !value)
		value = "1";
	if (!value) {
		if (*i + 1 >= argc)
			return err_set(err, E_USAGE, "%s wants a value: %s", arg, s->arg);
		value = argv[++*i];
	}
	rc = option_set(s, groups[g].opts, value, err);
	if (rc < 0 && err) {            /* the message begins with the option's name */
		memmove(err->text + 2, err->text, sizeof err->text - 3);
		memcpy(err->text, "--", 2);
	}
	if (rc == 0 && groups[g].given)
		groups[g].given[s - groups[g].specs] = true;
	return rc;
}

int option_parse_args(const struct option_group *groups, size_t n_groups,
                      int argc, char **argv, int *ret_n, struct err *err)
{
	int n = 0;

	for (int i = 0; i < argc; i++) {
		int rc;

		if (!strcmp(argv[i], "--")) {
			while (++i < argc)
				argv[n++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1] || isdigit((unsigned char)argv[i][1])) {
			argv[n++] = argv[i];
			continue;
		}
		rc = parse_one(groups, n_groups, argc, argv, &i, err);
		if (rc < 0)
			return rc;
	}
	*ret_n = n;
	return 0;
}
