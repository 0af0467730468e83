/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_speak.h"

#include <stdio.h>
#include <string.h>

#include "op/exec/exec_work.h"
#include "value/format/format.h"
#include "value/mp.h"
#include "value/type.h"

enum { SPEAK_QUIET_NS = 20000000, SPEAK_TEXT = 1000 };

static void
speak_head(struct buf *w, enum mp_kind kind, uint32_t n)
{
	uint8_t *to = buf_room(w, MP_HEAD_MAX);
	uint8_t *end = kind == MP_LIST ? mp_put_list_head(to, n)
		     : kind == MP_RECORD ? mp_put_record_head(to, n)
		     : kind == MP_BYTES ? mp_put_bytes_head(to, n) : mp_put_text_head(to, n);

	w->len += (size_t)(end - to);
}

static void
speak_text(struct buf *w, const char *s, size_t n)
{
	speak_head(w, MP_TEXT, (uint32_t)n);
	buf_put(w, s, n);
}

static void
speak_word(struct buf *w, const char *s)
{
	speak_text(w, s, strlen(s));
}

static void
speak_uint(struct buf *w, uint64_t v)
{
	uint8_t *to = buf_room(w, MP_INT_MAX);

	w->len += (size_t)(mp_put_uint(to, v) - to);
}

void
exec_speak_greet(struct exec *x, struct exec_slot *s)
{
	static const char *const caps[] = { "delay", "many", "skip", "stats", "state" };
	const struct op_node *n = x->self->node;
	struct buf type = { 0 }, state = s->speak.state;

	buf_reset(&state);
	s->speak = (struct speak){ .state = state };
	type_print(n->in[0]->type, &type);
	speak_head(&s->w, MP_RECORD, 5);
	speak_word(&s->w, "dsvc");
	speak_uint(&s->w, SPEAK_VERSION);
	speak_word(&s->w, "proto");
	speak_word(&s->w, "msgpack");
	speak_word(&s->w, "op");
	speak_uint(&s->w, n->place);
	speak_word(&s->w, "type");
	speak_text(&s->w, (const char *)type.data, type.len);
	speak_word(&s->w, "caps");
	speak_head(&s->w, MP_LIST, sizeof caps / sizeof *caps);
	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
		speak_word(&s->w, caps[i]);
	buf_clear(&type);
	if (x->loads) {
		speak_head(&s->w, MP_LIST, 2);
		speak_word(&s->w, "load");
		speak_head(&s->w, MP_BYTES, (uint32_t)x->load.len);
		buf_put(&s->w, x->load.data, x->load.len);
	}
}

void
exec_speak_element(struct exec_slot *s, uint64_t seq, const struct elem *el)
{
	speak_head(&s->w, MP_LIST, 2);
	speak_uint(&s->w, seq);
	buf_put(&s->w, el->p, el->len);
	s->speak.flushed = false;
}

void
exec_speak_ask(struct exec_slot *s, const char *what)
{
	speak_head(&s->w, MP_LIST, 1);
	speak_word(&s->w, what);
}

bool
exec_speak_quiet(struct exec *x, struct exec_slot *s)
{
	if (!s->speak.delays || s->speak.flushed || s->n == 0 || s->w_at < s->w.len
	    || s->child.in < 0 || exec_now() - s->moved < SPEAK_QUIET_NS)
		return false;
	if (!x->wants && !x->over && s->n < s->window && s->bytes < EXEC_WINDOW_BYTES
	    && !exec_jobs_full(x))
		return false;
	exec_speak_ask(s, "flush");
	s->speak.flushed = true;
	return true;
}

static enum status
speak_bad(struct exec *x, const uint8_t *p, size_t n, const char *what, struct err *e)
{
	struct buf text = { 0 };

	json_print(p, n, &text);
	bool cut = text.len > 80;
	err_set(e, ST_DATA, "%s wrote `%.*s%s`, which is %s", x->name, cut ? 80 : (int)text.len,
		(const char *)text.data, cut ? "..." : "", what);
	buf_clear(&text);
	return ST_DATA;
}

static bool
speak_is(const struct mp *m, const char *word)
{
	return m->kind == MP_TEXT && m->n == strlen(word) && !memcmp(m->p, word, m->n);
}

static void
speak_copy(char *to, size_t room, const struct mp *m)
{
	size_t n = m->kind == MP_TEXT ? m->n : 0;

	n = n < room ? n : room - 1;
	if (n)
		memcpy(to, m->p, n);
	to[n] = '\0';
}

static void
speak_caps(struct exec_slot *s, const uint8_t *p, size_t n)
{
	struct mp list, cap;

	mp_head(p, p + n, &list);
	if (list.kind != MP_LIST)
		return;
	const uint8_t *at = list.p, *end = p + n;
	for (uint32_t i = 0; i < list.n; i++) {
		mp_head(at, end, &cap);
		s->speak.delays |= speak_is(&cap, "delay");
		s->speak.keeps |= speak_is(&cap, "state");
		at = mp_skip(at, end);
	}
}

/* Reads the child's half of the handshake. */
static enum status
speak_greeting(struct exec *x, struct exec_slot *s, const uint8_t *p, size_t n, struct err *e)
{
	const uint8_t *v;
	size_t len;
	struct mp m;

	if (mp_field(p, p + n, "proto", 5, &v, &len)) {
		speak_bad(x, p, n, "the handshake that it was given", e);
		err_help(e, "a program that returns what it reads needs proto=ndjson or proto=len32; "
			 "dsvc-exec(7) shows one that speaks proto=msgpack");
		return ST_DATA;
	}
	if (!mp_field(p, p + n, "dsvc", 4, &v, &len)) {
		speak_bad(x, p, n, "no answer to the handshake", e);
		err_help(e, "before anything else a program of proto=msgpack writes the record "
			 "{\"dsvc\": %d}: dsvc-exec(7) shows one", SPEAK_VERSION);
		return ST_DATA;
	}
	mp_head(v, v + len, &m);
	if (m.kind != MP_INT || m.u != SPEAK_VERSION) {
		speak_bad(x, p, n, "the handshake of another version", e);
		err_help(e, "this dsvc speaks version %d of proto=msgpack", SPEAK_VERSION);
		return e->kind = ST_PROTO;
	}
	if (mp_field(p, p + n, "name", 4, &v, &len)) {
		mp_head(v, v + len, &m);
		speak_copy(s->speak.name, sizeof s->speak.name, &m);
	}
	if (mp_field(p, p + n, "caps", 4, &v, &len))
		speak_caps(s, v, len);
	s->speak.greeted = true;
	x->kept = s->speak.keeps;
	if (s->speak.keeps && x->n_slots > 1) {
		err_set(e, ST_DATA, "%s keeps a state, and there are %u copies of it", x->name, x->n_slots);
		err_help(e, "parallel=1 gives all elements of a stream to one");
		return ST_DATA;
	}
	if (x->loads && !s->speak.keeps)
		return err_set(e, ST_DATA, "%s is to resume from a state, but keeps none", x->name);
	return ST_OK;
}

static void
speak_note(struct exec *x, struct exec_slot *s, const char *level, const struct mp *text)
{
	struct err say = { 0 };
	int n = text->n < SPEAK_TEXT ? (int)text->n : SPEAK_TEXT;

	err_set(&say, ST_DATA, "%s: %s%s%.*s", *s->speak.name ? s->speak.name : x->name, level,
		*level ? ": " : "", n, (const char *)text->p);
	exec_note(x, &say);
}

static void
speak_count(struct exec *x, const struct mp *name, const struct mp *value)
{
	char key[SPEAK_NAME];
	unsigned i;
	double v = value->kind == MP_FLOAT ? value->f
		 : value->unsigned_big ? (double)value->u : (double)value->i;

	speak_copy(key, sizeof key, name);
	for (i = 0; i < x->n_stats && strcmp(x->stats[i].name, key); i++)
		;
	if (i == SPEAK_STATS)
		return;
	if (i == x->n_stats) {
		memcpy(x->stats[i].name, key, sizeof key);
		x->stats[i].sum = 0;
		x->n_stats++;
	}
	x->stats[i].sum += v;
}

void
exec_speak_stats(struct exec *x)
{
	struct buf all = { 0 };
	struct err say = { 0 };

	for (unsigned i = 0; i < x->n_stats; i++)
		buf_printf(&all, "%s%s %.15g", i ? ", " : "", x->stats[i].name, x->stats[i].sum);
	if (x->n_stats) {
		err_set(&say, ST_DATA, "%s: %s", x->name, (char *)all.data);
		exec_note(x, &say);
	}
	x->n_stats = 0;
	buf_clear(&all);
}

/* Handles ["log", level, text], ["stat", name, number] and ["state", bytes]. */
static enum status
speak_aside(struct exec *x, struct exec_slot *s, const struct mp *list, const struct mp *word,
	    const uint8_t *rest, const uint8_t *end, bool *known)
{
	struct mp a = { 0 }, b = { 0 };

	if (list->n > 1)
		rest = mp_head(rest, end, &a);
	if (list->n > 2)
		mp_head(rest, end, &b);
	*known = true;
	if (speak_is(word, "log") && list->n == 3 && a.kind == MP_TEXT && b.kind == MP_TEXT) {
		char level[16];

		speak_copy(level, sizeof level, &a);
		if (strcmp(level, "debug") && child_shows(&s->child))
			speak_note(x, s, strcmp(level, "info") ? level : "", &b);
	} else if (speak_is(word, "stat") && list->n == 3 && a.kind == MP_TEXT
		   && (b.kind == MP_INT || b.kind == MP_FLOAT)) {
		speak_count(x, &a, &b);
	} else if (speak_is(word, "state") && list->n == 2 && s->speak.asked
		   && (a.kind == MP_BYTES || a.kind == MP_TEXT)) {
		buf_reset(&s->speak.state);
		buf_put(&s->speak.state, a.p, a.n);
		s->speak.asked = false;
		s->speak.told = true;
	} else {
		*known = false;
	}
	return ST_OK;
}

/* Handles [id, "error", text, {"retry": bool}]. */
static void
speak_fault(struct exec *x, uint64_t seq, const struct mp *list, const uint8_t *rest,
	    const uint8_t *end)
{
	struct exec_job *j = exec_job(x, seq);
	struct mp text = { 0 }, options = { 0 }, retry = { 0 };
	const uint8_t *v, *at = rest;
	size_t len;
	struct err why = { 0 };

	if (list->n > 2)
		rest = mp_head(at, end, &text);
	if (list->n > 3 && (rest = mp_skip(at, end)))
		mp_head(rest, end, &options);
	bool said = options.kind == MP_RECORD && mp_field(rest, end, "retry", 5, &v, &len);
	if (said)
		mp_head(v, v + len, &retry);
	int n = text.kind != MP_TEXT ? 0 : text.n < SPEAK_TEXT ? (int)text.n : SPEAK_TEXT;
	err_set(&why, ST_DATA, "%s: %.*s", x->name, n, n ? (const char *)text.p : "");
	if (!n)
		err_set(&why, ST_DATA, "%s reported an error without a message", x->name);
	if (retry.kind == MP_BOOL && retry.b && j->later < EXEC_LATER) {
		j->later++;
		exec_jobs_again(x, seq);
		return;
	}
	if (retry.kind == MP_BOOL && !retry.b)
		j->tries = x->self->node->retries; /* the child knows that a retry would not help */
	exec_jobs_fail(x, seq, &why);
}

/* Handles [id, status, ...]. */
static enum status
speak_answer(struct exec *x, struct exec_slot *s, const struct mp *list, uint64_t seq,
	     const uint8_t *p, const uint8_t *rest, const uint8_t *end, struct run *out, struct err *e)
{
	struct mp word = { 0 };

	if (list->n < 2)
		return speak_bad(x, p, (size_t)(end - p), "no answer", e);
	rest = mp_head(rest, end, &word);
	bool ok = speak_is(&word, "ok"), skip = speak_is(&word, "skip"), error = speak_is(&word, "error");
	if (!ok && !skip && !error)
		return speak_bad(x, p, (size_t)(end - p), "not an answer: after the number comes \"ok\", "
				 "\"skip\" or \"error\"", e);
	if (!exec_sent_has(x, s, seq))
		return speak_bad(x, p, (size_t)(end - p), "the answer to an element that it does not have",
				 e);
	exec_sent_take(x, s, seq);
	if (error)
		speak_fault(x, seq, list, rest, end);
	else
		exec_jobs_values(x, seq, rest, (size_t)(end - rest), skip ? 0 : list->n - 2, out);
	s->alone = false;
	return ST_OK;
}

enum status
exec_speak_hear(struct exec *x, struct exec_slot *s, const uint8_t *p, size_t n, struct run *out,
		struct err *e)
{
	const uint8_t *end = p + n, *rest;
	struct mp list, first = { 0 };
	bool known = false;

	rest = mp_head(p, end, &list);
	if (!s->speak.greeted)
		return speak_greeting(x, s, p, n, e);
	if (list.kind == MP_LIST && list.n)
		rest = mp_head(rest, end, &first);
	if (first.kind == MP_INT && (first.unsigned_big || first.i >= 0))
		return speak_answer(x, s, &list, first.u, p, rest, end, out, e);
	if (first.kind == MP_TEXT)
		speak_aside(x, s, &list, &first, rest, end, &known);
	return known ? ST_OK : speak_bad(x, p, n, "not a message of proto=msgpack", e);
}
