/* SPDX-License-Identifier: Apache-2.0 */
/* versions.h - the libraries that pages are fetched with, as `freshet doctor` names them. */
#ifndef FETCH_VERSIONS_H
#define FETCH_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* "libcurl 7.88.1, OpenSSL/3.0.17, nghttp2 1.52.0" in buf, which it returns. */
const char *fetch_versions(char *buf, size_t size);
bool fetch_has_tls(void);
/* The file of certificates that is used unless the environment names another. */
const char *fetch_certificates(void);

#endif
