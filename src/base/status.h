/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - what an HTTP status says of a page: one place for all who ask.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

/* The answer is the page, and all of it.  The other 2xx are not: 206 is a part, 202 is what
 * walls against robots say, 204 and 205 are empty, 201 and 207 do not answer GET. */
static inline bool status_is_page(int status)
{
	return status == 200 || status == 203;
}

/* The server says that the page is not there.  Whether it is believed others decide. */
static inline bool status_is_gone(int status)
{
	return status == 404 || status == 410;
}

/* 304 is none: it speaks of what the asker has. */
static inline bool status_is_redirect(int status)
{
	return status >= 300 && status <= 399 && status != 304;
}

#endif
