/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - records as captures of the store, and back; see record.h. */
#include "engine/archive/record.h"

void record_to_capture(const struct record *r, struct store_capture *ret)
{
	*ret = (struct store_capture){
		.time = r->time, .status = r->status, .revisit = r->revisit,
		.mime = r->mime, .digest = r->digest,
		.prose = r->prose, .tags = r->tags,
		.title = r->title, .etag = r->etag,
		.modified = r->modified, .has_simhash = r->has_simhash,
		.simhash = r->simhash, .length = r->length, .bytes_text = r->facts.text,
		.words = r->facts.words, .images = r->facts.images, .tables = r->facts.tables,
		.emails = r->facts.emails, .outlinks = r->facts.outlinks,
		.links = r->links, .terms = r->terms,
		.file = r->file, .offset = r->offset, .size = r->record_size,
		.target = r->target, .robots = r->robots,
	};
}

void record_from_capture(const struct store_capture *c, struct record *ret)
{
	*ret = (struct record){
		.time = c->time, .status = c->status, .revisit = c->revisit,
		.mime = c->mime, .digest = c->digest,
		.prose = c->prose, .tags = c->tags,
		.title = c->title, .etag = c->etag,
		.modified = c->modified, .has_simhash = c->has_simhash,
		.simhash = c->simhash, .length = c->length,
		.facts = { c->bytes_text, c->words, c->images, c->tables, c->emails, c->outlinks },
		.links = c->links, .terms = c->terms,
		.file = c->file, .offset = c->offset, .record_size = c->size,
		.target = c->target, .robots = c->robots,
	};
}
