/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - options of requests; see requests.h. */
#include "cli/frame/requests.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fetch/asking/media_types.h"
#include "fetch/asking/own_header.h"

enum { IP_ANY, IP_4, IP_6 };

/* name, or name/version: name is what robots.txt knows us by. */
static int check_agent(const char *agent, struct err *err)
{
	size_t name = strspn(agent, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789-_");
	const char *version = agent[name] == '/' ? agent + name + 1 : NULL;

	if (!name || name > 100 || !isalpha((unsigned char)*agent) ||
	    (version ? !*version || strlen(version) > 50 : agent[name] != '\0'))
		return err_set(err, E_USAGE, "user-agent: write NAME or NAME/VERSION, letters, digits, - "
		               "and _, as in mybot/1.0; the contact is added");
	for (; version && *version; version++)
		if (!isalnum((unsigned char)*version) && !strchr(".-_+", *version))
			return err_set(err, E_USAGE, "user-agent: a version has letters, digits and dots");
	return 0;
}

static int set_agent(struct requests *r, const struct request_opts *o, const char *contact,
                     struct fetch_options *fetch, struct err *err)
{
	const char *agent = o->user_agent ? o->user_agent : "freshet/" FRESHET_VERSION;
	int n, rc = check_agent(agent, err);

	if (rc < 0)
		return rc;
	n = snprintf(r->agent, sizeof r->agent, "%s (+%s)", agent, contact);
	if (n < 0 || (size_t)n >= sizeof r->agent)
		return err_set(err, E_USAGE, "contact: too long");
	snprintf(r->robots, sizeof r->robots, "%.*s", (int)strcspn(agent, "/"), agent);
	fetch->user_agent = r->agent;
	fetch->robots_name = r->robots;
	return 0;
}

/* An address must be one of this machine's. */
static int try_bind(const char *address, int family, struct err *err)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	inet_pton(family, address, family == AF_INET6 ? (void *)&six.sin6_addr :
	          (void *)&four.sin_addr);
	rc = fd < 0 ? -1 : family == AF_INET6 ? bind(fd, (struct sockaddr *)&six, sizeof six) :
	     bind(fd, (struct sockaddr *)&four, sizeof four);
	if (rc < 0)
		rc = err_errno(err, E_USAGE, "bind: %s", address);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* *ret_family: of an address, else 0. */
static int check_bind(const char *where, int *ret_family, struct err *err)
{
	char address[sizeof(struct in6_addr)];

	*ret_family = inet_pton(AF_INET, where, address) == 1 ? AF_INET :
	              inet_pton(AF_INET6, where, address) == 1 ? AF_INET6 : 0;
	if (*ret_family)
		return try_bind(where, *ret_family, err);
	if (strlen(where) >= IF_NAMESIZE || !if_nametoindex(where))
		return err_set(err, E_USAGE, "bind: '%.50s' is no address and no network interface of this "
		               "machine", where);
	return 0;
}

static int set_way(struct requests *r, const struct request_opts *o,
                   struct fetch_options *fetch, struct err *err)
{
	int family = 0, rc;

	fetch->family = o->ip == IP_4 ? AF_INET : o->ip == IP_6 ? AF_INET6 : 0;
	fetch->limit_rate = (double)o->limit_rate;
	if (!o->bind)
		return 0;
	if ((rc = check_bind(o->bind, &family, err)) < 0)
		return rc;
	if (family && fetch->family && family != fetch->family)
		return err_set(err, E_USAGE, "bind: %s is no address for --ip %d", o->bind,
		               o->ip == IP_4 ? 4 : 6);
	if (family)
		fetch->family = family;
	snprintf(r->bind, sizeof r->bind, "%s!%s", family ? "host" : "if", o->bind);
	fetch->bind = r->bind;
	return 0;
}

static int set_headers(struct requests *r, const struct cli *cli,
                       const struct request_opts *o, struct err *err)
{
	int rc = 0;

	buf_init(&r->headers, BUF_NO_LIMIT);
	for (size_t i = 0; rc == 0 && i < o->header.n; i++) {
		const char *h = o->header.v[i];

		/* a setting may hold several lines; what is typed may not */
		rc = cli_given(cli, "header") ? own_header_check(h, strlen(h), false, err) :
		     own_header_check_text(h, err);
		buf_str(&r->headers, h);
		buf_byte(&r->headers, '\n');
	}
	if (rc == 0 && r->headers.size)
		rc = own_header_check_text(buf_text(&r->headers), err);
	r->asking.headers = r->headers.size ? buf_text(&r->headers) : NULL;
	return rc;
}

static const char *site_value(void *arg, const char *name, const char *host, size_t size)
{
	return site_settings_of(arg, name, host, size);
}

static bool asks_more(const struct requests *r)
{
	const struct asking_rules *a = &r->asking;

	return a->headers || a->accept || a->cookies.v.n || a->logins.v.n || a->site;
}

int requests_set(struct requests *ret, const struct cli *cli, const struct request_opts *o,
                 const char *contact, const struct site_settings *sites,
                 struct fetch_options *fetch, struct err *err)
{
	struct asking_rules *a = &ret->asking;
	int rc;

	if ((rc = set_agent(ret, o, contact, fetch, err)) < 0 ||
	    (rc = set_way(ret, o, fetch, err)) < 0 ||
	    (rc = set_headers(ret, cli, o, err)) < 0 ||
	    (o->accept && (rc = media_types_check(o->accept, err)) < 0) ||
	    (o->cookies && (rc = asking_read_cookies(a, o->cookies, err)) < 0) ||
	    (o->credentials && (rc = asking_read_logins(a, o->credentials, err)) < 0))
		return rc;
	if (a->logins.n_default)
		log_warn("%s: the entry `default` is not used: it would go to every host", o->credentials);
	a->accept = o->accept;
	if (o->max_body)
		fetch->max_body = (size_t)o->max_body;
	if (o->max_decoded)
		fetch->max_decoded = (size_t)o->max_decoded;
	if (site_settings_has(sites, "header") || site_settings_has(sites, "accept") ||
	    site_settings_has(sites, "max-body")) {
		a->site = site_value;
		a->arg = (void *)(uintptr_t)sites;
	}
	fetch->asking = asks_more(ret) ? a : NULL;
	return 0;
}

void requests_release(struct requests *r)
{
	asking_release(&r->asking);
	buf_release(&r->headers);
}

int requests_check(const char *name, const char *value, struct err *err)
{
	struct asking_rules a = { 0 };
	int family, rc = 0;

	if (!strcmp(name, "user_agent"))
		rc = check_agent(value, err);
	else if (!strcmp(name, "header"))
		rc = own_header_check_text(value, err);
	else if (!strcmp(name, "accept"))
		rc = media_types_check(value, err);
	else if (!strcmp(name, "bind"))
		rc = check_bind(value, &family, err);
	else if (!strcmp(name, "cookies"))
		rc = asking_read_cookies(&a, value, err);
	else if (!strcmp(name, "credentials"))
		rc = asking_read_logins(&a, value, err);
	asking_release(&a);
	return rc;
}

/* Headers as one text with newlines between. */
static int join_headers(int n, char **values, char **ret, struct err *err)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, BUF_NO_LIMIT);
	for (int i = 0; i < n && rc == 0; i++) {
		rc = own_header_check(values[i], strlen(values[i]), false, err);
		buf_printf(&b, "%s%s", i ? "\n" : "", values[i]);
	}
	if (rc == 0)
		*ret = mem_strdup(buf_text(&b));
	buf_release(&b);
	return rc;
}

int requests_kept(const char *name, int n, char **values, char **ret, struct err *err)
{
	*ret = NULL;
	if (!n)
		return 0;
	if (!strcmp(name, "header"))
		return join_headers(n, values, ret, err);
	if (n > 1)
		return err_set(err, E_USAGE, "%s: one value, please", name);
	if (strcmp(name, "cookies") && strcmp(name, "credentials")) {
		*ret = mem_strdup(values[0]);
		return 0;
	}
	*ret = realpath(values[0], NULL);
	return *ret ? 0 : err_errno(err, E_IO, "%s: %s", name, values[0]);
}
