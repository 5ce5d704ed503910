/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - see body.h. */
#include "serve/http/body.h"

#include <jansson.h>

#include "base/text.h"

#define NUMBER_SIZE 32

static bool is_listed(const char *key, const char *keys)
{
	struct text rest = { keys, strlen(keys) }, word;

	while (text_word(&rest, &word))
		if (strlen(key) == word.size && !strncmp(key, word.s, word.size))
			return true;
	return false;
}

static const json_t *member(const struct body *b, const char *key)
{
	const json_t *v = json_object_get((const json_t *)b, key);

	return json_is_null(v) ? NULL : v;
}

struct body *body_parse(const struct http_request *r, struct http_answer *a, const char *keys)
{
	bool empty = !r->body.size;
	json_error_t why;
	const char *key;
	json_t *o = json_loadb(empty ? "{}" : r->body.data, empty ? 2 : r->body.size,
	                       JSON_REJECT_DUPLICATES, &why), *v;

	if (!o || !json_is_object(o)) {
		http_problem(a, 400, "the body is no JSON object: %s", o ? "it is another value" :
		             why.text);
		json_decref(o);
		return NULL;
	}
	json_object_foreach(o, key, v) {
		if (is_listed(key, keys))
			continue;
		http_problem(a, 400, "no member '%.60s' here; there are: %s", key, keys);
		json_decref(o);
		return NULL;
	}
	return (struct body *)o;
}

void body_free(struct body *b)
{
	json_decref((json_t *)b);
}

bool body_int(const struct body *b, struct http_answer *a, const char *key, int64_t def,
              int64_t min, int64_t max, int64_t *ret)
{
	const json_t *v = member(b, key);

	*ret = def;
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max) {
		http_problem(a, 400, "%s: a whole number from %lld to %lld, please", key,
		             (long long)min, (long long)max);
		return false;
	}
	*ret = json_integer_value(v);
	return true;
}

bool body_number(const struct body *b, struct http_answer *a, const char *key,
                 struct arena *keep, const char **ret)
{
	const json_t *v = member(b, key);
	char *text;

	*ret = NULL;
	if (!v)
		return true;
	if (!json_is_number(v)) {
		http_problem(a, 400, "%s: a number, please", key);
		return false;
	}
	text = arena_alloc(keep, NUMBER_SIZE);
	snprintf(text, NUMBER_SIZE, "%.17g", json_number_value(v));
	*ret = text;
	return true;
}

static bool is_text(const json_t *v)
{
	return json_is_string(v) && json_string_length(v) <= BODY_TEXT_MAX &&
	       strlen(json_string_value(v)) == json_string_length(v);
}

bool body_text(const struct body *b, struct http_answer *a, const char *key, const char **ret)
{
	const json_t *v = member(b, key);

	*ret = v && is_text(v) ? json_string_value(v) : NULL;
	if (v && !*ret)
		http_problem(a, 400, "%s: a text of at most %d bytes, please", key, BODY_TEXT_MAX);
	return !v || *ret;
}

bool body_amount(const struct body *b, struct http_answer *a, const char *key,
                 struct arena *keep, const char **ret)
{
	return json_is_number(member(b, key)) ? body_number(b, a, key, keep, ret) :
	       body_text(b, a, key, ret);
}

bool body_flag(const struct body *b, struct http_answer *a, const char *key, bool *ret)
{
	const json_t *v = member(b, key);

	*ret = json_is_true(v);
	if (!v || json_is_boolean(v))
		return true;
	http_problem(a, 400, "%s: true or false, please", key);
	return false;
}

bool body_texts(const struct body *b, struct http_answer *a, const char *key, size_t most,
                struct arena *keep, const char ***ret, size_t *ret_n)
{
	const json_t *v = member(b, key);
	size_t n = json_array_size(v);
	bool ok = !v || (json_is_array(v) && n <= most);

	*ret = NULL;
	*ret_n = 0;
	if (ok && n)
		*ret = arena_alloc(keep, n * sizeof **ret);
	for (size_t i = 0; ok && i < n; i++) {
		const json_t *one = json_array_get(v, i);

		ok = is_text(one);
		if (ok)
			(*ret)[(*ret_n)++] = arena_strndup(keep, json_string_value(one),
			                                   json_string_length(one));
	}
	if (!ok)
		http_problem(a, 400, "%s: a list of at most %zu texts, please", key, most);
	return ok;
}
