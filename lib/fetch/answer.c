/* SPDX-License-Identifier: MIT */
#include "fetch/answer.h"

#include <string.h>

#include "base/mem.h"

bool
answer_is(const xmlNode *n, const char *name)
{
	return n->type == XML_ELEMENT_NODE && !strcmp((const char *)n->name, name);
}

enum status
answer_read(const struct call_answer *bytes, const char *root, const char *what, struct answer *out, struct err *e)
{
	*out = (struct answer){ .xml = fetch_xml_lib(e) };
	if (!out->xml)
		return e->kind;
	if (!bytes->too_long && bytes->bytes.len)
		out->doc = out->xml->xmlReadMemory((const char *)bytes->bytes.data, (int)bytes->bytes.len, "answer.xml", NULL,
			XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
	out->root = out->doc ? out->xml->xmlDocGetRootElement(out->doc) : NULL;
	if (out->root && answer_is(out->root, root))
		return ST_OK;
	answer_clear(out);
	return err_set(e, ST_DATA, "the server's %s cannot be understood", what);
}

void
answer_clear(struct answer *a)
{
	if (a->doc)
		a->xml->xmlFreeDoc(a->doc);
	*a = (struct answer){ 0 };
}

char *
answer_text(const struct answer *a, const xmlNode *parent, const char *name)
{
	for (const xmlNode *n = parent->children; n; n = n->next) {
		xmlChar *text = answer_is(n, name) ? a->xml->xmlNodeGetContent(n) : NULL;
		char *copy = mem_strdup((char *)text);

		if (text)
			(*a->xml->xmlFree)(text);
		if (copy)
			return copy;
	}
	return NULL;
}
