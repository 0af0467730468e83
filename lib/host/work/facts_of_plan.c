/* SPDX-License-Identifier: MIT */
#include "host/work/facts_of_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "op/facts.h"
#include "wire/msg.h"

/* The begin of its text, in whole characters. */
static char *
facts_text(const struct op_node *n)
{
	const char *text = n ? op_text(n) : "";
	size_t len = strlen(text);

	return mem_strndup(text, str_utf8_valid(text, len < WIRE_NAME_MAX ? len : WIRE_NAME_MAX));
}

void
facts_of_plan(const struct plan *p, struct dataset_facts *out)
{
	int64_t count = op_elements_of(p->top);
	bool seeded = p->options.seed != PARAM_AUTO, indexed;
	struct err *e = mem_zalloc(sizeof *e);

	op_shard_place(p->top, &indexed);
	*out = (struct dataset_facts){ .known = true, .hint = p->by_share != NULL, .indexed = indexed,
		.cardinality = count < 0 ? FACTS_UNCOUNTED : (uint64_t)count, .global = facts_text(p->global),
		.orders = !p->global && op_in_order(p->top, seeded, NULL, e) == ST_OK, .repeats = !op_timed(p->top),
		.programs = op_needs_exec(p->top) != NULL };
	mem_free(e);
}
