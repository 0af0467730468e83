/* SPDX-License-Identifier: MIT
 *
 * Jobs, iterations and streams by the names that messages give them.
 */
#include <stdio.h>
#include <string.h>

#include "core/disp/disp_rest.h"
#include "core/disp/disp_role.h"

struct job *
job_named(struct disp *d, const char *name)
{
	struct job *j = *name ? hash_get_str(&d->jobs, name) : NULL;

	if (j)
		job_wake(d, j);
	return j;
}

struct job *
job_look(struct disp *d, const char *name)
{
	struct job *j = job_named(d, name);

	for (struct list_node *n = d->job_list.next; !j && n != &d->job_list; n = n->next) {
		char number[24];

		snprintf(number, sizeof number, "%llu", (unsigned long long)LIST_OF(n, struct job, node)->number);
		if (!strcmp(number, name))
			j = LIST_OF(n, struct job, node);
	}
	return j;
}

struct iteration *
iter_find(struct disp *d, uint64_t id)
{
	struct iteration *it = hash_get(&d->iters, &id, sizeof id);

	return it ? it : rest_find(d, id);
}

struct stream *
iter_stream(const struct iteration *it, uint32_t index)
{
	return index < it->n_streams ? it->streams[index] : NULL;
}

bool
iter_live(const struct iteration *it)
{
	return it->state == ITER_LISTING || it->state == ITER_RUNNING;
}

struct stream *
stream_find(struct disp *d, struct stream_key key)
{
	struct iteration *it = iter_find(d, key.iteration);

	return it ? iter_stream(it, key.stream) : NULL;
}

struct secret
stream_secret(const struct disp *d, const struct stream *s)
{
	const uint64_t v[] = { s->iter->id, s->index, s->gen };

	return secret_derive(d->o.secret, v, sizeof v / sizeof *v);
}

struct stream_key
stream_key_of(const struct stream *s)
{
	return (struct stream_key){ s->iter->id, s->index, s->gen };
}
