/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine_system.c - see confine_system.h.
 *
 * Of /etc a command may read what the C library, TLS and libpq read there: no keys, no
 * passwords of the system.
 *
 * A rule holds for the file that was there at the beginning.  Who moves between networks has
 * /etc/resolv.conf replaced, if it is a plain file, and a crawl would reach nobody from then
 * on: there a crawl may read all of /etc.  Where it leads to another folder (/run), or is
 * mounted, the folder or the file is enough.
 */
#include "cli/frame/confine_system.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESOLVER "/etc/resolv.conf"
#define SERVICES_MAX 65536              /* bytes of a service file that are looked at */

static void add_all(struct reach *r, const char *const *paths, size_t n, unsigned rights)
{
	for (size_t i = 0; i < n; i++)
		reach_add(r, paths[i], rights);
}
#define ADD_ALL(r, paths, rights) add_all(r, paths, sizeof (paths) / sizeof *(paths), rights)

static void add_temporary(struct reach *r)
{
	static const char *const usual[] = { "/var/tmp", "/tmp" };
	const char *const named[] = { getenv("TMPDIR"), getenv("SQLITE_TMPDIR") };

	if ((named[0] && *named[0]) || (named[1] && *named[1]))
		ADD_ALL(r, named, REACH_READ | REACH_WRITE);
	else
		ADD_ALL(r, usual, REACH_READ | REACH_WRITE);
}

/* Is the file of the resolver one that is replaced in /etc? */
static bool resolver_is_replaced(void)
{
	struct stat file, folder;

	return lstat(RESOLVER, &file) == 0 && S_ISREG(file.st_mode) &&
	       stat("/etc", &folder) == 0 && file.st_dev == folder.st_dev;
}

static void add_network(struct reach *r, bool crawls)
{
	static const char *const paths[] = {
		/* the C library */
		RESOLVER, "/etc/resolvconf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
		"/etc/services", "/etc/protocols", "/etc/networks", "/run/systemd/resolve",
		"/run/resolvconf", "/run/NetworkManager", "/run/nscd",
		/* TLS */
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
		"/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust",
		"/etc/ca-certificates", "/etc/crypto-policies", "/etc/gnutls", "/etc/pkcs11",
		"/usr/local/share/ca-certificates", "/var/lib/ca-certificates",
		/* libpq */
		"/etc/postgresql-common", "/etc/krb5.conf", "/etc/krb5.conf.d", "/etc/gss",
		"/etc/ldap/ldap.conf", "/etc/openldap/ldap.conf",
	};
	char leads_to[PATH_MAX];

	ADD_ALL(r, paths, REACH_READ);
	if (crawls && resolver_is_replaced())
		reach_add(r, "/etc", REACH_READ);
	else if (realpath(RESOLVER, leads_to) && strncmp(leads_to, "/etc/", 5))
		reach_add_folder(r, leads_to, REACH_READ);
}

void confine_connection(struct reach *r, const char *text)
{
	for (const char *at = text; (at = strstr(at, "=/")); ) {
		size_t size = strcspn(++at, "& '\r\n");
		char path[PATH_MAX];

		if (size < sizeof path) {
			memcpy(path, at, size);
			path[size] = '\0';
			reach_add(r, path, REACH_READ);
		}
	}
}

/* Files that a service file of libpq names. */
static void add_services(struct reach *r, const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char *text;
	ssize_t n;

	if (fd < 0)
		return;
	text = mem_alloc(SERVICES_MAX + 1);
	n = read(fd, text, SERVICES_MAX);
	text[n < 0 ? 0 : n] = '\0';
	confine_connection(r, text);
	free(text);
	close(fd);
}

static void add_at_home(struct reach *r)
{
	static const char *const names[] = { ".pgpass", ".pg_service.conf", ".postgresql" };
	const char *home = getenv("HOME");

	for (size_t i = 0; home && i < sizeof names / sizeof *names; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof path, "%s/%s", home, names[i]) >= (int)sizeof path)
			continue;
		reach_add(r, path, REACH_READ);
		if (i == 1)
			add_services(r, path);
	}
}

void confine_system(struct reach *r, bool network, bool crawls)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };
	static const char *const always[] = {
		"/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share", "/proc",
		"/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/etc/localtime",
		"/etc/ld.so.cache", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/machine-id",
		"/proc/self/exe",
	};
	static const char *const names[] = {
		"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "OPENSSL_CONF", "PGPASSFILE",
		"PGSERVICEFILE", "PGSYSCONFDIR", "PGSSLCERT", "PGSSLKEY", "PGSSLROOTCERT", "PGSSLCRL",
		"TZDIR",
	};

	add_temporary(r);
	ADD_ALL(r, devices, REACH_READ | REACH_WRITE);
	ADD_ALL(r, always, REACH_READ);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		reach_add(r, getenv(names[i]), REACH_READ);
	if (!network)
		return;
	add_network(r, crawls);
	add_at_home(r);
	add_services(r, getenv("PGSERVICEFILE"));
	add_services(r, "/etc/postgresql-common/pg_service.conf");
}

void confine_own_program(struct reach *r)
{
	static const char *const loads[] = { "/usr/lib", "/lib", "/lib64" };

	reach_add(r, "/proc/self/exe", REACH_RUN | REACH_READ);
	ADD_ALL(r, loads, REACH_RUN);
}
