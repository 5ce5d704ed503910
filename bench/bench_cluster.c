/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cluster.c - repeated bisection against scikit-learn on the same rows.
 *
 * Made-up rows: dense, 300,000 x 48 around 150 centres of skewed sizes; sparse,
 * 300,000 pages of about 90 out of 1,000 words, TF-IDF, from 150 topics over a
 * common vocabulary.  All are unit rows; all clusterings are scored here by the
 * same number, the mean cosine of a row to its cluster's centroid.  CPU seconds
 * count, on as many threads as each program likes; ours include the trials.
 *
 * usage: bench_cluster [ROWS [K]]; FRESHET_BENCH_PEERS=0 leaves the peers out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "clock.h"
#include "cluster/bisect.h"

#define TOPICS 150
#define DENSE_DIM 48
#define WORDS 1000

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec)
	       + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Peak resident bytes since the last reset. */
static void peak_reset(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (f) {
		fputs("5", f);
		fclose(f);
	}
}

static double peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %lf", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

static uint32_t draw_topic(struct rng *g)
{
	double u = rng_next_unit(g);

	return (uint32_t)(TOPICS * u * u);      /* skewed sizes */
}

static void make_dense(struct rows *r, uint32_t n)
{
	static double centre[TOPICS][DENSE_DIM];
	struct rng g;

	rng_init(&g, 1);
	for (int c = 0; c < TOPICS; c++)
		for (int j = 0; j < DENSE_DIM; j++)
			centre[c][j] = 2 * rng_normal(&g);
	rows_init_dense(r, n, DENSE_DIM);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = draw_topic(&g);

		for (int j = 0; j < DENSE_DIM; j++)
			rows_dense(r, i)[j] = (float)(centre[c][j] + 1.5 * rng_normal(&g));
	}
	rows_unit(r);
}

/* Words of a topic: falling like 1/rank over a permutation of its own. */
static void make_sparse(struct rows *r, uint32_t n)
{
	static uint32_t permutation[TOPICS + 1][WORDS];
	struct rng g;

	rng_init(&g, 2);
	for (int c = 0; c <= TOPICS; c++) {
		for (uint32_t j = 0; j < WORDS; j++)
			permutation[c][j] = j;
		rng_shuffle(&g, permutation[c], WORDS);
	}
	rows_init_sparse(r, WORDS);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = draw_topic(&g);
		int words = 85 + (int)rng_below(&g, 90);

		for (int j = 0; j < words; j++) {
			double rank = pow(WORDS, rng_next_unit(&g)) - 1;
			uint32_t own = rng_below(&g, 100) < 60 ? c : TOPICS;

			rows_add(r, permutation[own][(uint32_t)rank], 1);
		}
		rows_close(r);
	}
	rows_tfidf(r);
	rows_unit(r);
}

static double score(const struct rows *r, const uint32_t *of, uint32_t k)
{
	double *sum = mem_zalloc((size_t)k * r->dim, sizeof *sum), total = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (of[i] < k)
			rows_add_to(r, i, 1, sum + (size_t)of[i] * r->dim);
	for (uint32_t c = 0; c < k; c++) {
		double square = 0;

		for (uint32_t j = 0; j < r->dim; j++)
			square += sum[(size_t)c * r->dim + j] * sum[(size_t)c * r->dim + j];
		total += sqrt(square);
	}
	free(sum);
	return total / r->n;
}

static void put(const char *folder, const char *name, const void *data, size_t size)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
		perror(path);
		exit(3);
	}
}

static void write_rows(const struct rows *r, const char *folder)
{
	int64_t shape[3] = { r->n, r->dim, rows_is_dense(r) };

	put(folder, "rows.shape", shape, sizeof shape);
	if (rows_is_dense(r)) {
		put(folder, "rows.dense", r->dense, (size_t)r->n * r->stride * sizeof(float));
	} else {
		put(folder, "rows.start", r->start, ((size_t)r->n + 1) * sizeof *r->start);
		put(folder, "rows.term", r->term, r->open * sizeof *r->term);
		put(folder, "rows.weight", r->weight, r->open * sizeof *r->weight);
	}
}

static bool run_peer(const struct rows *r, const char *folder, const char *method,
                     uint32_t k, double ret[3])
{
	uint32_t *labels = mem_array(r->n, sizeof *labels);
	char command[1024];
	bool ok = false;
	FILE *f;

	snprintf(command, sizeof command,
	         "/usr/bin/python3 bench/bench_cluster.py %s %s %u 2>%s/log", folder, method,
	         k, folder);
	f = popen(command, "r");
	if (f) {
		ok = fscanf(f, "%lf %lf", &ret[0], &ret[1]) == 2;
		ok = pclose(f) == 0 && ok;
	}
	snprintf(command, sizeof command, "%s/labels", folder);
	f = ok ? fopen(command, "rb") : NULL;
	ok = f && fread(labels, sizeof *labels, r->n, f) == r->n;
	if (f)
		fclose(f);
	if (ok)
		ret[2] = score(r, labels, k);
	free(labels);
	return ok;
}

static double rows_bytes(const struct rows *r)
{
	if (rows_is_dense(r))
		return (double)r->n * r->stride * sizeof(float);
	return (double)r->open * (sizeof *r->term + sizeof *r->weight)
	       + ((double)r->n + 1) * sizeof *r->start;
}

static void bench(const char *kind, const struct rows *r, uint32_t k)
{
	static const char *const method[] = { "bisecting", "minibatch" };
	static const struct { const char *name; enum bisect_choose choose; unsigned refine; }
		ours[] = { { "largest", BISECT_LARGEST, 0 }, { "best", BISECT_BEST, 0 },
		           { "refined", BISECT_BEST, 3 } };
	const char *peers = getenv("FRESHET_BENCH_PEERS");
	char folder[] = "/tmp/bench_cluster.XXXXXX", command[64];
	double peer[2][3] = { { 0 } };
	bool have[2] = { false, false };

	printf("cluster %s: %u rows, %.1f numbers each, k = %u\n", kind, r->n,
	       rows_is_dense(r) ? r->dim : (double)r->open / r->n, k);
	if (!(peers && strcmp(peers, "0") == 0) && mkdtemp(folder)) {
		write_rows(r, folder);
		for (int m = 0; m < 2; m++) {
			have[m] = run_peer(r, folder, method[m], k, peer[m]);
			if (have[m])
				printf("  sklearn %-10s %7.2f s CPU  cosine %.5f  peak %4.0f MB\n",
				       method[m], peer[m][0], peer[m][2], peer[m][1] / 1e6);
			else
				printf("  sklearn %-10s not available\n", method[m]);
		}
		snprintf(command, sizeof command, "rm -r %s", folder);
		if (system(command) != 0)
			fprintf(stderr, "%s is left behind\n", folder);
	}
	for (int c = 0; c < 3; c++) {
		struct clusters got;
		double cpu, wall, peak, cosine;

		peak_reset();
		cpu = cpu_seconds();
		wall = wall_now();
		bisect_run(r, NULL, 0, &(struct bisect_options){
			.k = k, .choose = ours[c].choose, .refine = ours[c].refine, .seed = 1 }, &got);
		cpu = cpu_seconds() - cpu;
		wall = wall_now() - wall;
		peak = peak_bytes();
		cosine = score(r, got.of, got.k);
		printf("  freshet %-10s %7.2f s CPU  cosine %.5f  peak %4.0f MB = %.2f x data  "
		       "%.2f s\n", ours[c].name, cpu, cosine, peak / 1e6,
		       peak / rows_bytes(r), wall);
		for (int m = 0; m < 2; m++)
			if (have[m])
				printf("ratio cluster-%s-%s/sklearn-%s cpu %.2f cosine %+.5f\n", kind,
				       ours[c].name, method[m], peer[m][0] / cpu,
				       cosine - peer[m][2]);
		clusters_release(&got);
	}
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 300000;
	uint32_t k = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100;
	struct rows r;

	make_dense(&r, n);
	bench("dense", &r, k);
	rows_release(&r);
	make_sparse(&r, n);
	bench("sparse", &r, k);
	rows_release(&r);
	return 0;
}
