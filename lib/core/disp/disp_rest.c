/* SPDX-License-Identifier: MIT
 *
 * Jobs at rest. A job that is over is kept for audits, and for readers that come once more;
 * there may be very many. While nobody reads it, its passes are packed into what their rows
 * have, and a few sums that have no rows. Whoever looks for one of them wakes the whole job:
 *
 *	used, forgotten, or a pass found by its id  ->  awake
 *	rows written, and nobody reads it           ->  at rest
 *
 * A report looks at each pass by itself, and leaves the job at rest: there may be very many.
 *
 * A pass with failed elements stays as it is, for their sake.
 */
#include "core/disp/disp_rest.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_row.h"
#include "core/disp/disp_wanted.h"
#include "wire/table.h"

/* A packed pass. */
struct iter_rest {
	uint64_t id;
	struct job *job;
	struct iter_rest *next;   /* the job's next pass */
	uint32_t n_sums, n_row;
	uint8_t bytes[];          /* the sums, and then the row */
};

/* The members of a pass that is over that its row does not have. */
static const struct field seat_number_fields[] = {
	{ .name = "seat", .kind = FIELD_U64, .offset = 0 }, { 0 }
};
static const struct field rest_fields[] = {
	PART(iteration, "ran", U64, ran, 0, NULL), PART(iteration, "finished", U64, finished, 0, NULL),
	PART(iteration, "streams", U64, n_finished, 0, NULL), PART(iteration, "ended", U64, n_ended, 0, NULL),
	PART(iteration, "given", U64, spent.elements, 0, NULL), PART(iteration, "read_work", U64, spent.read_work, 0, NULL),
	PART(iteration, "read_wait", U64, spent.read_wait, 0, NULL),
	PART(iteration, "slot_work", U64, spent.slot_work, 0, NULL),
	PART(iteration, "slot_wait", U64, spent.slot_wait, 0, NULL), PART(iteration, "raw", U64, spent.raw, 0, NULL),
	PART(iteration, "wire", U64, spent.wire, 0, NULL),
	{ "given_up", FIELD_LIST, offsetof(struct iteration, given_up), WIRE_READERS_MAX, NULL, seat_number_fields,
	  sizeof(uint64_t), true }, { 0 }
};
_Static_assert(offsetof(struct iteration, n_given_up) ==
		       offsetof(struct iteration, given_up) + offsetof(struct field_list_cap, n) &&
	       offsetof(struct iteration, cap_given_up) ==
		       offsetof(struct iteration, given_up) + offsetof(struct field_list_cap, cap), "given_up");

static bool
rest_may(const struct job *j)
{
	if (j->users || j->rest || !job_over(j))
		return false;
	for (size_t i = 0; i < j->n_iters; i++)
		if (j->iters[i]->faults.n)
			return false;
	return true;
}

static struct iter_rest *
rest_pack(const struct iteration *it)
{
	struct buf b = { 0 };
	struct iter_rest *r;
	size_t sums;

	fields_encode(rest_fields, it, &b);
	sums = b.len;
	fields_encode(row_iter_fields, it, &b);
	r = mem_alloc(sizeof *r + b.len);
	*r = (struct iter_rest){ .id = it->id, .job = it->job, .n_sums = (uint32_t)sums, .n_row = (uint32_t)(b.len - sums) };
	memcpy(r->bytes, b.data, b.len);
	buf_clear(&b);
	return r;
}

/* Into zeroed storage. */
static void
rest_decode(const struct iter_rest *r, struct iteration *it)
{
	struct err e;

	/* It was written from the same tables. */
	enum status st = fields_decode("pass at rest", row_iter_fields, r->bytes + r->n_sums, r->n_row, it, &e);
	assert(st == ST_OK);
	st = fields_decode("pass at rest", rest_fields, r->bytes, r->n_sums, it, &e);
	assert(st == ST_OK);
	(void)st;
}

static void
rest_unpack(struct disp *d, const struct iter_rest *r)
{
	struct iteration from = { 0 }, *it;

	rest_decode(r, &from);
	it = iter_new(d, r->job, r->id, from.epoch);
	wanted_over(it);
	fields_move(row_iter_fields, it, &from);
	fields_move(rest_fields, it, &from);
	ring_drop(&it->running_node);
	job_add_iter(r->job, it);
}

size_t
rest_passes(const struct job *j)
{
	size_t n = 0;

	for (const struct iter_rest *r = j->rest; r; r = r->next)
		n++;
	return n;
}

void
rest_look(struct job *j, void (*see)(void *arg, const struct iteration *it), void *arg)
{
	for (const struct iter_rest *r = j->rest; r; r = r->next) {
		struct iteration it = { .id = r->id, .job = j };

		rest_decode(r, &it);
		see(arg, &it);
		fields_clear(row_iter_fields, &it);
		fields_clear(rest_fields, &it);
	}
}

void
job_rest(struct disp *d, struct job *j)
{
	struct iter_rest **end = &j->rest;

	if (!rest_may(j))
		return;
	for (size_t i = 0; i < j->n_iters; i++)
		if (j->iters[i]->dirty.node.next) { /* comes after it in the list of what is to be written */
			job_rest_soon(d, j);
			return;
		}
	for (size_t i = 0; i < j->n_iters; i++) {
		struct iter_rest *r = rest_pack(j->iters[i]);

		*end = r;
		end = &r->next;
		iter_release(d, j->iters[i]);
		hash_put(&d->rests, &r->id, sizeof r->id, r);
	}
	mem_free(j->iters);
	j->iters = NULL;
	j->n_iters = j->cap_iters = 0;
	place_job_free(j);
}

void
job_rest_soon(struct disp *d, struct job *j)
{
	if (rest_may(j))
		disp_dirty(d, &j->dirty, DIRTY_REST);
}

void
job_wake(struct disp *d, struct job *j)
{
	struct iter_rest *r = j->rest, *next;

	if (!r)
		return;
	j->rest = NULL;
	place_job(d, j);
	for (; r; r = next) {
		next = r->next;
		hash_del(&d->rests, &r->id, sizeof r->id);
		rest_unpack(d, r);
		mem_free(r);
	}
	job_rest_soon(d, j);
}

struct iteration *
rest_find(struct disp *d, uint64_t id)
{
	const struct iter_rest *r = hash_get(&d->rests, &id, sizeof id);

	if (!r)
		return NULL;
	job_wake(d, r->job);
	return hash_get(&d->iters, &id, sizeof id);
}
