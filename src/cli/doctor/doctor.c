/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - findings; see doctor.h. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

void doctor_find(struct doctor *d, const char *check, enum verdict verdict, const char *fmt,
                 ...)
{
	struct finding f = { .check = check, .verdict = verdict };
	char text[sizeof f.found + sizeof f.advice], *bar;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_plain(text);
	bar = strchr(text, '|');
	if (bar)
		*bar = 0;
	snprintf(f.found, sizeof f.found, "%.399s", text);
	snprintf(f.advice, sizeof f.advice, "%.399s", bar ? bar + 1 : "");
	vec_push(&d->findings, f);
}
