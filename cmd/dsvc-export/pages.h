/* SPDX-License-Identifier: MIT
 *
 * Which report stands under which path, and how; the page for people is in site.h.
 */
#ifndef EXPORT_PAGES_H
#define EXPORT_PAGES_H

#include "asker.h"
#include "base/buf.h"

struct page_want {
	bool open;    /* Accept names OpenMetrics */
	bool workers; /* series for each worker */
};

struct page {
	const char *path;
	int ask;      /* enum ask, or -1: it needs no report */
	const char *type, *open_type; /* Content-Type; open_type: of OpenMetrics, or NULL */
	/* Appends the body and gives the status code of HTTP; st and e: how the question went. */
	unsigned (*make)(const struct page_want *w, enum status st, struct slice report, const struct err *e,
			 struct buf *out);
};

/* NULL: there is none. */
const struct page *page_find(const char *path);
/* The paths, one a line: the body where none is found. */
void page_list(struct buf *out);

#endif
