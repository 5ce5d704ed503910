/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.c - see postgres.h. */
#include "demo/postgres.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define START_SECONDS 60

struct postgres {
	char programs[256];             /* their folder */
	char folder[64], data[80];      /* short: the path of a socket has 107 bytes at most */
	char url[160];
	uid_t user;
	gid_t group;
	pid_t server;
};

/* The folder of the newest version; false: there is none. */
static bool find_programs(char *ret, size_t size)
{
	static const char *const places[] = { "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
	                                      "/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin" };
	double best = -1;

	for (size_t i = 0; i < sizeof places / sizeof *places && best < 0; i++) {
		glob_t g;

		if (glob(places[i], 0, NULL, &g))
			continue;
		for (size_t k = 0; k < g.gl_pathc; k++) {
			const char *digits = strpbrk(g.gl_pathv[k], "0123456789");
			double version = digits ? strtod(digits, NULL) : 0;
			char program[300];
			bool whole = true;

			for (int p = 0; p < 2; p++) {
				snprintf(program, sizeof program, "%.250s/%s", g.gl_pathv[k],
				         p ? "initdb" : "postgres");
				whole = whole && !access(program, X_OK);
			}
			if (whole && version > best) {
				best = version;
				snprintf(ret, size, "%s", g.gl_pathv[k]);
			}
		}
		globfree(&g);
	}
	return best >= 0;
}

/* Run a program as the server's user; what it says goes into a file of the folder. */
static pid_t spawn(const struct postgres *p, const char *log, char *const *argv)
{
	char path[100];
	pid_t child = fork();
	int out;

	if (child)
		return child;
	snprintf(path, sizeof path, "%s/%s", p->folder, log);
	setsid();                       /* an interrupt at the keyboard is for us, not for it */
	out = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir("/"))
		_exit(126);
	if (!getuid() && (setgid(p->group) || setuid(p->user)))
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	execv(argv[0], argv);
	_exit(127);
}

/* The first line of the file that tells what went wrong. */
static int failed(const struct postgres *p, const char *log, const char *what, struct err *err)
{
	char path[100], line[200] = "";
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", p->folder, log);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f) && !strstr(line, "error") && !strstr(line, "FATAL"))
		;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return err_set(err, E_IO, "PostgreSQL %s: %s", what, *line ? line : "it says nothing");
}

static int make_cluster(struct postgres *p, struct err *err)
{
	char program[300];
	char *argv[] = { program, "-D", p->data, "-A", "trust", "-U", "freshet", "-E", "UTF8",
	                 "--locale=C", "-N", NULL };
	int status = 0;
	pid_t id;

	snprintf(program, sizeof program, "%s/initdb", p->programs);
	id = spawn(p, "init", argv);
	if (id < 0 || waitpid(id, &status, 0) < 0)
		return err_errno(err, E_IO, "%s", program);
	return status ? failed(p, "init", "cannot make its tables", err) : 0;
}

/* Line 8 of postmaster.pid says what the server is at. */
static bool is_ready(const struct postgres *p)
{
	char path[120], line[200];
	bool ready = false;
	FILE *f;

	snprintf(path, sizeof path, "%s/postmaster.pid", p->data);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		ready = !strncmp(line, "ready", 5);
	if (f)
		fclose(f);
	return ready;
}

static int start_server(struct postgres *p, struct err *err)
{
	char program[300];
	char *argv[] = { program, "-D", p->data, "-k", p->folder, "-c", "listen_addresses=",
	                 "-c", "fsync=off", "-c", "max_connections=300", "-c", "shared_buffers=32MB",
	                 "-c", "jit=off", NULL };
	struct timespec t = { 0, 20000000 };

	snprintf(program, sizeof program, "%s/postgres", p->programs);
	p->server = spawn(p, "log", argv);
	if (p->server < 0)
		return err_errno(err, E_IO, "%s", program);
	for (int i = 0; i < START_SECONDS * 50; i++) {
		if (is_ready(p))
			return 0;
		if (waitpid(p->server, NULL, WNOHANG) == p->server) {
			p->server = 0;
			break;
		}
		nanosleep(&t, NULL);
	}
	return failed(p, "log", "does not start", err);
}

int postgres_start(struct postgres **ret, struct err *err)
{
	const struct passwd *user = getpwnam("postgres");
	struct postgres *p = mem_zalloc(1, sizeof *p);
	int rc;

	if (!find_programs(p->programs, sizeof p->programs)) {
		free(p);
		return err_set(err, E_USAGE, "there is no PostgreSQL on this machine: install it (Debian: "
		               "apt-get install postgresql), or name a database with --store "
		               "postgresql://host/database");
	}
	user = user ? user : getpwnam("nobody");
	snprintf(p->folder, sizeof p->folder, "/tmp/freshet-pg.XXXXXX");
	if (!mkdtemp(p->folder)) {
		free(p);
		return err_errno(err, E_IO, "/tmp");
	}
	snprintf(p->data, sizeof p->data, "%s/data", p->folder);
	snprintf(p->url, sizeof p->url, "postgresql:///postgres?user=freshet&host=%s", p->folder);
	rc = 0;
	if (!getuid()) {
		p->user = user ? user->pw_uid : 0;
		p->group = user ? user->pw_gid : 0;
		if (!user || chown(p->folder, p->user, p->group))
			rc = err_set(err, E_IO, "%s: no user that PostgreSQL could run as", p->folder);
	}
	if (rc == 0)
		rc = make_cluster(p, err);
	if (rc == 0)
		rc = start_server(p, err);
	if (rc < 0)
		postgres_stop(p);
	else
		*ret = p;
	return rc;
}

const char *postgres_url(const struct postgres *p)
{
	return p->url;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

void postgres_stop(struct postgres *p)
{
	if (!p)
		return;
	if (p->server > 0) {
		kill(p->server, SIGQUIT);
		waitpid(p->server, NULL, 0);
	}
	nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p);
}
