/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - read the settings, match no_proxy; see proxy.h. */
#include "fetch/proxy.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

/* "host:port" means http; socks4 and socks5 become the forms that leave the
 * name to the proxy. */
static int normal(const char *text, char **ret, struct err *err)
{
	static const char *const schemes[][2] = {
		{ "http://", "http://" }, { "https://", "https://" },
		{ "socks4a://", "socks4a://" }, { "socks5h://", "socks5h://" },
		{ "socks4://", "socks4a://" }, { "socks5://", "socks5h://" },
		{ "socks://", "socks5h://" },
	};
	const char *scheme = "http://";
	struct buf b;

	for (const char *s = text; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return err_set(err, E_USAGE, "proxy: blank or control byte in it");
	if (strstr(text, "://")) {
		size_t i, n = sizeof schemes / sizeof *schemes;

		for (i = 0; i < n; i++)
			if (!strncasecmp(text, schemes[i][0], strlen(schemes[i][0])))
				break;
		if (i == n)
			return err_set(err, E_USAGE, "proxy: use http://, https://, "
			               "socks4a:// or socks5h://");
		text += strlen(schemes[i][0]);
		scheme = schemes[i][1];
	}
	buf_init(&b, 4096);
	buf_printf(&b, "%s%s", scheme, text);
	if (b.full || !*text) {
		buf_release(&b);
		return err_set(err, E_USAGE, "proxy: %s", *text ? "too long" : "no host");
	}
	*ret = b.data;
	return 0;
}

static const char *first_of(char *(*env)(const char *), const char *const *names)
{
	for (; *names; names++) {
		const char *v = env ? env(*names) : NULL;

		if (v && *v)
			return v;
	}
	return NULL;
}

int proxy_init(struct proxy *p, const char *explicit, const char *except,
               char *(*env)(const char *name), struct err *err)
{
	static const char *const http[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL };
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
		"ALL_PROXY", NULL };
	static const char *const none[] = { "no_proxy", "NO_PROXY", NULL };
	const char *a = explicit ? explicit : first_of(env, http);
	const char *b = explicit ? explicit : first_of(env, https);
	int r = 0;

	*p = (struct proxy){ 0 };
	if (!except && !explicit)
		except = first_of(env, none);
	if (a && *a)
		r = normal(a, &p->http, err);
	if (!r && b && *b)
		r = normal(b, &p->https, err);
	if (!r && except && *except)
		p->except = mem_strdup(except);
	if (r)
		proxy_release(p);
	return r;
}

void proxy_release(struct proxy *p)
{
	free(p->http);
	free(p->https);
	free(p->except);
	*p = (struct proxy){ 0 };
}

/* Is the address `host` in the network `net` (address or CIDR)? */
static bool in_net(const char *host, const char *net, size_t size)
{
	uint8_t a[16], b[16];
	char text[64];
	unsigned bits = 128;
	char *slash;
	int family = strchr(host, ':') ? AF_INET6 : AF_INET;

	if (size >= sizeof text || inet_pton(family, host, a) != 1)
		return false;
	memcpy(text, net, size);
	text[size] = '\0';
	slash = strchr(text, '/');
	if (slash) {
		*slash = '\0';
		if (sscanf(slash + 1, "%3u", &bits) != 1)
			return false;
	}
	if (inet_pton(family, text, b) != 1)
		return false;
	if (bits > (family == AF_INET ? 32u : 128u))
		bits = family == AF_INET ? 32 : 128;
	for (unsigned i = 0; i < bits; i++)
		if ((a[i / 8] ^ b[i / 8]) & (0x80u >> (i % 8)))
			return false;
	return true;
}

static bool excepted(const char *list, const char *host)
{
	size_t host_size = strlen(host);

	while (*list) {
		size_t n = strcspn(list, ", ");
		const char *s = list;

		list += n;
		list += strspn(list, ", ");
		if (n == 1 && *s == '*')
			return true;
		if (n && s[n - 1] == '.')
			n--;
		if (n && *s == '.')
			s++, n--;
		if (!n)
			continue;
		if (in_net(host, s, n))
			return true;
		if (host_size >= n && !strncasecmp(host + host_size - n, s, n) &&
		    (host_size == n || host[host_size - n - 1] == '.'))
			return true;
	}
	return false;
}

const char *proxy_for(const struct proxy *p, bool https, const char *host)
{
	const char *proxy = https ? p->https : p->http;

	return proxy && p->except && excepted(p->except, host) ? NULL : proxy;
}
