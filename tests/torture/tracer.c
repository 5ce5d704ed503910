/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracer.c - runs a program and has one of its system calls fail, be short, or be its last;
 * or writes down what it does to its files.
 *
 *   tracer --under DIR [--at N ACTION [--on]] [--count FILE] [--record FILE] -- COMMAND...
 *
 * Calls that concern files below DIR are points, numbered from 1 in the order they come: open,
 * read, write, fsync, rename, unlink, ftruncate, mkdir, and their kin.  ACTION at point N:
 * EIO, ENOSPC, EINTR, EMFILE: the call fails so and does nothing; short: half of the bytes are
 * read or written; kill: the program is killed before the call.  --on: and at all later
 * points of the same kind.  An error that the call cannot have (ENOSPC of a read) is not
 * given; exit status 99 says that nothing was done.
 *
 * It works by ptrace, with a filter (seccomp) that stops only at these calls: so it sees what
 * libraries do (stdio, SQLite), needs no other build, and works under sanitizers.  Maps of
 * files are not seen; only SQLite's index of its log is written through one, which is made
 * anew after a crash.
 *
 * The record is lines of JSON: {"op":"write","path":P,"at":N,"data":HEX}, and truncate, create,
 * fsync, rename, unlink, mkdir; and "end", when the program has ended.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, RENAME, UNLINK, TRUNCATE, MKDIR, N_KINDS };
static const char *const kinds[] = { "open", "read", "write", "sync", "rename", "unlink",
                                     "truncate", "mkdir" };

static const struct call { int nr; enum kind kind; } calls[] = {
	{ SYS_open, OPEN }, { SYS_openat, OPEN }, { SYS_read, READ }, { SYS_pread64, READ },
	{ SYS_readv, READ }, { SYS_write, WRITE }, { SYS_pwrite64, WRITE }, { SYS_writev, WRITE },
	{ SYS_fsync, SYNC }, { SYS_fdatasync, SYNC }, { SYS_rename, RENAME },
	{ SYS_renameat, RENAME }, { SYS_renameat2, RENAME }, { SYS_unlink, UNLINK },
	{ SYS_unlinkat, UNLINK }, { SYS_rmdir, UNLINK }, { SYS_ftruncate, TRUNCATE },
	{ SYS_mkdir, MKDIR }, { SYS_mkdirat, MKDIR },
};
#define N_CALLS (sizeof calls / sizeof *calls)

static const char *under, *action;
static size_t under_size;
static long at_point, n_points;
static int at_kind = -1, on;
static int done;                        /* the action was taken */
static FILE *count_to, *record_to;

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(98);
}

static void run(char **command)
{
	struct sock_filter filter[N_CALLS + 8];
	struct sock_fprog program = { .filter = filter };
	unsigned short n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N_CALLS; i++)
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		              (unsigned)calls[i].nr, (unsigned char)(N_CALLS - i), 0);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	program.len = n;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("tracer");
	execvp(command[0], command);
	die(command[0]);
}

static int read_memory(pid_t pid, unsigned long long at, void *out, size_t size)
{
	struct iovec here = { out, size }, there = { (void *)(size_t)at, size };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static void read_text(pid_t pid, unsigned long long at, char out[PATH_MAX])
{
	size_t n = 0;

	while (n < PATH_MAX - 1 && read_memory(pid, at + n, out + n, 1) && out[n])
		n++;
	out[n] = '\0';
}

/* The path of a descriptor, or "". */
static void path_of(pid_t pid, long long fd, char out[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if ((int)fd == AT_FDCWD)
		snprintf(link, sizeof link, "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, (int)fd);
	n = readlink(link, out, PATH_MAX - 1);
	out[n < 0 ? 0 : n] = '\0';
}

/* An argument that is a path, made whole. */
static void path_at(pid_t pid, long long fd, unsigned long long text, char out[2 * PATH_MAX])
{
	char name[PATH_MAX], folder[PATH_MAX] = "";
	char *dots;

	read_text(pid, text, name);
	if (name[0] != '/')
		path_of(pid, fd, folder);
	snprintf(out, 2 * PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);
	while ((dots = strstr(out, "/./")))
		memmove(dots, dots + 2, strlen(dots + 2) + 1);
	while ((dots = strstr(out, "//")))
		memmove(dots, dots + 1, strlen(dots));
}

static int is_under(const char *path)
{
	return !strncmp(path, under, under_size) && (path[under_size] == '/' || !path[under_size]);
}

/* What a call is about. */
struct about {
	enum kind kind;
	int nr;
	char path[2 * PATH_MAX], to[2 * PATH_MAX];
	int open_flags;
};

static int find_about(pid_t pid, const struct user_regs_struct *r, struct about *a)
{
	size_t i;

	for (i = 0; i < N_CALLS && calls[i].nr != (int)r->orig_rax; i++)
		;
	if (i == N_CALLS)
		return 0;
	a->kind = calls[i].kind;
	a->nr = calls[i].nr;
	switch (a->nr) {
	case SYS_open: path_at(pid, AT_FDCWD, r->rdi, a->path); a->open_flags = (int)r->rsi; break;
	case SYS_openat: path_at(pid, (long long)r->rdi, r->rsi, a->path); a->open_flags = (int)r->rdx; break;
	case SYS_rename: path_at(pid, AT_FDCWD, r->rdi, a->path); path_at(pid, AT_FDCWD, r->rsi, a->to); break;
	case SYS_renameat: case SYS_renameat2:
		path_at(pid, (long long)r->rdi, r->rsi, a->path);
		path_at(pid, (long long)r->rdx, r->r10, a->to);
		break;
	case SYS_unlink: case SYS_rmdir: case SYS_mkdir: path_at(pid, AT_FDCWD, r->rdi, a->path); break;
	case SYS_unlinkat: case SYS_mkdirat: path_at(pid, (long long)r->rdi, r->rsi, a->path); break;
	default: path_of(pid, (long long)r->rdi, a->path);
	}
	return is_under(a->path);
}

/* Can this call fail so? */
static int can(const struct about *a, int error)
{
	switch (error) {
	case ENOSPC: return a->kind == WRITE || a->kind == TRUNCATE || a->kind == MKDIR ||
	                    a->kind == RENAME || (a->kind == OPEN && a->open_flags & O_CREAT) ||
	                    a->kind == SYNC;
	case EINTR: return a->kind == READ || a->kind == WRITE;
	case EMFILE: return a->kind == OPEN;
	default: return a->kind != OPEN || 1;
	}
}

static int error_of(const char *name)
{
	return !strcmp(name, "EIO") ? EIO : !strcmp(name, "ENOSPC") ? ENOSPC :
	       !strcmp(name, "EINTR") ? EINTR : !strcmp(name, "EMFILE") ? EMFILE : 0;
}

/* Take the action at this call; 1: the program is gone. */
static int act(pid_t pid, struct user_regs_struct *r, const struct about *a)
{
	int error = error_of(action);

	if (!strcmp(action, "kill")) {
		done = 1;
		kill(pid, SIGKILL);
		return 1;
	}
	if (error && can(a, error)) {
		done = 1;
		at_kind = (int)a->kind;
		r->orig_rax = (unsigned long long)-1;
		r->rax = (unsigned long long)-error;
		if (ptrace(PTRACE_SETREGS, pid, NULL, r))
			die("setregs");
	} else if (!strcmp(action, "short") && r->rdx > 1 &&
	           (a->nr == SYS_read || a->nr == SYS_write || a->nr == SYS_pread64 ||
	            a->nr == SYS_pwrite64)) {
		done = 1;
		at_kind = (int)a->kind;
		r->rdx /= 2;
		if (ptrace(PTRACE_SETREGS, pid, NULL, r))
			die("setregs");
	}
	return 0;
}

/* ---- recording ---- */

static void put_path(const char *key, const char *path)
{
	fprintf(record_to, ",\"%s\":\"%s\"", key, path + under_size + (path[under_size] == '/'));
}

static long long position(pid_t pid, long long fd)
{
	char path[64], line[200];
	long long at = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, (int)fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "pos: %lld", &at);
	if (f)
		fclose(f);
	return at;
}

/* Is it opened to append? */
static int appends(pid_t pid, long long fd)
{
	char path[64], line[200];
	unsigned flags = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, (int)fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "flags: %o", &flags);
	if (f)
		fclose(f);
	return (flags & O_APPEND) != 0;
}

static void put_data(pid_t pid, unsigned long long at, size_t size)
{
	unsigned char *data = malloc(size + 1);

	if (!data || !read_memory(pid, at, data, size))
		die("memory of the program");
	for (size_t i = 0; i < size; i++)
		fprintf(record_to, "%02x", data[i]);
	free(data);
}

/* Before the call is made: what it will do.  (Calls that fail are rare here: the record is of
 * runs that nothing is done to.) */
static void record(pid_t pid, const struct user_regs_struct *r, const struct about *a)
{
	struct stat st;

	if (a->kind == READ || (a->kind == OPEN && !(a->open_flags & (O_CREAT | O_TRUNC))))
		return;
	if (a->kind == OPEN && (a->open_flags & O_CREAT) && !(a->open_flags & O_TRUNC) &&
	    stat(a->path, &st) == 0)
		return;                 /* it is there */
	fprintf(record_to, "{\"op\":\"%s\"", a->kind == OPEN ? "create" : kinds[a->kind]);
	put_path("path", a->path);
	if (a->kind == RENAME)
		put_path("to", a->to);
	if (a->kind == TRUNCATE)
		fprintf(record_to, ",\"size\":%lld", (long long)r->rsi);
	if (a->kind == WRITE) {
		long long at = a->nr == SYS_pwrite64 ? (long long)r->r10 :
		               appends(pid, (long long)r->rdi) && stat(a->path, &st) == 0 ?
		               (long long)st.st_size : position(pid, (long long)r->rdi);

		fprintf(record_to, ",\"at\":%lld,\"data\":\"", at);
		if (a->nr == SYS_writev) {
			for (unsigned long long i = 0; i < r->rdx; i++) {
				struct iovec v;

				if (!read_memory(pid, r->rsi + i * sizeof v, &v, sizeof v))
					die("memory of the program");
				put_data(pid, (unsigned long long)(size_t)v.iov_base, v.iov_len);
			}
		} else {
			put_data(pid, r->rsi, r->rdx);
		}
		fputc('"', record_to);
	}
	fputs("}\n", record_to);
}

/* ---- the loop ---- */

static int see(pid_t pid)
{
	struct user_regs_struct r;
	struct about a = { 0 };

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		return 0;
	if (!find_about(pid, &r, &a))
		return 0;
	n_points++;
	if (count_to)
		fprintf(count_to, "%ld %s %s\n", n_points, kinds[a.kind], a.path + under_size);
	if (record_to)
		record(pid, &r, &a);
	if (action && (n_points == at_point || (on && done && n_points > at_point &&
	                                        (int)a.kind == at_kind)))
		return act(pid, &r, &a);
	return 0;
}

static void follow(pid_t first)
{
	int status, result = 0;
	pid_t pid = waitpid(first, &status, 0);

	if (pid < 0 || ptrace(PTRACE_SETOPTIONS, first, NULL, PTRACE_O_TRACESECCOMP |
	                      PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	                      PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		die("trace");
	ptrace(PTRACE_CONT, first, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == first)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			continue;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
			see(pid);
		else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP &&
		         WSTOPSIG(status) != SIGTRAP)
			sig = WSTOPSIG(status);
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	}
	if (record_to)
		fputs("{\"op\":\"end\"}\n", record_to);
	if (count_to)
		fclose(count_to);
	if (record_to)
		fclose(record_to);
	exit(action && !done ? 99 : result);
}

int main(int argc, char **argv)
{
	int i;
	pid_t pid;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--under") && i + 1 < argc)
			under = realpath(argv[++i], NULL);
		else if (!strcmp(argv[i], "--at") && i + 2 < argc)
			at_point = atol(argv[i + 1]), action = argv[i + 2], i += 2;
		else if (!strcmp(argv[i], "--on"))
			on = 1;
		else if (!strcmp(argv[i], "--count") && i + 1 < argc)
			count_to = fopen(argv[++i], "w");
		else if (!strcmp(argv[i], "--record") && i + 1 < argc)
			record_to = fopen(argv[++i], "w");
	}
	if (!under || i + 1 >= argc) {
		fprintf(stderr, "usage: tracer --under DIR [--at N ACTION [--on]] [--count FILE] [--record "
		        "FILE] -- COMMAND...\n");
		return 2;
	}
	under_size = strlen(under);
	pid = fork();
	if (pid == 0)
		run(argv + i + 1);
	if (pid < 0)
		die("fork");
	follow(pid);
}
