/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - codes with a message on the caller's stack; see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;

		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof err->text, fmt, ap);
		va_end(ap);
	}
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	int saved = errno;

	if (err) {
		va_list ap;
		size_t n;

		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof err->text, fmt, ap);
		va_end(ap);
		n = strlen(err->text);
		snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(saved));
	}
	return code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char old[sizeof err->text];
	va_list ap;
	size_t n;

	if (!err)
		return E_FAIL;
	memcpy(old, err->text, sizeof old);
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, ": %.*s",
	         (int)(sizeof old - 1), old);
	return err->code;
}

static const struct { int code, status; } table[] = {
#define ERR(code, status) { code, status },
#include "base/err.def"
#undef ERR
};

int err_exit_status(int code)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].code == code)
			return table[i].status;
	return code < 0 ? 1 : 0;
}

_Noreturn void err_no_memory(void)
{
	fputs("freshet: out of memory\n", stderr);
	abort();
}
