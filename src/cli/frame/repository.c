/* SPDX-License-Identifier: Apache-2.0 */
/* repository.c - opening repositories, and settings; see repository.h. */
#include "cli/frame/repository.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/option/near.h"
#include "cli/frame/confine.h"
#include "cli/frame/shards.h"
#include "repo/place.h"
#include "web/url/url.h"

/* --store goes before what the folder says. */
static int store_path(const struct cli *cli, const char *dir, char out[PLACE_SIZE],
                      struct err *err)
{
	int n;

	if (!cli->common.store)
		return place_find(dir, out, err);
	n = snprintf(out, PLACE_SIZE, "%s", cli->common.store);
	return n < 0 || n >= PLACE_SIZE ?
		err_set(err, E_USAGE, "the name of the store is too long") : 0;
}

const char *repository_option(const char *dir, char ret[REPOSITORY_OPTION_SIZE])
{
	bool plain = !dir[strcspn(dir, " \t\n'\"\\$&;|<>()*?[]{}~#!`")];
	const char *quote = plain ? "" : strchr(dir, '\'') ? "\"" : "'";

	*ret = '\0';
	if (strcmp(dir, "."))
		snprintf(ret, REPOSITORY_OPTION_SIZE, "-C %s%s%s ", quote, dir, quote);
	return ret;
}

int repository_where(const struct cli *cli, char *ret, size_t size, struct err *err)
{
	char path[PLACE_SIZE];
	int rc = store_path(cli, cli->common.repository, path, err);

	if (rc == 0 && snprintf(ret, size, "%s", path) >= (int)size)
		rc = err_set(err, E_USAGE, "the name of the store is too long");
	return rc;
}

static int open_shard(struct cli *cli, enum store_mode mode, struct store **ret,
                      struct err *err)
{
	int32_t shard = cli->shard < 0 ? 0 : cli->shard;
	struct buf where;
	int rc = 0;

	if (mode != STORE_READ && (!cli->shards->holds || cli->shards->lease.shard != shard))
		rc = shards_hold(cli, shard, err);
	if (rc < 0)
		return rc;
	buf_init(&where, BUF_NO_LIMIT);
	shards_where(cli, mode != STORE_READ, &where);
	rc = store_open(ret, buf_text(&where), mode, err);
	buf_release(&where);
	return rc;
}

static int open_as(struct cli *cli, enum store_mode mode, struct store **ret, struct err *err)
{
	char path[PLACE_SIZE];
	int rc;

	if (shards_any(cli))
		rc = open_shard(cli, mode, ret, err);
	else if ((rc = store_path(cli, cli->common.repository, path, err)) == 0)
		rc = store_open(ret, path, mode, err);
	if (rc == 0)
		confine_reading(cli, *ret);
	if (rc == 0 && place_is_repository(cli->common.repository))
		store_caches(*ret, cli->common.repository);
	return rc;
}

int repository_open(struct cli *cli, struct store **ret, struct err *err)
{
	return open_as(cli, STORE_EXISTING, ret, err);
}

int repository_read(struct cli *cli, struct store **ret, struct err *err)
{
	return open_as(cli, STORE_READ, ret, err);
}

int repository_create(struct cli *cli, const char *dir, struct store **ret, struct err *err)
{
	char path[PLACE_SIZE];
	struct stat st;
	int rc = store_path(cli, dir, path, err);

	if (rc == 0 && cli->common.store)
		rc = place_may_remember(dir, err);
	if (rc < 0)
		return rc;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s: no folder can be made there", dir);
	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return err_set(err, E_IO, "%s: is a file; name a folder for the repository", dir);
	rc = store_open(ret, path, STORE_CREATE, err);
	if (rc < 0)
		return rc;
	if (cli->common.store && (rc = place_remember(dir, cli->common.store, err)) > 0)
		log_info("the password is not remembered: put it into ~/.pgpass");
	if (rc < 0) {
		store_close(*ret);
		return rc;
	}
	snprintf(path, sizeof path, "%.4000s/warc", dir);
	if (mkdir(path, 0777) && errno != EEXIST) {
		store_close(*ret);
		return err_errno(err, E_IO, "%s", path);
	}
	return 0;
}

struct filling {
	struct cli *cli;
	struct arena *arena;
};

static int fill_one(void *arg, const char *key, const char *value, struct err *err)
{
	struct filling *f = arg;
	const struct option_spec *s = option_find(f->cli->options, key, strlen(key));
	int rc;

	if (!s || !s->setting || f->cli->given[s - f->cli->options])
		return 0;
	rc = option_set(s, f->cli->opts, arena_strndup(f->arena, value, strlen(value)), err);
	return rc < 0 ? err_prefix(err, "setting %s", key) : 0;
}

int repository_settings(struct cli *cli, struct store *s, struct arena *arena, struct err *err)
{
	struct filling f = { cli, arena };

	return store_settings(s, fill_one, &f, err);
}

const struct option_spec *setting_find(const char *name)
{
	const struct command *c = command_find("cycle");        /* its meaning there wins */
	const struct option_spec *s = option_find(c->options, name, strlen(name));

	for (size_t i = 0; !(s && s->setting) && (c = command_at(i)); i++)
		s = c->options ? option_find(c->options, name, strlen(name)) : NULL;
	return s && s->setting ? s : NULL;
}

int setting_unknown(const char *name, struct err *err)
{
	struct near near = near_begin(name, strlen(name));
	const struct command *c;
	char shown[2][64];
	int kept = 0;

	for (size_t i = 0; (c = command_at(i)); i++) {
		for (const struct option_spec *s = c->options; s && s->name; s++) {
			if (!s->setting)
				continue;
			option_display(s, shown[!kept]);
			near_try(&near, shown[!kept]);
			if (near.best == shown[!kept])
				kept = !kept;
		}
	}
	if (near.best)
		return err_set(err, E_USAGE, "no setting '%s'; did you mean %s? `freshet get --all` "
		               "lists them", name, near.best);
	return err_set(err, E_USAGE, "no setting '%s'; `freshet get --all` lists them", name);
}

int repository_page(struct store *s, const char *url, struct store_page *ret, struct err *err)
{
	struct buf text, canonical;
	struct err why = { 0 };
	int rc;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	rc = url_canonical(buf_text(&text), text.size, &canonical, &why);
	if (rc < 0) {
		char shown[200];

		rc = err_set(err, E_USAGE, "'%s' is no URL of a page: %s",
		             log_quote(url, strlen(url), shown, sizeof shown), why.text);
	} else {
		rc = store_page_find(s, (struct text){ canonical.data, canonical.size }, ret, err);
		if (rc == 0)
			rc = err_set(err, E_USAGE, "%s: not in this repository; `freshet add` puts it "
			             "under care", buf_text(&canonical));
		else if (rc > 0)
			rc = 0;
	}
	buf_release(&text);
	buf_release(&canonical);
	return rc;
}

bool repository_is_usual(const struct cli *cli)
{
	static const char *const others[] = { "policy", "goal", "aim", "weight", "every",
	                                      "include", "exclude" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (option_find(cli->options, others[i], strlen(others[i])) && cli_given(cli, others[i]))
			return false;
	return true;
}

int64_t clock_now(void)
{
	return (int64_t)time(NULL);
}
