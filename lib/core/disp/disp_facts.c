/* SPDX-License-Identifier: MIT
 *
 * Facts about datasets: workers say them with the units that they list.
 */
#include "core/disp/disp_facts.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/record_put.h"

void
facts_found(struct disp *d, struct dataset *s, struct msg_units *u)
{
	struct dataset_facts *old = &s->facts, *f = &u->facts;

	f->files = u->files;
	bool same = old->known == f->known && old->cardinality == f->cardinality && old->files == f->files &&
		old->hint == f->hint && old->orders == f->orders && old->repeats == f->repeats &&
		old->indexed == f->indexed && old->programs == f->programs &&
		!strcmp(str_or_empty(old->global), str_or_empty(f->global));

	if (!f->known || same)
		return;
	mem_free(old->global);
	*old = *f;
	f->global = NULL;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
}

void
facts_report(struct buf *b, const struct dataset_facts *f)
{
	record_put_bool(b, "known", f->known);
	if (!f->known)
		return;
	record_put_int(b, "cardinality", f->cardinality == FACTS_ENDLESS ? FACTS_SAID_ENDLESS :
		       f->cardinality > FACTS_ENDLESS ? FACTS_SAID_UNCOUNTED : (int64_t)f->cardinality);
	record_put_text(b, "global", f->global);
	record_put_bool(b, "files", f->files);
	record_put_bool(b, "hint", f->hint);
	record_put_bool(b, "orders", f->orders);
	record_put_bool(b, "repeats", f->repeats);
	record_put_bool(b, "indexed", f->indexed);
	record_put_bool(b, "programs", f->programs);
}
