/* SPDX-License-Identifier: Apache-2.0 */
/* ask_print.h - what other crawlers are answered: offers, wait, done. */
#ifndef CLI_PRINT_ASK_PRINT_H
#define CLI_PRINT_ASK_PRINT_H

#include "base/io/json.h"
#include "engine/client/client.h"

/* An offer; on a line of its own, unless it stands in a document. */
void ask_print_offer(struct json *j, const struct client_offer *o);
/* One line that stands for no page. */
void ask_print_none(struct json *j, const struct client_asked *r);
/* The members of freshet.ask/1. */
void ask_print_json(struct json *j, const struct client_asked *r);

#endif
