/* SPDX-License-Identifier: MIT
 *
 * Answers in XML (libxml2).
 */
#ifndef FETCH_ANSWER_H
#define FETCH_ANSWER_H

#include <stdbool.h>

#include "fetch/call.h"

/* Zero: nothing was read. */
struct answer {
	const struct fetch_xml_lib *xml;
	xmlDoc *doc;
	const xmlNode *root;
};

/* Reads it; ST_DATA: it is not what its first element should be called, `what` says of what. */
enum status answer_read(const struct call_answer *bytes, const char *root, const char *what, struct answer *out,
			struct err *e);
void answer_clear(struct answer *a);
bool answer_is(const xmlNode *n, const char *name);
/* Gives the text of the first child with that name; NULL: there is none. */
char *answer_text(const struct answer *a, const xmlNode *parent, const char *name);

#endif
