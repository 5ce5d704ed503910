/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - see versions.h. */
#include "fetch/versions.h"

#include <curl/curl.h>
#include <stdio.h>

const char *fetch_versions(char *buf, size_t size)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	bool http2 = v->age >= CURLVERSION_SIXTH && v->nghttp2_version;

	snprintf(buf, size, "libcurl %s, %s%s%s", v->version,
	         v->ssl_version ? v->ssl_version : "without TLS", http2 ? ", nghttp2 " : "",
	         http2 ? v->nghttp2_version : "");
	return buf;
}

bool fetch_has_tls(void)
{
	return curl_version_info(CURLVERSION_NOW)->ssl_version;
}

const char *fetch_certificates(void)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	return v->age >= CURLVERSION_SEVENTH && v->cainfo ? v->cainfo :
	       "/etc/ssl/certs/ca-certificates.crt";
}
