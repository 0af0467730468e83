/* SPDX-License-Identifier: MIT
 *
 * What a dispatcher keeps of a dataset for people and for readers, worked out where its files are.
 */
#ifndef HOST_WORK_FACTS_OF_PLAN_H
#define HOST_WORK_FACTS_OF_PLAN_H

#include "lang/spec.h"
#include "value/dataset_facts.h"

/* All but `files`. Looks at files. `global` is a copy, the caller's. */
void facts_of_plan(const struct plan *p, struct dataset_facts *out);

#endif
