/* SPDX-License-Identifier: MIT
 *
 * Values as text and back, for the operators parse and format: the forms that
 * are neither JSON nor CSV in, and all that are a line out.
 *
 *	kv   a=1 b="two words" c      what programs log (logfmt); a bare word is true
 *	url  a=1&b=two%20words        the query of a URL
 */
#ifndef FORMAT_TEXTFORM_H
#define FORMAT_TEXTFORM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/mp.h"
#include "value/json_rules.h"

enum { TEXTFORM_FIELDS = 1000 };

/* One field while it is being read; places in textform.text. */
struct textform_field {
	size_t key, key_len, value, value_len;
	bool quoted; /* a text, whatever it looks like */
	bool bare;   /* without a value */
};

/* Zero is a valid empty form; its memory is used again. */
struct textform {
	struct buf text; /* keys and values without escapes */
	struct textform_field *v;
	size_t n, cap;
};

void textform_clear(struct textform *t);
/* The signs of the form. Zero: kv as programs log it, all values texts. */
struct textform_conf {
	const char *pair; /* kv: sign between fields; NULL: blanks */
	size_t pair_len;
	const char *is;   /* kv: sign between a key and its value; NULL: = */
	size_t is_len;
	bool typed;       /* unquoted values are typed, by the rule of csv_put_typed */
};

/* Append a record to out; of a repeated field, the last counts. */
enum status textform_kv(struct textform *t, const struct textform_conf *conf, const uint8_t *p,
			size_t n, struct buf *out, struct err *e);
enum status textform_url(struct textform *t, const struct textform_conf *conf, const uint8_t *p,
			 size_t n, struct buf *out, struct err *e);

/* Append the text of a record (kv, url), or a record or list (csv), without an
 * end of line. ST_DATA: it is neither, or the rules refuse a value within one of its values. */
enum status textform_put_kv(const uint8_t *p, size_t n, const struct json_rules *rules, struct buf *out,
			    struct err *e);
enum status textform_put_url(const uint8_t *p, size_t n, const struct json_rules *rules, struct buf *out,
			     struct err *e);
enum status textform_put_csv(const uint8_t *p, size_t n, uint8_t delim, const struct json_rules *rules,
			     struct buf *out, struct err *e);

#endif
