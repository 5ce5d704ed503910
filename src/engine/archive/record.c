/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - records as captures of the store, and back; see record.h. */
#include "engine/archive/record.h"

struct text record_text(struct slice s)
{
	return (struct text){ s.s, s.size };
}

static struct slice to_slice(struct text t)
{
	return (struct slice){ t.s, t.size };
}

void record_to_capture(const struct record *r, struct store_capture *ret)
{
	*ret = (struct store_capture){
		.time = r->time, .status = r->status, .revisit = r->revisit,
		.mime = record_text(r->mime), .digest = record_text(r->digest),
		.prose = record_text(r->prose), .tags = record_text(r->tags),
		.title = record_text(r->title), .etag = record_text(r->etag),
		.modified = record_text(r->modified), .has_simhash = r->has_simhash,
		.simhash = r->simhash, .length = r->length, .bytes_text = r->facts.text,
		.words = r->facts.words, .images = r->facts.images, .tables = r->facts.tables,
		.emails = r->facts.emails, .outlinks = r->facts.outlinks,
		.links = record_text(r->links), .terms = record_text(r->terms),
		.file = record_text(r->file), .offset = r->offset, .size = r->record_size,
		.target = record_text(r->target), .robots = record_text(r->robots),
	};
}

void record_from_capture(const struct store_capture *c, struct record *ret)
{
	*ret = (struct record){
		.time = c->time, .status = c->status, .revisit = c->revisit,
		.mime = to_slice(c->mime), .digest = to_slice(c->digest),
		.prose = to_slice(c->prose), .tags = to_slice(c->tags),
		.title = to_slice(c->title), .etag = to_slice(c->etag),
		.modified = to_slice(c->modified), .has_simhash = c->has_simhash,
		.simhash = c->simhash, .length = c->length,
		.facts = { c->bytes_text, c->words, c->images, c->tables, c->emails, c->outlinks },
		.links = to_slice(c->links), .terms = to_slice(c->terms),
		.file = to_slice(c->file), .offset = c->offset, .record_size = c->size,
		.target = to_slice(c->target), .robots = to_slice(c->robots),
	};
}
