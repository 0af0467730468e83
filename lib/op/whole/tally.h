/* SPDX-License-Identifier: MIT
 *
 * What stats works out of numbers: how many, their sum, mean, extremes, standard
 * deviation and quantiles. Sums are rounded once, so that the same numbers give the same
 * in whatever order, and in however many parts, they are added.
 */
#ifndef WHOLE_TALLY_H
#define WHOLE_TALLY_H

#include "op/whole/digest.h"
#include "value/mp.h"

/* The name of the field that tells how far quantiles may be off. */
#define TALLY_APPROX "approx"
/* The name of the field that has the number of nulls. */
#define TALLY_NULLS "nulls"
enum {
	TALLY_FIELDS = 6,      /* count, sum, mean, min, max, stddev; then the quantiles */
	TALLY_QUANTILES = 100, /* most quantiles */
	TALLY_NAME = 40
};

/* The quantiles asked for, from 0 to 1, and what their fields are called: p50, p99.9. */
struct tally_quantiles {
	double q[TALLY_QUANTILES];
	char name[TALLY_QUANTILES][TALLY_NAME];
	uint32_t n;
};

/* Zero is an empty tally; for quantiles, numbers.most must be set. */
struct tally {
	uint64_t count, nans;
	uint64_t nulls;                /* left out of everything else */
	__int128 sum, least, greatest; /* only the ints */
	bool is_float;                 /* there are floats, too */
	uint8_t *wide;                 /* sums of all numbers and of their squares (wide_sum.h) */
	size_t wide_len, wide_cap;
	double low, high;              /* extremes of the numbers that are not nan */
	struct digest numbers;         /* empty when no quantiles are asked for */
};

/* The fields that follow the others in all records, if one record needs them. */
struct tally_more {
	bool nulls, approx;
};

/* Reads the list of quantiles, an encoded value: false if it is not a list of numbers from 0 to 1. */
bool tally_quantiles_read(const uint8_t *p, size_t len, struct tally_quantiles *out);
void tally_clear(struct tally *t);
/* Adds an int or a float; keep: for quantiles, too. */
void tally_add(struct tally *t, const struct mp *m, bool keep);
/* Adds all that another tally has. */
void tally_join(struct tally *t, const struct tally *from);
size_t tally_size(const struct tally *t); /* memory used, for limits */
/* Fills in names (lent by q) and types of the fields; some: there is a number. They
 * are at most TALLY_FIELDS + q->n + 2; gives their number. */
size_t tally_types(struct types *arena, const struct tally_quantiles *q, bool some, struct type_field *out);
/* Adds to `more` the fields that this tally needs. */
void tally_look(const struct tally *t, const struct tally_quantiles *q, struct tally_more *more);
/* Bytes that tally_put needs at most, the number of fields it will put, and the fields. */
size_t tally_room(const struct tally_quantiles *q);
uint32_t tally_fields(const struct tally_quantiles *q, const struct tally_more *more);
uint8_t *tally_put(struct tally *t, const struct tally_quantiles *q, const struct tally_more *more, uint8_t *p);
/* false: too large to be saved. */
bool tally_save(const struct tally *t, struct buf *out);
void tally_restore(struct tally *t, struct state_in *in);

#endif
