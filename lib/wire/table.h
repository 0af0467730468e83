/* SPDX-License-Identifier: MIT
 *
 * Short forms for rows of fields: wire/table_*.c.
 */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "wire/field.h"

/* A field inside a struct that the message has, by its name in the message. */
#define PART(s, called, kind, place, most, text) \
	{ called, FIELD_##kind, offsetof(struct s, place), most, text, NULL, 0, false }
#define U32(s, f, most, text) { #f, FIELD_U32, offsetof(struct s, f), most, text, NULL, 0, false }
#define U64(s, f, text) { #f, FIELD_U64, offsetof(struct s, f), 0, text, NULL, 0, false }
#define BOOL(s, f, text) { #f, FIELD_BOOL, offsetof(struct s, f), 0, text, NULL, 0, false }
#define TEXT(s, f, most, text) { #f, FIELD_TEXT, offsetof(struct s, f), most, text, NULL, 0, false }
#define NAME(s, f, text) TEXT(s, f, WIRE_NAME_MAX, text)
#define BYTES(s, f, most, text) { #f, FIELD_BYTES, offsetof(struct s, f), most, text, NULL, 0, false }
#define RANGES(s, f, text) { #f, FIELD_RANGES, offsetof(struct s, f), WIRE_RANGES_MAX, text, NULL, 0, false }
#define LIST(s, f, most, rows, type, text) \
	{ #f, FIELD_LIST, offsetof(struct s, f), most, text, rows, sizeof(type), false }
/* A secret as two numbers. */
#define SECRET(s, f, text) \
	PART(s, #f "_high", U64, f.high, 0, text ": its upper half"), PART(s, #f "_low", U64, f.low, 0, "its lower half")
/* Facts about a dataset, without `files`, which UNITS has anyway. */
#define FACTS(s, f) \
	PART(s, "facts", BOOL, f.known, 0, "the worker could plan the pipeline:"), \
	PART(s, "cardinality", U64, f.cardinality, 0, \
		"number of its elements; 9223372036854775807: endless, 18446744073709551615: not known before it is read"), \
	PART(s, "global", TEXT, f.global, WIRE_NAME_MAX, "begin of the first operator that must see all elements"), \
	PART(s, "hint", BOOL, f.hint, 0, "it takes its share from the job (`shard auto auto`)"), \
	PART(s, "orders", BOOL, f.orders, 0, "several streams can give, in order source, what one process gives"), \
	PART(s, "repeats", BOOL, f.repeats, 0, "made again, it gives the same"), \
	PART(s, "indexed", BOOL, f.indexed, 0, "shards read the source by index"), \
	PART(s, "programs", BOOL, f.programs, 0, "it runs programs")
#define KEY(s) \
	{ "iteration", FIELD_U64, offsetof(struct s, key.iteration), 0, NULL, NULL, 0, false }, \
	{ "stream", FIELD_U32, offsetof(struct s, key.stream), 0, NULL, NULL, 0, false }, \
	{ "gen", FIELD_U32, offsetof(struct s, key.gen), 0, NULL, NULL, 0, false }

#endif
