/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - a file with what was recalled; see snapshot.h.
 *
 *   struct head | what was frozen | hash of it
 */
#include "engine/recall/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"
#include "graph/graph.h"

#define FORMAT "freshet 1 " FRESHET_VERSION
#define PATH_SIZE 4200

struct head {
	char format[32];
	uint64_t key, place;            /* place: the machine, and the file */
	uint32_t cycles, zero;
};

/* ---- the key ---- */

static uint64_t add(uint64_t h, const void *bytes, size_t size)
{
	return bytes ? hash_bytes(bytes, size, h) : hash_bytes("", 1, h);
}

static uint64_t add_graph(uint64_t h, const struct graph *g)
{
	if (!g || !g->offsets)
		return add(h, NULL, 0);
	h = add(h, g->offsets, ((size_t)g->n_nodes + 1) * sizeof *g->offsets);
	return add(h, g->targets, (size_t)g->n_links * sizeof *g->targets);
}

uint64_t snapshot_key(const struct engine *e, uint64_t h)
{
	const struct view *v = &e->view;
	const char *spec = e->policy ? e->policy->spec : "";
	size_t n = v->n_pages;
	const int64_t numbers[] = { (int64_t)v->seed, v->cycle_seconds, v->goal, v->aim,
	                            v->observe, (int64_t)n };

	h = add(h, spec, strlen(spec) + 1);
	h = add(h, numbers, sizeof numbers);
	h = add(h, v->url_pool, (size_t)v->url_offset[n]);
	h = add(h, v->site, n * sizeof *v->site);
	h = add_graph(h, v->links);
	h = add(h, v->pagerank, n * sizeof *v->pagerank);
	h = add(h, v->size, n * sizeof *v->size);
	return add(h, v->weight, n * sizeof *v->weight);
}

/* Of this machine, this user, and this file. */
static bool find_place(FILE *file, uint64_t *ret)
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

static bool find_name(const char *store, char ret[PATH_SIZE])
{
	return store && snprintf(ret, PATH_SIZE, "%s" SNAPSHOT_END, store) < PATH_SIZE;
}

/* ---- reading ---- */

static bool read_head(struct frozen *f, struct head *h)
{
	uint64_t place;
	struct stat st;

	if (!find_place(f->file, &place) || fstat(fileno(f->file), &st) < 0 ||
	    st.st_size < (off_t)(sizeof *h + sizeof f->hash))
		return false;
	f->left = (uint64_t)st.st_size - sizeof f->hash;
	frozen_value(f, h);
	return !f->bad && h->place == place && !memcmp(h->format, (char[32]){ FORMAT }, 32);
}

bool snapshot_open(struct frozen *f, const char *store, uint32_t *ret_cycles, uint64_t *ret_key)
{
	char name[PATH_SIZE];
	struct head h;
	int fd;

	*f = (struct frozen){ .thaw = true };
	if (!find_name(store, name) || (fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	                                          O_NONBLOCK)) < 0)
		return false;
	f->file = fdopen(fd, "rb");
	if (!f->file) {
		close(fd);
		return false;
	}
	if (!read_head(f, &h)) {
		fclose(f->file);
		return false;
	}
	*ret_cycles = h.cycles;
	*ret_key = h.key;
	return true;
}

bool snapshot_close(struct frozen *f)
{
	uint64_t hash = f->hash, kept = ~hash;
	bool whole = !f->bad && !f->left &&
		fread(&kept, 1, sizeof kept, f->file) == sizeof kept;

	fclose(f->file);
	return whole && kept == hash;
}

/* ---- writing ---- */

struct output *snapshot_begin(struct frozen *f, const char *store, uint32_t cycles,
                              uint64_t key)
{
	struct head h = { .format = FORMAT, .key = key, .cycles = cycles };
	char name[PATH_SIZE];
	struct output *o;
	struct err err;

	if (!find_name(store, name) || output_open(&o, name, &err) < 0)
		return NULL;
	*f = (struct frozen){ .file = output_file(o) };
	if (!find_place(f->file, &h.place)) {
		output_abandon(o);
		return NULL;
	}
	frozen_value(f, &h);
	return o;
}

void snapshot_end(struct frozen *f, struct output *o)
{
	uint64_t hash = f->hash;
	struct err err;

	frozen_value(f, &hash);
	if (f->bad)
		output_abandon(o);
	else if (output_close(o, &err) < 0)
		return;                 /* a full disk: then there is none */
}
