/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - see reach.h. */
#include "base/sandbox/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that Debian's header does not have yet; behind each the version of Landlock. */
#define FS_TRUNCATE     (1ULL << 14)    /* 3 */
#define FS_IOCTL_DEV    (1ULL << 15)    /* 5 */
#define NET_BIND_TCP    (1ULL << 0)     /* 4 */
#define NET_CONNECT_TCP (1ULL << 1)     /* 4 */
#define SCOPE_ABSTRACT  (1ULL << 0)     /* 6 */
#define SCOPE_SIGNAL    (1ULL << 1)     /* 6 */
#define ALL_THREADS     (1u << 3)       /* 8 */

struct ruleset { uint64_t fs, net, scoped; };

#define FS_READS  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITES (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | \
                   LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE)
/* nobody here needs these */
#define FS_NEVER  (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | FS_IOCTL_DEV)
#define FS_OF_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
                     LANDLOCK_ACCESS_FS_EXECUTE | FS_TRUNCATE)

int reach_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
	                   LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

void reach_add(struct reach *r, const char *path, unsigned rights)
{
	if (path && *path)
		vec_push(&r->paths, ((struct reach_path){ mem_strdup(path), rights }));
}

void reach_add_folder(struct reach *r, const char *path, unsigned rights)
{
	const char *slash = strrchr(path, '/');
	char *folder = !slash ? mem_strdup(".") : slash == path ? mem_strdup("/") :
	               mem_strdup(path);

	if (slash && slash != path)
		folder[slash - path] = '\0';
	reach_add(r, folder, rights);
	free(folder);
}

void reach_add_output(struct reach *r, const char *path)
{
	char *at = mem_strdup(path), *slash;
	struct stat st;

	if (stat(at, &st) == 0 && !S_ISREG(st.st_mode)) {
		reach_add(r, at, S_ISDIR(st.st_mode) ? REACH_READ | REACH_WRITE : REACH_WRITE);
		free(at);
		return;
	}
	do {
		slash = strrchr(at, '/');
		if (slash)
			slash[slash == at] = '\0';
	} while (slash && slash != at && stat(at, &st));
	reach_add(r, slash ? at : ".", REACH_READ | REACH_WRITE);
	free(at);
}

void reach_release(struct reach *r)
{
	for (size_t i = 0; i < r->paths.n; i++)
		free(r->paths.v[i].path);
	vec_release(&r->paths);
}

static uint64_t fs_rights(unsigned rights)
{
	return (rights & REACH_READ ? FS_READS : 0) | (rights & REACH_WRITE ? FS_WRITES : 0) |
	       (rights & REACH_RUN ? LANDLOCK_ACCESS_FS_EXECUTE : 0);
}

/* What a kernel of this version knows. */
static uint64_t fs_known(int abi)
{
	uint64_t known = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;

	return known | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
}

static int add_rule(int set, uint64_t handled, const struct reach_path *p)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = fs_rights(p->rights) & handled };
	struct stat st;
	int rc = 0;

	rule.parent_fd = open(p->path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return 0;
	if (fstat(rule.parent_fd, &st) || !S_ISDIR(st.st_mode))
		rule.allowed_access &= FS_OF_FILES;
	/* pipes and the like, which /dev/fd leads to, take no rule and need none: EBADFD */
	if (rule.allowed_access && syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH,
	                                   &rule, 0) && errno != EBADFD && errno != EBADF)
		rc = errno;
	close(rule.parent_fd);
	return rc;
}

int reach_limit(const struct reach *r, const struct reach_limits *l)
{
	int abi = reach_abi(), set, rc = 0;
	struct ruleset rules = { 0 };

	if (abi < REACH_ABI_MIN)
		return ENOSYS;
	/* Landlock forbids moves between folders unless a ruleset handles and allows them */
	rules.fs = fs_rights(l->rights) | LANDLOCK_ACCESS_FS_REFER;
	if (l->rights & REACH_WRITE)
		rules.fs |= FS_NEVER;
	rules.fs &= fs_known(abi);
	if (abi >= 4)
		rules.net = (l->no_connect ? NET_CONNECT_TCP : 0) | (l->no_listen ? NET_BIND_TCP : 0);
	if (abi >= 6)
		rules.scoped = (l->no_signals ? SCOPE_SIGNAL : 0) | (l->no_abstract ? SCOPE_ABSTRACT : 0);
	set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
	if (set < 0)
		return errno;
	for (size_t i = 0; i < r->paths.n && rc == 0; i++)
		rc = add_rule(set, rules.fs, &r->paths.v[i]);
	if (rc == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	                syscall(SYS_landlock_restrict_self, set, abi >= 8 ? ALL_THREADS : 0)))
		rc = errno;
	close(set);
	return rc;
}
