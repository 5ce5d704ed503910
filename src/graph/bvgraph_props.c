/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bvgraph_props.c - the .properties file of a BVGraph: key=value lines.
 *
 * Each flag names a part and its code; what no flag names has its default.
 * Unknown keys are statistics and of no interest; unknown flags are an error,
 * since without them the bits cannot be read.
 */
#include "graph/bvgraph.h"

#include <stdbool.h>
#include <string.h>

#define VALUE_MAX 1024

static const struct { const char *name; enum bvgraph_code code; } codes[] = {
	{ "GAMMA", BVGRAPH_GAMMA }, { "DELTA", BVGRAPH_DELTA }, { "ZETA", BVGRAPH_ZETA },
	{ "NIBBLE", BVGRAPH_NIBBLE }, { "UNARY", BVGRAPH_UNARY },
	{ "GOLOMB", BVGRAPH_GOLOMB },
};

/* The parts of a row, and the codes the format lets them have. */
static const struct part {
	const char *prefix;
	size_t offset;
	enum bvgraph_code def;
	unsigned allowed;
} parts[] = {
#define CODE(c) (1u << BVGRAPH_##c)
	{ "OUTDEGREES_", offsetof(struct bvgraph_props, degrees), BVGRAPH_GAMMA,
	  CODE(GAMMA) | CODE(DELTA) },
	{ "BLOCK_COUNT_", offsetof(struct bvgraph_props, block_counts), BVGRAPH_GAMMA,
	  CODE(GAMMA) | CODE(DELTA) | CODE(UNARY) },
	{ "BLOCKS_", offsetof(struct bvgraph_props, blocks), BVGRAPH_GAMMA,
	  CODE(GAMMA) | CODE(DELTA) | CODE(UNARY) },
	{ "RESIDUALS_", offsetof(struct bvgraph_props, residuals), BVGRAPH_ZETA,
	  CODE(GAMMA) | CODE(DELTA) | CODE(ZETA) | CODE(NIBBLE) | CODE(GOLOMB) },
	{ "REFERENCES_", offsetof(struct bvgraph_props, references), BVGRAPH_UNARY,
	  CODE(GAMMA) | CODE(DELTA) | CODE(UNARY) },
	{ "OFFSETS_", offsetof(struct bvgraph_props, offsets), BVGRAPH_GAMMA,
	  CODE(GAMMA) | CODE(DELTA) },
#undef CODE
};
#define N_PARTS (sizeof parts / sizeof *parts)

static enum bvgraph_code *part_code(struct bvgraph_props *p, const struct part *part)
{
	return (enum bvgraph_code *)(void *)((char *)p + part->offset);
}

static bool parse_flag(struct bvgraph_props *p, const char *flag, size_t size)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		size_t n = strlen(parts[i].prefix);

		if (size <= n || memcmp(flag, parts[i].prefix, n))
			continue;
		for (size_t c = 0; c < sizeof codes / sizeof *codes; c++)
			if (strlen(codes[c].name) == size - n &&
			    !memcmp(flag + n, codes[c].name, size - n) &&
			    (parts[i].allowed >> codes[c].code & 1)) {
				*part_code(p, &parts[i]) = codes[c].code;
				return true;
			}
	}
	return false;
}

static int parse_flags(struct bvgraph_props *p, const char *value, const char *name,
                       struct err *err)
{
	while (*value) {
		size_t n;

		value += strspn(value, " \t|");
		n = strcspn(value, " \t|");
		if (n && !parse_flag(p, value, n))
			return err_set(err, E_PARSE, "%s: compression flag %.*s is not known", name,
			               n > 64 ? 64 : (int)n, value);
		value += n;
	}
	return 0;
}

static int parse_number(const char *value, const char *key, uint64_t max, const char *name,
                        uint64_t *ret, struct err *err)
{
	uint64_t v = 0;

	for (const char *s = value; *s; s++) {
		if (*s < '0' || *s > '9')
			return err_set(err, E_PARSE, "%s: %s=%.40s is not a number", name, key,
			               value);
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > max)
			return err_set(err, E_LIMIT, "%s: %s=%.40s: at most %llu", name, key, value,
			               (unsigned long long)max);
	}
	if (!*value)
		return err_set(err, E_PARSE, "%s: %s has no value", name, key);
	*ret = v;
	return 0;
}

static int parse_pair(struct bvgraph_props *p, const char *key, const char *value,
                      const char *name, unsigned *seen, struct err *err)
{
	static const struct { const char *key; size_t offset; uint64_t max; } numbers[] = {
		{ "nodes", offsetof(struct bvgraph_props, n_nodes), GRAPH_NODES_MAX },
		{ "arcs", offsetof(struct bvgraph_props, n_links), BVGRAPH_LINKS_MAX },
		{ "windowsize", offsetof(struct bvgraph_props, window), INT32_MAX },
		{ "minintervallength", offsetof(struct bvgraph_props, min_interval), INT32_MAX },
		{ "zetak", offsetof(struct bvgraph_props, zeta_k), 1u << 20 },
	};
	uint64_t version;
	int r;

	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!strcmp(key, numbers[i].key)) {
			*seen |= 1u << i;
			return parse_number(value, key, numbers[i].max, name,
				(uint64_t *)(void *)((char *)p + numbers[i].offset), err);
		}
	if (!strcmp(key, "compressionflags"))
		return parse_flags(p, value, name, err);
	if (!strcmp(key, "graphclass") && !strstr(value, "BVGraph"))
		return err_set(err, E_PARSE, "%s: the graph is a %.100s, not a BVGraph; convert "
		               "it with WebGraph", name, value);
	if (!strcmp(key, "version")) {
		r = parse_number(value, key, UINT32_MAX, name, &version, err);
		if (!r && version != 0)
			r = err_set(err, E_PARSE, "%s: BVGraph version %s is not known", name,
			            value);
		return r;
	}
	return 0;
}

/* One line into key and value, both trimmed; false: a comment or nothing. */
static bool split_line(const char *line, size_t size, char *key, char *value)
{
	const char *end = line + size, *eq;
	size_t n;

	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	eq = memchr(line, '=', (size_t)(end - line));
	if (line == end || *line == '#' || *line == '!' || !eq)
		return false;
	for (n = (size_t)(eq - line); n && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
		;
	if (n >= VALUE_MAX)
		return false;
	memcpy(key, line, n);
	key[n] = '\0';
	for (eq++; eq < end && (*eq == ' ' || *eq == '\t'); eq++)
		;
	n = (size_t)(end - eq) < VALUE_MAX - 1 ? (size_t)(end - eq) : VALUE_MAX - 1;
	memcpy(value, eq, n);
	value[n] = '\0';
	return true;
}

int bvgraph_parse_props(const char *text, size_t size, const char *name,
                        struct bvgraph_props *ret, struct err *err)
{
	struct bvgraph_props p = { .window = 7, .min_interval = 4, .zeta_k = 3 };
	char key[VALUE_MAX], value[VALUE_MAX];
	const char *end = text + size;
	unsigned seen = 0;

	for (size_t i = 0; i < N_PARTS; i++)
		*part_code(&p, &parts[i]) = parts[i].def;
	for (const char *line = text, *next; line < end; line = next) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		int r;

		next = nl ? nl + 1 : end;
		if (!split_line(line, (size_t)((nl ? nl : end) - line), key, value))
			continue;
		r = parse_pair(&p, key, value, name, &seen, err);
		if (r)
			return r;
	}
	if ((seen & 3) != 3)
		return err_set(err, E_PARSE, "%s: has no nodes= or no arcs=; is it the "
		               ".properties of a WebGraph graph?", name);
	if (p.n_links && (!p.n_nodes || (p.n_links - 1) / p.n_nodes >= p.n_nodes))
		return err_set(err, E_PARSE, "%s: %llu arcs are too many for %llu nodes", name,
		               (unsigned long long)p.n_links, (unsigned long long)p.n_nodes);
	if (p.residuals == BVGRAPH_ZETA && (p.zeta_k < 1 || p.zeta_k > 32))
		return err_set(err, E_PARSE, "%s: zetak=%llu: must be 1 to 32", name,
		               (unsigned long long)p.zeta_k);
	*ret = p;
	return 0;
}
