/* SPDX-License-Identifier: MIT */
#include "op/program_row.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "value/format/frame.h"
#include "value/mp.h"

enum { ROW_SHOWN = 200, ROW_NUMBER_MAX = 9 };

/* The fields of the record, in their order. */
enum row_kind { ROW_INT, ROW_TIME, ROW_TEXT, ROW_ANSWERS };
static const struct row_field {
	const char *name;
	enum row_kind kind;
	size_t at;
} row_fields[] = {
	{ "number", ROW_INT, offsetof(struct program_row, number) },
	{ "worker", ROW_TEXT, offsetof(struct program_row, worker) },
	{ "start", ROW_TIME, offsetof(struct program_row, began) },
	{ "seconds", ROW_TIME, offsetof(struct program_row, took) },
	{ "sent", ROW_INT, offsetof(struct program_row, sent) },
	{ "received", ROW_INT, offsetof(struct program_row, received) },
	{ "code", ROW_INT, offsetof(struct program_row, code) },
	{ "signal", ROW_INT, offsetof(struct program_row, signal) },
	{ "command", ROW_TEXT, offsetof(struct program_row, command) },
	{ "argument", ROW_TEXT, offsetof(struct program_row, argument) },
	{ "key", ROW_TEXT, offsetof(struct program_row, key) },
	{ "answers", ROW_ANSWERS, 0 },
};
enum { ROW_FIELDS = sizeof row_fields / sizeof *row_fields };

void
program_row_key(uint32_t op, const struct elem *x, uint8_t key[PROGRAM_KEY])
{
	crypto_generichash_state h;
	uint8_t place[4] = { (uint8_t)(op >> 24), (uint8_t)(op >> 16), (uint8_t)(op >> 8), (uint8_t)op };

	crypto_generichash_init(&h, NULL, 0, PROGRAM_KEY);
	crypto_generichash_update(&h, place, sizeof place);
	crypto_generichash_update(&h, x->p, x->len);
	crypto_generichash_final(&h, key, PROGRAM_KEY);
}

/* Puts text into a column: on one line, without tabs, and not too long. */
static void
row_column(const uint8_t *p, size_t n, size_t most, struct buf *out)
{
	size_t shown = n <= most ? n : str_utf8_valid((const char *)p, most);

	for (size_t i = 0; i < shown; i++) {
		if (p[i] == '\n' || p[i] == '\t')
			buf_str(out, p[i] == '\n' ? "\\n" : "\\t");
		else if (p[i] < ' ' || p[i] == 0x7f)
			buf_printf(out, "\\%03o", p[i]);
		else
			buf_byte(out, p[i]);
	}
	if (shown < n)
		buf_str(out, "...");
}

static void
row_argument(const struct elem *x, struct buf *out)
{
	struct buf own = { 0 };
	size_t n;
	const uint8_t *p = frame_text(x, &own, &n);

	row_column(p, n, ROW_SHOWN, out);
	buf_clear(&own);
}

void
program_row_of(const struct op_program_run *run, uint32_t op, struct buf *texts, struct program_row *row)
{
	uint8_t key[PROGRAM_KEY];

	buf_reset(texts);
	char *hex = (char *)buf_room(texts, PROGRAM_KEY_HEX + 1);
	program_row_key(op, run->elem, key);
	sodium_bin2hex(hex, PROGRAM_KEY_HEX + 1, key, sizeof key);
	texts->len += PROGRAM_KEY_HEX;
	row_argument(run->elem, texts);
	*row = (struct program_row){ .number = run->number, .worker = { run->worker, strlen(run->worker) },
		.began = run->began, .took = run->took, .sent = run->sent, .received = run->received, .code = run->code,
		.signal = run->signal, .command = { run->command, run->command_len },
		.argument = { (char *)texts->data + PROGRAM_KEY_HEX, texts->len - PROGRAM_KEY_HEX },
		.key = { (char *)texts->data, PROGRAM_KEY_HEX } };
}

/* A record may come from anywhere: its texts are made fit for a line again. */
static void
row_text(const struct program_text *t, struct buf *out)
{
	row_column((const uint8_t *)t->p, t->n, SIZE_MAX, out);
}

void
program_row_print(const struct program_row *r, struct buf *out)
{
	int64_t ms = r->began / 1000000;

	buf_printf(out, "%" PRIu64 "\t", r->number);
	if (r->worker.n)
		row_text(&r->worker, out);
	else
		buf_byte(out, ':');
	buf_printf(out, "\t%" PRId64 ".%03d\t%.3f\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t", ms / 1000,
		   (int)(ms % 1000), (double)r->took / 1e9, r->sent, r->received, r->code, r->signal);
	row_text(&r->command, out);
	buf_byte(out, '\t');
	row_text(&r->argument, out);
	buf_byte(out, '\t');
	row_text(&r->key, out);
}

void
program_row_say(const struct program_row *r)
{
	struct buf text = { 0 };

	if (r->worker.n) {
		buf_str(&text, "worker ");
		row_text(&r->worker, &text);
		buf_str(&text, ": ");
	}
	buf_str(&text, "element (");
	row_text(&r->argument, &text);
	buf_str(&text, "): ");
	row_text(&r->command, &text);
	if (r->signal)
		buf_printf(&text, " was ended by signal %" PRId64, r->signal);
	else
		buf_printf(&text, " failed with status %" PRId64, r->code);
	log_say(LOG_WARN, "%.*s", (int)text.len, (char *)text.data);
	buf_clear(&text);
}

static uint8_t *
row_put(uint8_t *w, const struct program_row *row, const struct row_field *f)
{
	const char *at = (const char *)row + f->at;

	w = mp_put_text(w, f->name, (uint32_t)strlen(f->name));
	if (f->kind == ROW_INT)
		return mp_put_int(w, *(const int64_t *)(const void *)at);
	if (f->kind == ROW_TIME)
		return mp_put_float(w, (double)(*(const int64_t *)(const void *)at / 1000) / 1e6);
	const struct program_text *t = (const void *)at;
	return f->kind == ROW_TEXT ? mp_put_text(w, t->n ? t->p : "", (uint32_t)t->n) : w;
}

void
program_row_put(const struct program_row *row, const uint8_t *answers, size_t n, uint32_t many, struct buf *out)
{
	size_t texts = row->worker.n + row->command.n + row->argument.n + row->key.n;
	uint8_t *w = buf_room(out, n + texts + ROW_FIELDS * (2 * MP_HEAD_MAX + ROW_NUMBER_MAX + 16));

	w = mp_put_record_head(w, ROW_FIELDS);
	for (size_t i = 0; i < ROW_FIELDS; i++)
		w = row_put(w, row, &row_fields[i]);
	w = mp_put_list_head(w, many);
	if (n)
		memcpy(w, answers, n);
	out->len = (size_t)(w + n - out->data);
}

/* Seconds as ns, to the microsecond, for which a float has room; what is no time counts as 0. */
static int64_t
row_ns(const struct mp *m)
{
	double s = m->kind == MP_FLOAT ? m->f : (double)m->i;

	return isfinite(s) && s > 0 && s < 9e9 ? (int64_t)llround(s * 1e6) * 1000 : 0;
}

static bool
row_get(const struct row_field *f, const struct mp *m, struct program_row *row)
{
	char *at = (char *)row + f->at;

	switch (f->kind) {
	case ROW_INT:
		*(int64_t *)(void *)at = m->i;
		return m->kind == MP_INT && m->i >= 0;
	case ROW_TIME:
		*(int64_t *)(void *)at = row_ns(m);
		return m->kind == MP_FLOAT || m->kind == MP_INT;
	case ROW_TEXT:
		*(struct program_text *)(void *)at = (struct program_text){ (const char *)m->p, m->n };
		return m->kind == MP_TEXT;
	default:
		return m->kind == MP_LIST;
	}
}

enum status
program_row_get(const uint8_t *p, size_t len, struct program_row *row, const uint8_t **answers, const uint8_t **end,
		uint32_t *many, struct err *e)
{
	size_t found = 0;

	*row = (struct program_row){ 0 };
	for (; found < ROW_FIELDS; found++) {
		const struct row_field *f = &row_fields[found];
		const uint8_t *v;
		size_t n;
		struct mp m;

		if (!mp_field(p, p + len, f->name, strlen(f->name), &v, &n) || !mp_head(v, v + n, &m) || !row_get(f, &m, row))
			break;
		if (f->kind != ROW_ANSWERS)
			continue;
		*answers = m.p;
		*end = v + n;
		*many = m.n;
	}
	if (found == ROW_FIELDS)
		return ST_OK;
	err_set(e, ST_DATA, "--joblog: an element is no record of a program's run");
	err_help(e, "exec log=true, as the last operator on the workers, gives such records");
	return ST_DATA;
}

const struct type *
program_row_type(struct types *t, const struct type *answer)
{
	static const enum type_kind kinds[] = { [ROW_INT] = TYPE_INT, [ROW_TIME] = TYPE_FLOAT, [ROW_TEXT] = TYPE_TEXT };
	struct type_field v[ROW_FIELDS];

	for (size_t i = 0; i < ROW_FIELDS; i++) {
		const struct row_field *f = &row_fields[i];

		v[i] = (struct type_field){ f->name, f->kind == ROW_ANSWERS ? type_list(t, answer) : type_scalar(kinds[f->kind]) };
	}
	return type_record(t, v, ROW_FIELDS, false);
}

const struct type *
program_row_answer(const struct type *record)
{
	if (record->kind != TYPE_RECORD || record->n_fields != ROW_FIELDS)
		return NULL;
	for (size_t i = 0; i < ROW_FIELDS; i++)
		if (strcmp(record->fields[i].name, row_fields[i].name))
			return NULL;
	const struct type *list = record->fields[ROW_FIELDS - 1].type;
	return list->kind == TYPE_LIST ? list->item : NULL;
}

void
program_row_print_type(const struct type *answer, bool logged, struct buf *out)
{
	struct types *t = types_new();

	type_print(logged ? program_row_type(t, answer) : answer, out);
	types_free(&t);
}
