/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - see calls.h. */
#include "base/sandbox/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum group {
	GROUP_COMPUTE, GROUP_PROCESS, GROUP_FILES, GROUP_MESSAGES, GROUP_NETWORK, GROUP_LOCAL,
	GROUP_LISTEN, GROUP_RUN, GROUP_NEVER,
};

struct names { enum group group; const char *const *names; };
struct only { const char *name; uint64_t mask, value; enum group group; unsigned argument; };

#define ALL_BITS UINT64_MAX
#define ONLY(...)
#define CALLS(group, ...) { GROUP_##group, (const char *const []){ __VA_ARGS__, NULL } },
static const struct names groups[] = {
#include "base/sandbox/calls.def"
};
#undef CALLS
#undef ONLY
#define CALLS(...)
#define ONLY(group, name, argument, mask, value) { name, mask, value, GROUP_##group, argument },
static const struct only onlys[] = {
#include "base/sandbox/calls.def"
};
#undef ONLY
#undef CALLS

bool calls_known(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* What happens to the calls of a group. */
static uint32_t action_of(enum group g, enum calls_kind kind, bool local)
{
	static const enum calls_kind from[] = {
		[GROUP_COMPUTE] = CALLS_READER, [GROUP_PROCESS] = CALLS_FILES,
		[GROUP_FILES] = CALLS_FILES, [GROUP_MESSAGES] = CALLS_FILES,
		[GROUP_NETWORK] = CALLS_NETWORK, [GROUP_LOCAL] = CALLS_NETWORK,
		[GROUP_LISTEN] = CALLS_LISTENER, [GROUP_RUN] = CALLS_SERVICE,
	};

	if (g == GROUP_NEVER)
		return SCMP_ACT_KILL_PROCESS;
	if (kind >= from[g] && (g != GROUP_LOCAL || local))
		return SCMP_ACT_ALLOW;
	if (kind == CALLS_READER)
		return SCMP_ACT_KILL_PROCESS;
	/* libraries ask for names of users and hosts over sockets, and do without */
	return g == GROUP_RUN ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(ENOSYS);
}

/* Leaks are looked for by a process that traces this one. */
static bool is_of_sanitizer(int call)
{
	return CALLS_SANITIZED && (call == SCMP_SYS(ptrace) || call == SCMP_SYS(process_vm_readv));
}

static int add_groups(scmp_filter_ctx f, enum calls_kind kind, bool local, uint32_t otherwise)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof groups / sizeof *groups && rc == 0; i++) {
		uint32_t action = action_of(groups[i].group, kind, local);

		for (const char *const *n = groups[i].names; *n && rc == 0; n++) {
			int call = seccomp_syscall_resolve_name(*n);

			if (call == __NR_SCMP_ERROR || action == otherwise)
				continue;
			rc = seccomp_rule_add(f, is_of_sanitizer(call) ? SCMP_ACT_ALLOW : action, call, 0);
			if (rc == -EDOM)        /* no call of this machine */
				rc = 0;
		}
	}
	return rc;
}

/* Calls that may be made with some arguments.  Where the bits above those of an int are not looked
 * at by the kernel they must be zero, as the C library has them. */
static int add_onlys(scmp_filter_ctx f, enum calls_kind kind, bool local)
{
	int rc = 0;

	for (const struct only *o = onlys; o < onlys + sizeof onlys / sizeof *onlys && rc == 0; o++) {
		int call = seccomp_syscall_resolve_name(o->name);

		if (call == __NR_SCMP_ERROR || action_of(o->group, kind, local) != SCMP_ACT_ALLOW)
			continue;
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, call, 1,
		                      SCMP_CMP64(o->argument, SCMP_CMP_MASKED_EQ, o->mask, o->value));
		if (rc == -EDOM)        /* no call of this machine */
			rc = 0;
	}
	if (rc == 0 && CALLS_SANITIZED && kind != CALLS_READER)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 0);
	return rc;
}

/* A reader may have memory, but none that can be run or that comes from a file; and may abort
 * itself, so that it is seen what it died of. */
static int add_reader(scmp_filter_ctx f)
{
	int rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
	                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
	                          SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	if (rc == 0)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
		                      SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (rc == 0)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
		                      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	return rc ? rc : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigprocmask), 0);
}

int calls_limit(enum calls_kind kind, bool local)
{
	bool reader = kind == CALLS_READER;
	uint32_t otherwise = reader ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(ENOSYS);
	scmp_filter_ctx f;
	int rc;

	if (!calls_known())
		return ENOSYS;
	f = seccomp_init(otherwise);
	if (!f)
		return ENOMEM;
	rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);  /* a tree, not a list */
	if (rc == 0)
		rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	if (rc == 0)
		rc = add_groups(f, kind, local, otherwise);
	if (rc == 0)
		rc = reader ? add_reader(f) : add_onlys(f, kind, local);
	if (rc == 0)
		rc = seccomp_load(f);           /* sets no_new_privs */
	seccomp_release(f);
	return -rc;
}
