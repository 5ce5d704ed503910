/* SPDX-License-Identifier: Apache-2.0 */
/* graph_file.c - saving and mapping graphs; see graph_file.h. */
#include "graph/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io/output.h"
#include "base/mem.h"

#define MAGIC "FRESHGRF"
#define VERSION 1u
#define ORDER_MARK 0x01020304u
#define PIECE ((size_t)16 << 20)        /* of the format: sums depend on it */

struct header {
	char magic[8];
	uint32_t version;
	uint32_t order;                 /* ORDER_MARK as this machine writes it */
	uint64_t n_nodes, n_links;
	uint64_t data_sum;
	uint64_t reserved[2];
	uint64_t header_sum;            /* of what is before it */
};
_Static_assert(sizeof(struct header) == 64, "the header is 64 bytes");

static uint64_t sum_header(const struct header *h)
{
	return XXH3_64bits(h, offsetof(struct header, header_sum));
}

static uint32_t highest_of(const uint32_t *numbers, size_t n)
{
	uint32_t highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = numbers[i] > highest ? numbers[i] : highest;
	return highest;
}

/* The checksum of one array: pieces on all processors, their sums in order.  Where it is
 * asked for, its highest number, while a piece is in the cache. */
static uint64_t sum_array(const void *data, size_t size, uint32_t *ret_highest)
{
	size_t n = (size + PIECE - 1) / PIECE;
	uint64_t *sums = mem_array(n + 1, sizeof *sums), all;
	uint32_t highest = 0;

	#pragma omp parallel for schedule(dynamic, 1) reduction(max:highest)
	for (size_t i = 0; i < n; i++) {
		size_t left = size - i * PIECE, now = left < PIECE ? left : PIECE;
		const char *piece = (const char *)data + i * PIECE;

		sums[i] = XXH3_64bits(piece, now);
		if (ret_highest) {
			uint32_t here = highest_of((const uint32_t *)(const void *)piece,
			                           now / sizeof(uint32_t));

			highest = here > highest ? here : highest;
		}
	}
	all = XXH3_64bits(sums, n * sizeof *sums);
	free(sums);
	if (ret_highest)
		*ret_highest = highest;
	return all;
}

/* ret_highest: the highest end of a link; NULL: nobody asks. */
static uint64_t sum_graph(const struct graph *g, uint32_t *ret_highest)
{
	uint64_t sums[2] = {
		sum_array(g->offsets, ((size_t)g->n_nodes + 1) * sizeof *g->offsets, NULL),
		sum_array(g->targets, g->n_links * sizeof *g->targets, ret_highest),
	};

	return XXH3_64bits(sums, sizeof sums);
}

/* Reads every byte, once. */
static bool is_as_saved(const struct graph *g, uint64_t sum)
{
	uint32_t highest;

	return sum_graph(g, &highest) == sum && (!g->n_links || highest < g->n_nodes) &&
		graph_offsets_are_sound(g);
}

static bool write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size > PIECE ? PIECE : size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

int graph_file_save(const struct graph *g, const char *path, struct err *err)
{
	static const uint64_t none = 0;
	struct header h = { .magic = MAGIC, .version = VERSION, .order = ORDER_MARK,
	                    .n_nodes = g->n_nodes, .n_links = g->n_links };
	struct graph whole = *g;
	char temporary[4096];
	struct stat st;
	int fd, r = 0;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, E_IO, "%s: is no file that could be mapped later; name one", path);
	if (!whole.offsets)
		whole.offsets = &none;
	h.data_sum = sum_graph(&whole, NULL);
	h.header_sum = sum_header(&h);
	if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >= sizeof temporary)
		return err_set(err, E_USAGE, "%s: the name is too long", path);
	fd = output_create(temporary, err);
	if (fd < 0)
		return fd;
	if (!write_all(fd, &h, sizeof h) ||
	    !write_all(fd, whole.offsets, ((size_t)g->n_nodes + 1) * sizeof *g->offsets) ||
	    !write_all(fd, whole.targets, g->n_links * sizeof *g->targets))
		r = err_errno(err, E_IO, "%s: cannot be written", temporary);
	if (!r && fdatasync(fd))
		r = err_errno(err, E_IO, "%s: cannot be written", temporary);
	if (close(fd) && !r)
		r = err_errno(err, E_IO, "%s: cannot be written", temporary);
	if (!r && rename(temporary, path))
		r = err_errno(err, E_IO, "%s", path);
	if (r)
		unlink(temporary);
	return r;
}

static int check_header(const struct header *h, uint64_t size, const char *path,
                        struct err *err)
{
	uint64_t want;

	if (memcmp(h->magic, MAGIC, sizeof h->magic))
		return err_set(err, E_PARSE, "%s: is not a saved graph", path);
	if (h->order == __builtin_bswap32(ORDER_MARK))
		return err_set(err, E_PARSE, "%s: was saved on a machine of the other byte order; "
		               "build it again here", path);
	if (h->header_sum != sum_header(h) || h->order != ORDER_MARK)
		return err_set(err, E_PARSE, "%s: its header is damaged; build it again", path);
	if (h->version != VERSION)
		return err_set(err, E_PARSE, "%s: is of version %u, this program knows %u; build "
		               "it again", path, h->version, VERSION);
	if (h->n_nodes > GRAPH_NODES_MAX || h->n_links > (uint64_t)1 << 40)
		return err_set(err, E_LIMIT, "%s: too large", path);
	want = sizeof *h + (h->n_nodes + 1) * 8 + h->n_links * 4;
	if (size != want)
		return err_set(err, E_PARSE, "%s: has %llu bytes, should have %llu: cut short or "
		               "damaged; build it again", path, (unsigned long long)size,
		               (unsigned long long)want);
	return 0;
}

int graph_file_map(const char *path, bool verify, struct graph *ret, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	const struct header *h;
	struct graph g = { 0 };
	struct stat st;

	if (fd < 0)
		return err_errno(err, E_IO, "%s", path);
	if (fstat(fd, &st)) {
		r = err_errno(err, E_IO, "%s", path);
		close(fd);
		return r;
	}
	if (st.st_size < (off_t)sizeof *h) {
		close(fd);
		return err_set(err, E_PARSE, "%s: is not a saved graph", path);
	}
	g.map_size = (size_t)st.st_size;
	g.map = mmap(NULL, g.map_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (g.map == MAP_FAILED)
		return err_errno(err, E_IO, "%s: cannot be mapped", path);
	h = g.map;
	r = check_header(h, (uint64_t)st.st_size, path, err);
	if (!r) {
		g.n_nodes = (uint32_t)h->n_nodes;
		g.n_links = h->n_links;
		g.offsets = (const uint64_t *)(h + 1);
		g.targets = (const uint32_t *)(g.offsets + g.n_nodes + 1);
		if (verify && !is_as_saved(&g, h->data_sum))
			r = err_set(err, E_PARSE, "%s: does not match its checksum; build it again",
			            path);
	}
	if (r)
		graph_release(&g);
	else
		*ret = g;
	return r;
}

bool graph_file_is(const char *path)
{
	FILE *f = fopen(path, "rb");
	char magic[8];
	bool is;

	if (!f)
		return false;
	is = fread(magic, 1, sizeof magic, f) == sizeof magic &&
		!memcmp(magic, MAGIC, sizeof magic);
	fclose(f);
	return is;
}
