/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_folder.c - the repository's folder: permissions, space, who is at work. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

#define MIB (1024.0 * 1024)
#define GIB (1024 * MIB)
#define SPACE_WRONG (0.05 * GIB)
#define SPACE_ADVICE GIB
#define PART_ADVICE 0.05                /* of the disk, or of its numbers of files */

static void size_text(double bytes, char out[32])
{
	snprintf(out, 32, "%.1f %s", bytes / (bytes < GIB ? MIB : GIB), bytes < GIB ? "MiB" : "GiB");
}

static void check_space(struct doctor *d)
{
	struct statvfs v;
	double left, of, files;
	char left_text[32], of_text[32];

	if (statvfs(d->folder, &v) || !v.f_blocks)
		return;
	left = (double)v.f_bavail * (double)v.f_frsize;
	of = (double)v.f_blocks * (double)v.f_frsize;
	files = v.f_files ? (double)v.f_favail / (double)v.f_files : 1;
	size_text(left, left_text);
	size_text(of, of_text);
	if (left < SPACE_WRONG)
		doctor_find(d, "disk", VERDICT_WRONG, "%s left of %s|make room: a cycle ends when an "
		            "archive cannot be written", left_text, of_text);
	else if (left < SPACE_ADVICE || left < PART_ADVICE * of)
		doctor_find(d, "disk", VERDICT_ADVICE, "%s left of %s|make room before it is full",
		            left_text, of_text);
	else
		doctor_find(d, "disk", VERDICT_GOOD, "%s left of %s", left_text, of_text);
	if (files < PART_ADVICE)
		doctor_find(d, "disk", VERDICT_ADVICE, "%.1f %% of the files that the disk can hold "
		            "are left|delete or pack small files", 100 * files);
}

/* One file or folder of the repository: can it be written, and by whom? */
static void check_path(struct doctor *d, const char *name, bool required)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof path, "%.4000s%s%s", d->folder, *name ? "/" : "", name);
	if (stat(path, &st)) {
		if (required)
			doctor_find(d, "permissions", VERDICT_WRONG, "%s: %s|freshet init makes what is "
			            "missing", path, strerror(errno));
		return;
	}
	if (access(path, R_OK | W_OK | (S_ISDIR(st.st_mode) ? X_OK : 0)))
		doctor_find(d, "permissions", VERDICT_WRONG, "%s: %s (owner %u, you are %u)|run as "
		            "its owner, or chown it", path, strerror(errno), (unsigned)st.st_uid,
		            (unsigned)geteuid());
	else if (st.st_mode & S_IWOTH)
		doctor_find(d, "permissions", VERDICT_ADVICE, "%s: everyone on this machine may "
		            "write it|chmod o-w", path);
}

static void check_permissions(struct doctor *d)
{
	size_t before = d->findings.n;

	check_path(d, "", true);
	check_path(d, "warc", true);
	check_path(d, "freshet.db", false);
	if (d->findings.n == before)
		doctor_find(d, "permissions", VERDICT_GOOD, "the folder can be written");
}

void doctor_work(struct doctor *d)
{
	char path[4096];
	unsigned n_open = 0;
	bool taken = false;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof path, "%.4000s/warc", d->folder);
	dir = opendir(path);
	if (!dir)
		return;
	taken = store_lock(d->store, NULL) == E_BUSY;
	store_unlock(d->store);
	while ((e = readdir(dir))) {
		size_t size = strlen(e->d_name);

		n_open += size > 5 && !strcmp(e->d_name + size - 5, ".open");
	}
	closedir(dir);
	if (taken)
		doctor_find(d, "work", VERDICT_GOOD, "another freshet is at work on this repository");
	else if (n_open)
		doctor_find(d, "work", VERDICT_ADVICE, "%u archive%s of a cycle that broke off|the next "
		            "`freshet cycle` goes on with it", n_open, n_open == 1 ? "" : "s");
	else
		doctor_find(d, "work", VERDICT_GOOD, "nobody is at work on this repository");
}

void doctor_folder(struct doctor *d)
{
	check_permissions(d);
	check_space(d);
}
