/* SPDX-License-Identifier: Apache-2.0 */
/* cause.c - see cause.h. */
#include "base/cause.h"

#include <string.h>

static const struct { unsigned number; const char *name, *text; } causes[] = {
#define CAUSE(code, number, name, text) { number, name, text },
#include "base/cause.def"
#undef CAUSE
};

#define N_CAUSES (sizeof causes / sizeof *causes)

static size_t place_of(unsigned cause)
{
	size_t i = 0;

	while (i < N_CAUSES && causes[i].number != cause)
		i++;
	return i < N_CAUSES ? i : place_of(CAUSE_OTHER);
}

const char *cause_name(unsigned cause)
{
	return causes[place_of(cause)].name;
}

const char *cause_text(unsigned cause)
{
	return causes[place_of(cause)].text;
}

enum cause cause_find(const char *name, size_t size)
{
	for (size_t i = 0; i < N_CAUSES; i++)
		if (strlen(causes[i].name) == size && !memcmp(causes[i].name, name, size))
			return (enum cause)causes[i].number;
	return CAUSE_OTHER;
}
