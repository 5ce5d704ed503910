/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_peers.c - see fetch_peers.h. */
#include "fetch_peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "clock.h"
#include "html_sax.h"
#include "warc/warc_pack.h"

static void run(const char *cmd)
{
	if (!system(cmd))
		return;
	fprintf(stderr, "failed (scripts/deps --bench): %s\n", cmd);
	exit(1);
}

struct score peer_wget2(const struct world *w, unsigned threads, bool to_files)
{
	struct moment began;
	struct score score;
	char cmd[500], ca[WORLD_URL];

	world_ca(w, ca);
	snprintf(cmd, sizeof cmd, "rm -rf %s/out && mkdir %s/out", w->dir, w->dir);
	run(cmd);
	snprintf(cmd, sizeof cmd, "exec wget2 -q --no-proxy --no-config --ca-certificate=%s "
	         "--max-threads=%u %s%s%s -i %s/list", ca, threads, to_files ? "-P " :
	         "-O /dev/null", to_files ? w->dir : "", to_files ? "/out" : "", w->dir);
	began = world_now(w, RUSAGE_CHILDREN);
	run(cmd);
	score = world_score(w, RUSAGE_CHILDREN, began);
	snprintf(cmd, sizeof cmd, "test $(ls %s/out | wc -l) = %u", w->dir, w->n);
	if (to_files)
		run(cmd);
	return score;
}

static struct world part_of(const struct world *w)
{
	struct world part = *w;

	part.n = (w->n + ONE_IN - 1) / ONE_IN;
	return part;
}

struct score peer_wget(const struct world *all)
{
	struct world w = part_of(all);
	FILE *list = world_create(&w, "list-by-host");
	char url[WORLD_URL], cmd[500];
	struct moment began;

	for (unsigned host = 0; host < N_HOSTS; host++)
		for (unsigned i = host; i < w.n; i += N_HOSTS) {
			world_url(&w, i, url);
			fprintf(list, "%s\n", url);
		}
	fclose(list);
	snprintf(cmd, sizeof cmd, "exec wget -q --no-proxy --no-config --no-warc-keep-log "
	         "--warc-file=%s/wget -O /dev/null -i %s/list-by-host", w.dir, w.dir);
	began = world_now(&w, RUSAGE_CHILDREN);
	run(cmd);
	return world_score(&w, RUSAGE_CHILDREN, began);
}

static void read_body(const struct world *w, unsigned i, struct buf *body)
{
	char path[96];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/p/%u.html", w->dir, i);
	f = fopen(path, "r");
	buf_clear(body);
	while (f && (n = fread(buf_room(body, 65536), 1, 65536, f)) > 0)
		body->size += n;
	if (!f || fclose(f))
		exit(1);
}

double peer_behind(const struct world *all, int level)
{
	struct world w = part_of(all);
	double c = clock_of(CLOCK_THREAD_CPUTIME_ID);
	struct warc_hasher hasher = { 0 };
	struct warc_digest digest;
	struct sax_sums sums = { 0 };
	struct buf body, packed;
	z_stream z = { 0 };

	buf_init(&body, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		exit(1);
	for (unsigned i = 0; i < w.n; i++) {
		size_t room;

		read_body(&w, i, &body);
		warc_hasher_begin(&hasher, WARC_SHA1);
		warc_hasher_add(&hasher, body.data, body.size);
		warc_hasher_end(&hasher, &digest);
		sax_read(body.data, body.size, &sums);
		room = deflateBound(&z, body.size);
		z.next_in = (Bytef *)body.data;
		z.avail_in = (uInt)body.size;
		z.next_out = (Bytef *)buf_room(&packed, room);
		z.avail_out = (uInt)room;
		if (deflate(&z, Z_FINISH) != Z_STREAM_END || deflateReset(&z) != Z_OK)
			exit(1);
	}
	deflateEnd(&z);
	warc_hasher_release(&hasher);
	buf_release(&body);
	buf_release(&packed);
	return (clock_of(CLOCK_THREAD_CPUTIME_ID) - c) * 1e6 / w.n;
}

/* ---- what can be had at all ---- */

struct bare { int fd; unsigned next; size_t got, want; };

static void bare_send(struct bare *c)
{
	char text[128];
	int n = snprintf(text, sizeof text, "GET /p/%u.html HTTP/1.1\r\nHost: 127.0.7.1\r\n\r\n",
	                 c->next);

	if (send(c->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		exit(1);
	c->next += N_HOSTS;
	c->got = c->want = 0;
}

/* Returns whether the answer is complete. */
static bool bare_receive(struct bare *c, char *room, size_t size, uint64_t *bytes)
{
	ssize_t n = recv(c->fd, room, size, MSG_DONTWAIT);

	if (n <= 0) {
		if (n < 0 && errno == EAGAIN)
			return false;
		exit(1);
	}
	if (!c->got) {
		char *end = memmem(room, (size_t)n, "\r\n\r\n", 4);
		char *length = memmem(room, (size_t)n, "Content-Length: ", 16);

		if (!end || !length)
			exit(1);
		c->want = strtoul(length + 16, NULL, 10);
		*bytes += c->want;
		c->want += (size_t)(end + 4 - room);
	}
	c->got += (size_t)n;
	return c->got == c->want;
}

struct score bare_sockets(const struct world *w)
{
	struct moment began = world_now(w, RUSAGE_SELF);
	struct bare conns[N_HOSTS];
	struct epoll_event events[N_HOSTS];
	static char room[256 << 10];
	int epoll = epoll_create1(0);
	unsigned done = 0;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < N_HOSTS; i++) {
		struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)w->ports[WAY_PLAIN]),
			.sin_addr.s_addr = htonl(0x7f000701 + i) };

		conns[i] = (struct bare){ .fd = socket(AF_INET, SOCK_STREAM, 0), .next = i };
		events[0] = (struct epoll_event){ .events = EPOLLIN, .data.u32 = i };
		if (connect(conns[i].fd, (struct sockaddr *)&sa, sizeof sa) ||
		    epoll_ctl(epoll, EPOLL_CTL_ADD, conns[i].fd, &events[0]))
			exit(1);
		if (i < w->n)
			bare_send(&conns[i]);
	}
	while (done < w->n) {
		int n = epoll_wait(epoll, events, N_HOSTS, -1);

		for (int i = 0; i < n; i++) {
			struct bare *b = &conns[events[i].data.u32];

			if (!bare_receive(b, room, sizeof room, &bytes))
				continue;
			done++;
			if (b->next < w->n)
				bare_send(b);
		}
	}
	for (unsigned i = 0; i < N_HOSTS; i++)
		close(conns[i].fd);
	close(epoll);
	if (bytes != w->bytes)
		exit(1);
	return world_score(w, RUSAGE_SELF, began);
}

double least_of_a_cycle(const struct world *w)
{
	struct warc_packer *packer = warc_packer_new((struct warc_packing){ 0 });
	struct warc_packed packed;
	struct buf body;
	double spent = 0, c;

	warc_packed_init(&packed);
	buf_init(&body, BUF_NO_LIMIT);
	for (unsigned i = 0; i < w->n; i++) {
		struct warc_capture capture = { .time = 1, .url = "http://127.0.7.1/",
			.head = "HTTP/1.1 200 OK\r\n\r\n", .head_size = 19 };

		read_body(w, i, &body);
		capture.body = body.data;
		capture.body_size = body.size;
		c = clock_of(CLOCK_THREAD_CPUTIME_ID);
		if (warc_pack_capture(packer, &capture, (struct warc_ids){ 0 }, &packed, NULL))
			exit(1);
		spent += clock_of(CLOCK_THREAD_CPUTIME_ID) - c;
	}
	warc_packed_release(&packed);
	warc_packer_free(packer);
	buf_release(&body);
	return spent * 1e6 / w->n;
}

