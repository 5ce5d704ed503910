/* SPDX-License-Identifier: Apache-2.0 */
/* page_arg.c - a page named by its URL on the command line. */
#include "cli/page_arg.h"

#include <string.h>

#include "base/buf.h"
#include "web/url.h"

int page_arg_find(struct store *s, const char *url, struct store_page *ret, struct err *err)
{
	struct buf text, canonical;
	int rc;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	rc = url_canonical(buf_text(&text), text.size, &canonical, err);
	if (rc == 0) {
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
