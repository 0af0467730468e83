/* SPDX-License-Identifier: MIT
 *
 * What a worker finds out about a dataset when it lists its units.
 */
#ifndef VALUE_DATASET_FACTS_H
#define VALUE_DATASET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#define FACTS_ENDLESS ((uint64_t)INT64_MAX)
#define FACTS_UNCOUNTED UINT64_MAX
/* For people and programs they are these. */
enum { FACTS_SAID_ENDLESS = -1, FACTS_SAID_UNCOUNTED = -2 };

struct dataset_facts {
	bool known;           /* somebody has looked */
	uint64_t cardinality; /* number of elements that one stream of all gives, or a constant from above */
	char *global;         /* the first operator that must see all elements; "" or NULL: none */
	bool files;           /* each unit is a file */
	bool hint;            /* it takes its share from the job: shard auto auto */
	bool orders;          /* several streams can give, in order source, what one process gives */
	bool repeats;         /* made again with the same seed, it gives the same elements */
	bool indexed;         /* shards read the source by index, and make nothing in vain */
	bool programs;        /* it runs programs */
};

#endif
