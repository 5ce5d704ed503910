/* SPDX-License-Identifier: Apache-2.0 */
/* cachefile.c - see cachefile.h. */
#include "engine/view/cachefile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/map.h"

#define FORMAT "freshet 6 " FRESHET_VERSION
#define PATH_SIZE 4200

struct head { char format[32]; uint64_t origin; };

/* A hash of this machine, this user and this very file: the origin in its head. */
static bool find_origin(FILE *file, uint64_t *ret)
{
	char machine[64] = "";
	FILE *f = fopen("/etc/machine-id", "re");
	struct stat st;
	uint64_t numbers[3];

	if (f) {
		size_t n = fread(machine, 1, sizeof machine, f);

		(void)n;
		fclose(f);
	}
	if (fstat(fileno(file), &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	numbers[0] = (uint64_t)st.st_dev;
	numbers[1] = (uint64_t)st.st_ino;
	numbers[2] = (uint64_t)st.st_uid;
	*ret = hash_bytes(numbers, sizeof numbers, hash_bytes(machine, sizeof machine, 0));
	return true;
}

static bool find_name(const char *store, const char *end, char ret[PATH_SIZE])
{
	return store && snprintf(ret, PATH_SIZE, "%s%s", store, end) < PATH_SIZE;
}

static bool read_head(struct frozen *f, void *about, size_t size)
{
	struct head h;
	uint64_t origin;
	struct stat st;

	if (!find_origin(f->file, &origin) || fstat(fileno(f->file), &st) < 0 ||
	    st.st_size < (off_t)(sizeof h + size + sizeof f->hash))
		return false;
	f->left = (uint64_t)st.st_size - sizeof f->hash;
	frozen_value(f, &h);
	frozen_bytes(f, about, size);
	return !f->bad && h.origin == origin && !memcmp(h.format, (char[32]){ FORMAT }, 32);
}

bool cachefile_open(struct frozen *f, const char *store, const char *end, void *about,
                    size_t size)
{
	char name[PATH_SIZE];
	int fd;

	*f = (struct frozen){ .thaw = true };
	if (!find_name(store, end, name) || (fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	                                               O_NONBLOCK)) < 0)
		return false;
	f->file = fdopen(fd, "rb");
	if (!f->file) {
		close(fd);
		return false;
	}
	if (!read_head(f, about, size)) {
		fclose(f->file);
		return false;
	}
	return true;
}

bool cachefile_close(struct frozen *f)
{
	uint64_t hash = frozen_hash(f), kept = ~hash;
	bool whole = !f->bad && !f->left &&
		fread(&kept, 1, sizeof kept, f->file) == sizeof kept;

	fclose(f->file);
	return whole && kept == hash;
}

enum cachefile_state cachefile_check(const char *store, const char *end)
{
	struct frozen f;
	char bytes[4096];
	enum cachefile_state state = CACHEFILE_FOREIGN;

	if (!cachefile_open(&f, store, end, NULL, 0)) {
		char name[PATH_SIZE];

		return !find_name(store, end, name) || access(name, F_OK) ? CACHEFILE_NONE : state;
	}
	while (f.left && !f.bad)
		frozen_bytes(&f, bytes, f.left < sizeof bytes ? (size_t)f.left : sizeof bytes);
	return cachefile_close(&f) ? CACHEFILE_GOOD : CACHEFILE_DAMAGED;
}

void cachefile_leave(struct frozen *f)
{
	fclose(f->file);
}

struct output *cachefile_begin(struct frozen *f, const char *store, const char *end,
                               void *about, size_t size)
{
	struct head h = { .format = FORMAT };
	char name[PATH_SIZE];
	struct output *o;
	struct err err;

	if (!find_name(store, end, name))
		return NULL;
	/* who may not write the tables puts nothing beside them */
	if (access(store, W_OK) && (errno == EACCES || errno == EROFS))
		return NULL;
	if (output_open(&o, name, &err) < 0)
		return NULL;
	*f = (struct frozen){ .file = output_file(o) };
	if (!find_origin(f->file, &h.origin)) {
		output_abandon(o);
		return NULL;
	}
	frozen_value(f, &h);
	frozen_bytes(f, about, size);
	return o;
}

void cachefile_end(struct frozen *f, struct output *o)
{
	uint64_t hash = frozen_hash(f);
	struct err err;

	frozen_value(f, &hash);
	if (f->bad)
		output_abandon(o);
	else if (output_close(o, &err) < 0)
		return;                 /* a full disk: then there is none */
}
