/* SPDX-License-Identifier: MIT
 *
 * Facts about datasets, which workers say with the units that they list.
 */
#ifndef CORE_DISP_FACTS_H
#define CORE_DISP_FACTS_H

#include "core/disp/disp_inner.h"

/* A worker has looked at the dataset; what it says is taken out of *u. Nothing happens if it
 * could not tell, or says the same as before. */
void facts_found(struct disp *d, struct dataset *s, struct msg_units *u);
/* Appends the pairs of a dataset in a report: FACTS_PAIRS of them if they are known, else one. */
enum { FACTS_PAIRS = 9 };
void facts_report(struct buf *b, const struct dataset_facts *f);

#endif
