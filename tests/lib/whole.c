/* SPDX-License-Identifier: Apache-2.0 */
/* whole.c - see whole.h. */
#include "whole.h"

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)arg, (void)p, (void)err;
	return 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)arg, (void)v, (void)err;
	return 0;
}

static int see_problem(void *arg, const struct store_problem *p, struct err *err)
{
	(void)arg;
	return err_set(err, E_STORE, "%s", p->text);
}

int whole_check(struct store *s, struct err *err)
{
	int rc = store_check(s, see_problem, NULL, err);

	if (rc == 0)
		rc = store_pages(s, 0, see_page, NULL, err);
	if (rc == 0)
		rc = store_captures(s, NULL, 0, see_capture, NULL, err);
	return rc < 0 ? rc : store_visits(s, 0, UINT32_MAX, see_visit, NULL, err);
}
