/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip_read.c - the directory of a ZIP file, checked; see zip.h.
 *
 * The directory at the end of the file rules, as the format says; the header in front of
 * each entry is read once, for it says where the data begins, and must not contradict.
 * Memory: the directory.
 */
#include "base/io/zip.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/zip_inner.h"
#include "base/mem.h"

#define END_SIZE 22
#define END64_SIZE 56
#define LOCATOR_SIZE 20
#define COMMENT_MAX 65535
#define HEAD_SIZE 46                    /* of an entry in the directory */
#define LOCAL_SIZE 30
#define MADE_BY_UNIX 3
#define FLAG_ENCRYPTED 1
#define FLAG_SIZES_BEHIND 8             /* the local header does not know them */

struct found {
	struct zip_entry entry;
	uint64_t local;                 /* offset of the local header */
	uint16_t flags, method;
};

struct directory {
	struct zip *z;
	uint64_t n, at, size;           /* entries; offset and bytes */
	uint8_t *data;
};

static int wrong(const struct zip *z, const char *name, const char *why, struct err *err)
{
	return err_set(err, E_PARSE, "%s: not a ZIP file that may be read: %s%s%.200s", z->path, why,
	               name ? ": " : "", name ? name : "");
}

int zip_pread(const struct zip *z, uint64_t at, void *data, size_t size, struct err *err)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(z->fd, (char *)data + done, size - done, (off_t)(at + done));

		if (n < 0)
			return err_errno(err, E_IO, "%s: cannot read", z->path);
		if (n == 0)
			return wrong(z, NULL, "it ends early", err);
		done += (size_t)n;
	}
	return 0;
}

bool zip_looks_so(const char *data, size_t size)
{
	return size >= 4 && (!memcmp(data, "PK\3\4", 4) || !memcmp(data, "PK\5\6", 4));
}

/* The directory's place from the larger end record, if there is one before the usual. */
static int find_end64(struct directory *d, uint64_t end_at, struct err *err)
{
	uint8_t locator[LOCATOR_SIZE], end[END64_SIZE];
	uint64_t at;
	int rc;

	if (end_at < LOCATOR_SIZE)
		return wrong(d->z, NULL, "its end record wants another that is not there", err);
	rc = zip_pread(d->z, end_at - LOCATOR_SIZE, locator, sizeof locator, err);
	if (rc < 0)
		return rc;
	at = zip_u64(locator + 8);
	if (zip_u32(locator) != ZIP_LOCATOR || end_at - LOCATOR_SIZE < END64_SIZE ||
	    at > end_at - LOCATOR_SIZE - END64_SIZE)
		return wrong(d->z, NULL, "its end record wants another that is not there", err);
	rc = zip_pread(d->z, at, end, sizeof end, err);
	if (rc < 0)
		return rc;
	if (zip_u32(end) != ZIP_END64 || zip_u32(end + 16) || zip_u32(end + 20) ||
	    zip_u64(end + 24) != zip_u64(end + 32))
		return wrong(d->z, NULL, "its end record is damaged, or it has several parts", err);
	d->n = zip_u64(end + 32);
	d->size = zip_u64(end + 40);
	d->at = zip_u64(end + 48);
	if (d->at > at || d->size > at - d->at)
		return wrong(d->z, NULL, "its directory lies beyond its end", err);
	return 0;
}

static int find_directory(struct directory *d, struct err *err)
{
	struct zip *z = d->z;
	size_t size = z->size < END_SIZE + COMMENT_MAX ? (size_t)z->size : END_SIZE + COMMENT_MAX;
	uint64_t from = z->size - size, end_at;
	uint8_t *tail, *p = NULL;
	int rc;

	if (size < END_SIZE)
		return wrong(z, NULL, "it is too short", err);
	tail = mem_alloc(size);
	rc = zip_pread(z, from, tail, size, err);
	for (size_t i = size - END_SIZE + 1; rc == 0 && i-- > 0;)
		if (zip_u32(tail + i) == ZIP_END && zip_u16(tail + i + 20) == size - END_SIZE - i) {
			p = tail + i;
			break;
		}
	if (rc == 0 && !p)
		rc = wrong(z, NULL, "it has no directory at its end (broken off?)", err);
	if (rc < 0) {
		free(tail);
		return rc;
	}
	end_at = from + (size_t)(p - tail);
	d->n = zip_u16(p + 10);
	d->size = zip_u32(p + 12);
	d->at = zip_u32(p + 16);
	if (d->n == 0xffff || d->size == 0xffffffff || d->at == 0xffffffff)
		rc = find_end64(d, end_at, err);
	else if (zip_u16(p + 4) || zip_u16(p + 6) || zip_u16(p + 8) != d->n)
		rc = wrong(z, NULL, "it is one part of several", err);
	else if (d->at > end_at || d->size > end_at - d->at)
		rc = wrong(z, NULL, "its directory lies beyond its end", err);
	free(tail);
	if (rc < 0)
		return rc;
	if (d->n > ZIP_ENTRIES_MAX || d->size > ZIP_DIRECTORY_MAX)
		return err_set(err, E_LIMIT, "%s: a ZIP file of %" PRIu64 " entries, whose directory has "
		               "%" PRIu64 " bytes (at most %d and %" PRIu64 ")", z->path, d->n, d->size,
		               ZIP_ENTRIES_MAX, ZIP_DIRECTORY_MAX);
	d->data = mem_alloc((size_t)d->size + 1);
	return zip_pread(z, d->at, d->data, (size_t)d->size, err);
}

/* A relative path that stays below its folder, of printable bytes. */
static bool is_safe_name(const char *name, size_t size)
{
	size_t from = 0;

	if (size == 0 || size > ZIP_NAME_MAX || name[0] == '/')
		return false;
	for (size_t i = 0; i <= size; i++) {
		if (i < size && name[i] != '/') {
			if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || name[i] == '\\' ||
			    name[i] == ':')
				return false;
			continue;
		}
		if ((i == from && i < size) || (i - from == 1 && name[from] == '.') ||
		    (i - from == 2 && name[from] == '.' && name[from + 1] == '.'))
			return false;
		from = i + 1;
	}
	return true;
}

/* Sizes and offset that do not fit into 32 bits stand in an extra field. */
static bool take_extra64(const uint8_t *extra, size_t size, struct found *f)
{
	uint64_t *values[] = { &f->entry.size, &f->entry.packed, &f->local };
	bool wanted = false;

	for (size_t i = 0; i < 3; i++)
		wanted = wanted || *values[i] == 0xffffffff;
	if (!wanted)
		return true;
	while (size >= 4) {
		size_t n = zip_u16(extra + 2), at = 0;

		if (n > size - 4)
			return false;
		if (zip_u16(extra) == ZIP_EXTRA64) {
			for (size_t i = 0; i < 3; i++) {
				if (*values[i] != 0xffffffff)
					continue;
				if (n - at < 8)
					return false;
				*values[i] = zip_u64(extra + 4 + at);
				at += 8;
			}
			return true;
		}
		extra += 4 + n;
		size -= 4 + n;
	}
	return false;
}

/* One entry of the directory.  1: a file, 0: a folder, or error.  *p moves on. */
static int take_entry(struct directory *d, const uint8_t **p, struct found *f, struct err *err)
{
	const uint8_t *q = *p, *end = d->data + d->size;
	size_t name, extra, comment;
	uint32_t mode;
	char *copy;

	if ((size_t)(end - q) < HEAD_SIZE || zip_u32(q) != ZIP_HEAD)
		return wrong(d->z, NULL, "its directory is damaged", err);
	name = zip_u16(q + 28);
	extra = zip_u16(q + 30);
	comment = zip_u16(q + 32);
	if ((size_t)(end - q) - HEAD_SIZE < name + extra + comment)
		return wrong(d->z, NULL, "its directory is damaged", err);
	copy = arena_strndup(&d->z->names, (const char *)q + HEAD_SIZE, name);
	if (!is_safe_name(copy, name))
		return wrong(d->z, NULL, "an entry's name is no path inside of a folder", err);
	*f = (struct found){
		.entry = { .name = copy, .packed = zip_u32(q + 20), .size = zip_u32(q + 24),
		           .sum = zip_u32(q + 16) },
		.flags = zip_u16(q + 8), .method = zip_u16(q + 10), .local = zip_u32(q + 42),
	};
	mode = zip_u32(q + 38) >> 16;
	if (!take_extra64(q + HEAD_SIZE + name, extra, f))
		return wrong(d->z, copy, "the sizes of an entry are damaged", err);
	*p = q + HEAD_SIZE + name + extra + comment;
	if (zip_u16(q + 34))
		return wrong(d->z, copy, "an entry lies in another part", err);
	if (q[5] == MADE_BY_UNIX && (mode & S_IFMT) && !S_ISREG(mode) && !S_ISDIR(mode))
		return wrong(d->z, copy, "an entry is a link or a device", err);
	if (f->flags & FLAG_ENCRYPTED)
		return wrong(d->z, copy, "an entry is encrypted", err);
	if (f->method != ZIP_STORED && f->method != ZIP_DEFLATED)
		return wrong(d->z, copy, "an entry is neither stored nor deflated", err);
	f->entry.deflated = f->method == ZIP_DEFLATED;
	if (!f->entry.deflated && f->entry.packed != f->entry.size)
		return wrong(d->z, copy, "an entry that is stored has two sizes", err);
	if (f->entry.deflated && f->entry.size / ZIP_RATIO_MAX > f->entry.packed)
		return wrong(d->z, copy, "an entry says it unpacks to more than is possible", err);
	return copy[name - 1] != '/';
}

/* The header in front of an entry: where its data begins. */
static int check_local(const struct directory *d, struct found *f, struct err *err)
{
	uint8_t head[LOCAL_SIZE];
	char name[ZIP_NAME_MAX + 1];
	uint64_t limit = d->at;
	size_t size = strlen(f->entry.name);
	int rc;

	if (limit < LOCAL_SIZE || f->local > limit - LOCAL_SIZE)
		return wrong(d->z, f->entry.name, "an entry lies beyond the end", err);
	rc = zip_pread(d->z, f->local, head, sizeof head, err);
	if (rc < 0)
		return rc;
	if (zip_u32(head) != ZIP_LOCAL || zip_u16(head + 26) != size ||
	    zip_u16(head + 8) != f->method || (zip_u16(head + 6) & FLAG_ENCRYPTED))
		return wrong(d->z, f->entry.name, "the two headers of an entry differ", err);
	rc = zip_pread(d->z, f->local + LOCAL_SIZE, name, size, err);
	if (rc < 0)
		return rc;
	if (memcmp(name, f->entry.name, size))
		return wrong(d->z, f->entry.name, "the two headers of an entry differ", err);
	if (!(zip_u16(head + 6) & FLAG_SIZES_BEHIND) &&
	    ((zip_u32(head + 18) != 0xffffffff && zip_u32(head + 18) != f->entry.packed) ||
	     (zip_u32(head + 22) != 0xffffffff && zip_u32(head + 22) != f->entry.size) ||
	     zip_u32(head + 14) != f->entry.sum))
		return wrong(d->z, f->entry.name, "the two headers of an entry differ", err);
	f->entry.offset = f->local + LOCAL_SIZE + size + zip_u16(head + 28);
	if (f->entry.offset > limit || f->entry.packed > limit - f->entry.offset)
		return wrong(d->z, f->entry.name, "an entry goes beyond the end", err);
	return 0;
}

static int compare_found(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	return a->local < b->local ? -1 : a->local > b->local;
}

static int compare_names(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

/* No name twice: who unpacks it would take one, who lists it the other. */
static int check_names(const struct zip *z, struct err *err)
{
	const char **names = mem_array(z->n + 1, sizeof *names);
	int rc = 0;

	for (size_t i = 0; i < z->n; i++)
		names[i] = z->entries[i].name;
	qsort(names, z->n, sizeof *names, compare_names);
	for (size_t i = 1; i < z->n && rc == 0; i++)
		if (!strcmp(names[i], names[i - 1]))
			rc = wrong(z, names[i], "an entry is there twice", err);
	free(names);
	return rc;
}

static int read_entries(struct directory *d, struct err *err)
{
	struct found *all = mem_array((size_t)d->n + 1, sizeof *all);
	const uint8_t *p = d->data;
	struct zip *z = d->z;
	size_t n = 0;
	int rc = 0;

	for (uint64_t i = 0; i < d->n && rc >= 0; i++) {
		rc = take_entry(d, &p, &all[n], err);
		if (rc >= 0) {
			bool file = rc > 0;

			rc = check_local(d, &all[n], err);
			n += file;
		}
	}
	if (rc >= 0 && n)
		qsort(all, n, sizeof *all, compare_found);
	z->entries = mem_array(n + 1, sizeof *z->entries);
	for (size_t i = 0; i < n && rc >= 0; i++) {
		if (i && all[i].local < all[i - 1].entry.offset + all[i - 1].entry.packed)
			rc = wrong(z, all[i].entry.name, "entries overlap", err);
		z->entries[i] = all[i].entry;
		map_put(&z->by_name, hash_bytes(all[i].entry.name, strlen(all[i].entry.name), 0),
		        (uint32_t)i);
		z->n = i + 1;
	}
	free(all);
	return rc < 0 ? rc : check_names(z, err);
}

int zip_open(struct zip **ret, const char *path, struct err *err)
{
	struct zip *z = mem_zalloc(1, sizeof *z);
	struct directory d = { .z = z };
	struct stat st;
	int rc = 0;

	z->path = mem_strdup(path);
	z->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (z->fd < 0)
		rc = err_errno(err, E_IO, "%s: cannot open", path);
	else if (fstat(z->fd, &st) || !S_ISREG(st.st_mode))
		rc = err_set(err, E_USAGE, "%s: a ZIP file is read from its end: give it as a file, not "
		             "through a pipe", path);
	if (rc == 0) {
		z->size = (uint64_t)st.st_size;
		rc = find_directory(&d, err);
	}
	if (rc == 0)
		rc = read_entries(&d, err);
	free(d.data);
	if (rc < 0) {
		zip_close(z);
		return rc;
	}
	*ret = z;
	return 0;
}

void zip_close(struct zip *z)
{
	if (!z)
		return;
	if (z->fd >= 0)
		close(z->fd);
	map_release(&z->by_name);
	arena_release(&z->names);
	free(z->entries);
	free(z->path);
	free(z);
}

size_t zip_count(const struct zip *z)
{
	return z->n;
}

const struct zip_entry *zip_entry(const struct zip *z, size_t i)
{
	return &z->entries[i];
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
	uint32_t i = map_get(&z->by_name, hash_bytes(name, strlen(name), 0));

	return i != MAP_NONE && !strcmp(z->entries[i].name, name) ? &z->entries[i] : NULL;
}
