/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_name.h - the file name of a page in a mirror.
 *
 * A name depends on the URL and the type of the page only, so it does not change when
 * other pages come.  Two URLs have two names, on file systems that do not know a from A
 * too.  Names have the letters, digits and marks . _ ~ - + @ only: no file system forbids
 * them, and no link needs them encoded.
 *
 *   https://example.org/            example.org/index.html
 *   https://example.org/a/b.html    example.org/a/b.html
 *   https://example.org/about       example.org/about@.html        (an HTML page)
 *   https://example.org/v1.2/x.png  example.org/v1.2+/x.png
 *   http://example.org:8080/        example.org_8080/index.html    (http has its port)
 *   https://example.org/?q=1        example.org/index@q_1-HASH.html
 *
 * How: a file's name has an ending, a folder's with a dot ends with '+', so none is both.
 * '@' stands where an ending or a query was added.  Whatever else had to be changed
 * (capitals, other characters, names that Windows reserves, long names) gets a hash of
 * what stood there, and so does a host with '_' in its name, which stands before a port.
 * No file ends with ".part", and no host is called index.html: the mirror writes these.
 */
#ifndef ENGINE_MIRROR_MIRROR_NAME_H
#define ENGINE_MIRROR_MIRROR_NAME_H

#include "base/buf.h"
#include "base/text.h"

/* Append the name of a page; url is canonical, mime may be nothing. */
void mirror_name(struct text url, struct text mime, struct buf *out);
/* Append the link that leads from the file `from` to the file `to`, both as above. */
void mirror_relative(const char *from, const char *to, struct buf *out);
/* Is it HTML, by its type? */
bool mirror_is_html(struct text mime);

#endif
