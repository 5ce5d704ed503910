/* SPDX-License-Identifier: Apache-2.0 */
/* archive_warc.h - the captures of a WARC file as records; used by archive.c. */
#ifndef ENGINE_ARCHIVE_WARC_H
#define ENGINE_ARCHIVE_WARC_H

#include "engine/archive.h"

/* Takes over the input. */
MUST_CHECK int archive_read_warc(struct archive_reader *a, struct input *in, struct err *err);

#endif
