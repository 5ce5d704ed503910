/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - the file that names the store of a folder; see place.h. */
#include "repo/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "store"

static bool name_in(const char *folder, const char *name, char out[PLACE_SIZE])
{
	int n = snprintf(out, PLACE_SIZE, "%s/%s", folder, name);

	return n > 0 && n < PLACE_SIZE;
}

bool place_is_repository(const char *folder)
{
	char path[PLACE_SIZE];

	return (name_in(folder, "freshet.db", path) && access(path, F_OK) == 0) ||
	       (name_in(folder, NAME, path) && access(path, F_OK) == 0);
}

/* 1: it names a store; 0: there is no such file. */
static int read_name(const char *path, char ret[PLACE_SIZE], struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_errno(err, E_STORE, "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0)) {
		close(fd);
		return err_set(err, E_STORE, "%s: names a store, and is not your file; look at it, and "
		               "give that store by --store", path);
	}
	n = read(fd, ret, PLACE_SIZE - 1);
	close(fd);
	if (n < 0)
		return err_errno(err, E_STORE, "%s", path);
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	if (!*ret || strlen(ret) + 1 < (size_t)n || n == PLACE_SIZE - 1)
		return err_set(err, E_STORE, "%s: must have one line, what --store takes", path);
	return 1;
}

int place_find(const char *folder, char ret[PLACE_SIZE], struct err *err)
{
	char path[PLACE_SIZE];
	int rc;

	if (!name_in(folder, NAME, path) || !name_in(folder, "freshet.db", ret))
		return err_set(err, E_USAGE, "the path of the repository is too long");
	rc = access(ret, F_OK) ? read_name(path, ret, err) : 1;
	if (rc == 0 && !name_in(folder, "freshet.db", ret))
		rc = E_USAGE;
	return rc < 0 ? rc : 0;
}

int place_may_remember(const char *folder, struct err *err)
{
	char path[PLACE_SIZE];

	if (!name_in(folder, "freshet.db", path))
		return err_set(err, E_USAGE, "the path of the repository is too long");
	return access(path, F_OK) ? 0 :
		err_set(err, E_USAGE, "%s: the folder has tables of its own, and these are used; name a new "
		        "folder, or, after `freshet copy`, rename this file first", path);
}

int place_remember(const char *folder, const char *where, struct err *err)
{
	char path[PLACE_SIZE], now[PLACE_SIZE];
	struct buf text;
	bool left_out;
	int rc = 0, fd;

	if (!name_in(folder, NAME, path))
		return err_set(err, E_USAGE, "the path of the repository is too long");
	buf_init(&text, PLACE_SIZE - 2);
	left_out = place_without_password(where, &text);
	buf_byte(&text, '\n');
	if (text.full) {
		rc = err_set(err, E_USAGE, "the name of the store is too long");
	} else if (read_name(path, now, NULL) > 0 && strlen(now) + 1 == text.size &&
	           !memcmp(now, text.data, text.size - 1)) {
		rc = 0;                 /* as it is */
	} else if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0) {
		rc = errno == EEXIST ?
			err_set(err, E_USAGE, "%s: names another store; remove it if you mean the new one",
			        path) : err_errno(err, E_IO, "%s", path);
	} else {
		if (write(fd, text.data, text.size) != (ssize_t)text.size) {
			rc = err_errno(err, E_IO, "%s", path);
			unlink(path);
		}
		close(fd);
	}
	buf_release(&text);
	return rc < 0 ? rc : left_out;
}

/* After "scheme://": the user's password, if there is one, ends at the last @ before the
 * path begins. */
static const char *after_password(const char *authority, const char **ret_from)
{
	size_t size = strcspn(authority, "/?#");
	const char *at = memrchr(authority, '@', size);
	const char *colon = at ? memchr(authority, ':', (size_t)(at - authority)) : NULL;

	*ret_from = colon;
	return colon ? at : NULL;
}

/* What follows a parameter "password" (password=, or password = '...'); NULL: it is none. */
static const char *after_parameter(const char *s, bool is_url)
{
	if (strncasecmp(s, "password", 8))
		return NULL;
	s += 8;
	s += is_url ? 0 : strspn(s, " ");
	if (*s++ != '=')
		return NULL;
	s += is_url ? 0 : strspn(s, " ");
	if (!is_url && *s == '\'') {
		for (s++; *s && *s != '\''; s++)
			s += *s == '\\' && s[1];
		s += *s != '\0';
	} else {
		s += strcspn(s, is_url ? "&" : " ");
	}
	return s + (*s == '&' || *s == ' ');
}

bool place_without_password(const char *where, struct buf *ret)
{
	const char *scheme = strstr(where, "://"), *from, *rest;
	bool is_url = scheme && !memchr(where, ' ', (size_t)(scheme - where));
	bool removed = false;

	if (is_url && (rest = after_password(scheme + 3, &from))) {
		buf_add(ret, where, (size_t)(from - where));
		where = rest;
		removed = true;
	}
	while (*where) {
		bool begins = !ret->size || strchr("?& ", ret->data[ret->size - 1]);

		if (begins && (rest = after_parameter(where, is_url))) {
			where = rest;
			removed = true;
		} else {
			buf_byte(ret, *where++);
		}
	}
	return removed;
}
