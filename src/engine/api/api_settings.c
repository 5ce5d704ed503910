/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_settings.c - the settings of a repository that the library goes by.
 *
 * The program has more of them, in the option tables of its commands.  Those here have the
 * same names, defaults and meanings; tests/e2e/library.sh compares them.
 */
#include "engine/api/api.h"

#include "engine/recall/planning.h"

#define ROW(n, f, t, d) \
	{ .name = (n), .type = (t), .def = (d), .setting = true, \
	  .offset = offsetof(struct api_settings, f) }
#define ROW_CHOICE(n, f, d, list) \
	{ .name = (n), .type = OPTION_CHOICE, .def = (d), .choices = (list), .setting = true, \
	  .offset = offsetof(struct api_settings, f) }

static const struct option_spec settings[] = {
	ROW("policy", policy, OPTION_TEXT, "auto"),
	ROW_CHOICE("aim", aim, AIM_DEFAULT, AIM_CHOICES),
	ROW_CHOICE("weight", weight, "none", WEIGHT_CHOICES),
	ROW("budget", budget, OPTION_SHARE, "2%"),
	ROW("every", every, OPTION_DURATION, "1d"),
	ROW("max_age", max_age, OPTION_DURATION, NULL),
	ROW("site_share", site_share, OPTION_SHARE, NULL),
	ROW("retry_share", retry_share, OPTION_SHARE, "5%"),
	ROW("notifier_share", notifier_share, OPTION_SHARE, TOUCH_SHARE),
	{ .name = "delay", .type = OPTION_SECONDS, .def = "1s", .min = 0, .max = 3600,
	  .setting = true, .offset = offsetof(struct api_settings, delay) },
	{ .name = "confirmations", .type = OPTION_INT, .def = "2", .min = 1, .max = 100,
	  .setting = true, .offset = offsetof(struct api_settings, confirmations) },
	OPT_END
};

/* How files are read: engine/import/import.h loads these itself. */
static const char *const reading[] = { "detect", "ignore" };

static int fill_one(void *arg, const char *key, const char *value, struct err *err)
{
	struct { struct freshet *f; struct api_settings *to; } *in = arg;
	const struct option_spec *s = option_find(settings, key, strlen(key));
	int rc;

	if (!s)
		return 0;
	rc = option_set(s, in->to, arena_strndup(&in->f->texts, value, strlen(value)), err);
	return rc < 0 ? err_prefix(err, "setting %s", key) : 0;
}

int api_settings(struct freshet *f, struct api_settings *ret)
{
	struct { struct freshet *f; struct api_settings *to; } in = { f, ret };

	*ret = (struct api_settings){ 0 };
	option_defaults(settings, ret);
	return store_settings(f->store, fill_one, &in, &f->err);
}

int api_choice(struct freshet *f, const char *what, const char *name, const char *choices,
               int *ret)
{
	const struct option_spec s = { .name = what, .type = OPTION_CHOICE, .choices = choices };

	return option_set(&s, ret, name, &f->err);
}

/* The key under which a setting is kept, in key[]. */
static int find_setting(struct freshet *f, const char *name, const char *value, char key[64])
{
	const struct option_spec *s = name ? option_find(settings, name, strlen(name)) : NULL;
	struct api_settings scratch = { 0 };

	for (size_t i = 0; name && i < sizeof reading / sizeof *reading; i++) {
		if (!strcmp(reading[i], name)) {
			strcpy(key, name);
			return value ? planning_check(name, value, &f->err) : 0;
		}
	}
	if (!s)
		return err_set(&f->err, E_USAGE, "'%.60s' is no setting of the library; `freshet set` "
		               "knows those of the program", name ? name : "");
	option_display(s, key);
	if (value && option_set(s, &scratch, value, &f->err) < 0)
		return f->err.code;
	return value ? planning_check(s->name, value, &f->err) : 0;
}

int freshet_set(struct freshet *f, const char *name, const char *value)
{
	char key[64];
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = find_setting(f, name, value, key);
	if (rc == 0)
		rc = store_begin(f->store, &f->err);
	if (rc == 0) {
		if ((rc = store_setting_put(f->store, key, value, &f->err)) == 0)
			rc = store_commit(f->store, &f->err);
		if (rc < 0)
			store_rollback(f->store);
	}
	return api_end(f, rc);
}

int freshet_get(struct freshet *f, const char *name, const char **ret)
{
	char key[64], *value = NULL;
	size_t n = name ? strlen(name) : 0;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	if (!ret || !n || n >= sizeof key)
		return api_end(f, err_set(&f->err, E_USAGE, "a setting has a short name"));
	for (size_t i = 0; i <= n; i++)
		key[i] = name[i];
	for (char *p = key; *p; p++)
		*p = *p == '_' ? '-' : *p;
	rc = store_setting_get(f->store, key, &value, &f->err);
	if (rc >= 0)
		*ret = value ? arena_strndup(&f->texts, value, strlen(value)) : NULL;
	free(value);
	return api_end(f, rc < 0 ? rc : 0);
}
