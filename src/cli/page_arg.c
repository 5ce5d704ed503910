/* SPDX-License-Identifier: Apache-2.0 */
/* page_arg.c - a page named by its URL on the command line. */
#include "cli/page_arg.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "web/url.h"

int page_arg_find(struct store *s, const char *url, struct store_page *ret, struct err *err)
{
	struct buf text, canonical;
	struct err why = { 0 };
	int rc;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	rc = url_canonical(buf_text(&text), text.size, &canonical, &why);
	if (rc < 0) {
		char shown[200];

		rc = err_set(err, E_USAGE, "'%s' is no URL of a page: %s",
		             log_quote(url, strlen(url), shown, sizeof shown), why.text);
	} else {
		rc = store_page_find(s, (struct text){ canonical.data, canonical.size }, ret, err);
		if (rc == 0)
			rc = err_set(err, E_USAGE, "%s: not in this repository; `freshet add` puts it "
			             "under care", buf_text(&canonical));
		else if (rc > 0)
			rc = 0;
	}
	buf_release(&text);
	buf_release(&canonical);
	return rc;
}
