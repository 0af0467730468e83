/* SPDX-License-Identifier: MIT */
#include "op/exec_args.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "value/format/frame.h"
#include "value/format/format.h"
#include "value/mp.h"

static void
args_add(struct exec_args *a, enum args_place place, uint32_t word, const char *p, size_t n)
{
	a->v = mem_grow(a->v, &a->cap, a->n + 1, sizeof *a->v);
	a->v[a->n++] = (struct args_piece){ .place = place, .word = word, .p = p, .n = n };
}

static bool
args_is_field(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool first = i == 0 || p[i - 1] == '.';

		if (p[i] == '.' ? first || i + 1 == n
				: !isalpha((unsigned char)p[i]) && p[i] != '_'
					  && (first || !isdigit((unsigned char)p[i])))
			return false;
	}
	return n > 0;
}

/* The place that the {...} between p and its end is; false: it is plain text. */
static bool
args_place(const char *p, size_t n, enum args_place *place)
{
	static const struct { const char *s; enum args_place place; } names[] = {
		{ "", ARGS_ELEMENT }, { ".", ARGS_STEM }, { "/", ARGS_BASE }, { "//", ARGS_DIR },
		{ "/.", ARGS_BASE_STEM }, { "#", ARGS_NUMBER }, { "%", ARGS_SLOT }
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (n == strlen(names[i].s) && !memcmp(p, names[i].s, n)) {
			*place = names[i].place;
			return true;
		}
	}
	*place = ARGS_FIELD;
	return n > 1 && *p == '.' && args_is_field(p + 1, n - 1);
}

/* Length of the place that begins at the opening brace p; 0: it is none. */
static size_t
args_place_len(const char *p, enum args_place *place)
{
	const char *end = strchr(p, '}');
	size_t n = end ? (size_t)(end - p) + 1 : 0;

	return n && args_place(p + 1, n - 2, place) ? n : 0;
}

/* Number of backslashes after the brace at p that hide a place; 0: it hides none. */
static size_t
args_hidden(const char *p)
{
	size_t k = strspn(p + 1, "\\");
	const char *end = strchr(p, '}');
	enum args_place place;

	return k && end && args_place(p + 1 + k, (size_t)(end - p) - 1 - k, &place) ? k : 0;
}

size_t
exec_args_find(const char *s, bool script, const char **at)
{
	enum args_place place;
	size_t n;

	for (const char *p = s; (p = strchr(p, '{')); p++) {
		if ((script && p > s && p[-1] == '$') || !(n = args_place_len(p, &place)))
			continue;
		*at = p;
		return n;
	}
	return 0;
}

void
exec_args_quote(const char *p, size_t n, struct buf *out)
{
	char *s = mem_strndup(p, n);
	enum args_place place;

	for (const char *c = s; *c; c++) {
		buf_byte(out, (uint8_t)*c);
		if (*c == '{' && (args_place_len(c, &place) || args_hidden(c)))
			buf_byte(out, '\\');
	}
	mem_free(s);
}

/* Appends the text between two places, without the backslashes that hide places. */
static void
args_text(struct exec_args *a, uint32_t word, const char *p, size_t n, bool script)
{
	const char *from = p, *end = p + n;

	for (; !script && p < end; p++) {
		if (*p != '{' || !args_hidden(p))
			continue;
		args_add(a, ARGS_TEXT, word, from, (size_t)(p + 1 - from));
		from = p + 2;
		p++;
	}
	args_add(a, ARGS_TEXT, word, from, (size_t)(end - from));
}

/* Splits a word at its places; gives whether it has any. */
static bool
args_word(struct exec_args *a, uint32_t word, const char *s, bool places, bool script)
{
	const char *from = s, *p;
	enum args_place place;
	bool any = false;
	size_t n;

	while (places && (n = exec_args_find(from, script, &p))) {
		args_place(p + 1, n - 2, &place);
		if (p > from)
			args_text(a, word, from, (size_t)(p - from), script);
		if (place == ARGS_FIELD)
			args_add(a, place, word, p + 2, n - 3);
		else
			args_add(a, place, word, p, n);
		a->v[a->n - 1].alone = word && p == s && !p[n];
		from = p + n;
		any = true;
	}
	args_text(a, word, from, strlen(from), script || !places);
	return any;
}

static bool
args_is_item(enum args_place place)
{
	return place != ARGS_TEXT && place != ARGS_NUMBER && place != ARGS_SLOT;
}

/* Writes the script with "${1}", "${2}" ... for its places, or with "$@" for its only one. The
 * values follow as arguments of the shell, so that nothing in them is ever read as script. */
static void
args_script(struct exec_args *a, uint32_t word, const char *s)
{
	struct exec_args places = { 0 };
	struct buf script = { 0 };
	uint32_t k = 0, n = 0;
	bool alone = false;

	if (!args_word(&places, 0, s, true, true)) {
		args_add(&places, ARGS_TEXT, 0, " ", 1);
		args_add(&places, ARGS_ELEMENT, 0, NULL, 0);
	}
	for (size_t i = 0; i < places.n; i++) {
		n += places.v[i].place != ARGS_TEXT;
		alone |= args_is_item(places.v[i].place);
	}
	alone &= n == 1;
	for (size_t i = 0; i < places.n; i++) {
		if (places.v[i].place == ARGS_TEXT)
			buf_put(&script, places.v[i].p, places.v[i].n);
		else if (alone)
			buf_put(&script, "\"$@\"", 4);
		else
			buf_printf(&script, "\"${%u}\"", ++k);
	}
	a->script = buf_take(&script);
	args_add(a, ARGS_TEXT, word++, a->script, strlen(a->script));
	args_add(a, ARGS_TEXT, word++, "sh", 2);
	for (size_t i = 0; i < places.n; i++) {
		if (places.v[i].place == ARGS_TEXT)
			continue;
		args_add(a, places.v[i].place, word++, places.v[i].p, places.v[i].n);
		a->v[a->n - 1].alone = alone;
	}
	mem_free(places.v);
}

void
exec_args_open(struct exec_args *a, const struct words *words, bool places, bool shell)
{
	uint32_t n = (uint32_t)words->n;
	bool script = places && shell, any = !places || script;

	*a = (struct exec_args){ 0 };
	for (uint32_t i = 0; i < n - script; i++)
		any = args_word(a, i, words->v[i], places && !shell, false) || any;
	if (script) {
		args_script(a, n - 1, words->v[n - 1]);
	} else if (!any) {
		args_add(a, ARGS_ELEMENT, n, NULL, 0);
		a->v[a->n - 1].alone = true;
	}
}

void
exec_args_clear(struct exec_args *a)
{
	mem_free(a->v);
	mem_free(a->at);
	mem_free(a->argv);
	mem_free(a->script);
	buf_clear(&a->text);
	*a = (struct exec_args){ 0 };
}

bool
exec_args_lacks(const struct exec_args *a, const struct type *type, const char **name, size_t *n)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct type *t = type;
		const char *p = a->v[i].p, *end = a->v[i].n ? p + a->v[i].n : p;

		if (a->v[i].place != ARGS_FIELD)
			continue;
		while (p < end && t && t->kind == TYPE_RECORD) {
			const char *dot = memchr(p, '.', (size_t)(end - p));

			*name = p;
			*n = (size_t)((dot ? dot : end) - p);
			t = type_field_get(t, p, *n);
			p += *n + 1;
			if (!t)
				return true;
		}
	}
	return false;
}

static enum status
args_field(const struct args_piece *f, struct elem *x, struct err *e)
{
	const char *p = f->p, *end = p + f->n;

	while (p < end) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		size_t n = (size_t)((dot ? dot : end) - p), len;
		const uint8_t *v;
		struct mp m;

		mp_head(x->p, x->p + x->len, &m);
		if (m.kind != MP_RECORD || !mp_field(x->p, x->p + x->len, p, n, &v, &len))
			return err_set(e, ST_DATA, "the element has no field `%.*s` for {.%.*s}",
				       (int)n, p, (int)f->n, f->p);
		*x = (struct elem){ .p = v, .len = (uint32_t)len };
		p += n + 1;
	}
	return ST_OK;
}

/* Narrows a path to the part that the place names: folder, base name, stem or extension. */
static void
args_part(enum args_place place, const uint8_t **p, size_t *n)
{
	const uint8_t *slash = memrchr(*p, '/', *n);

	if (place == ARGS_DIR) {
		if (!slash)
			*p = (const uint8_t *)".", *n = 1;
		else
			*n = slash == *p ? 1 : (size_t)(slash - *p);
		return;
	}
	size_t base = slash ? (size_t)(slash - *p) + 1 : 0;
	const uint8_t *dot = memrchr(*p + base, '.', *n - base);
	if ((place == ARGS_STEM || place == ARGS_BASE_STEM) && dot && dot > *p + base)
		*n = (size_t)(dot - *p);
	if (place == ARGS_BASE || place == ARGS_BASE_STEM)
		*p += base, *n -= base;
}

static enum status
args_put(struct exec_args *a, const uint8_t *p, size_t n, struct err *e)
{
	if (memchr(p, '\0', n))
		return err_set(e, ST_DATA, "a NUL byte cannot stand in an argument; proto=raw gives "
			       "the element on stdin");
	buf_put(&a->text, p, n);
	return ST_OK;
}

/* Puts an element, an item of it or a field: the part of it that the place names. */
static enum status
args_put_value(struct exec_args *a, const struct args_piece *f, const struct elem *x, struct err *e)
{
	struct buf own = { 0 };
	uint32_t short_n;
	const uint8_t *p = frame_contents(x, &short_n);
	size_t n = short_n;

	if (!p) {
		if (text_write(x->p, x->len, &a->rules, &own, e) != ST_OK) {
			buf_clear(&own);
			return ST_DATA;
		}
		p = own.data;
		n = own.len;
	} else if (f->place != ARGS_ELEMENT && f->place != ARGS_FIELD) {
		args_part(f->place, &p, &n);
	}
	enum status st = args_put(a, p ? p : (const uint8_t *)"", n, e);
	buf_clear(&own);
	return st;
}

/* Begins another word. */
static void
args_begin(struct exec_args *a)
{
	if (a->words)
		buf_byte(&a->text, '\0');
	a->at = mem_grow(a->at, &a->at_cap, a->words + 1, sizeof *a->at);
	a->at[a->words++] = a->text.len;
}

static bool
args_list(const struct elem *x, const uint8_t **p, uint32_t *n)
{
	struct mp m;
	const uint8_t *first = mp_head(x->p, x->p + x->len, &m);

	*p = first;
	*n = m.n;
	return first && m.kind == MP_LIST;
}

/* Puts one word for each item of the list. */
static enum status
args_items(struct exec_args *a, const struct args_piece *f, bool fields, const uint8_t *p,
	   const uint8_t *end, uint32_t n, struct err *e)
{
	enum status st = ST_OK;

	for (uint32_t i = 0; st == ST_OK && i < n; i++) {
		const uint8_t *next = mp_skip(p, end);
		struct elem x = { .p = p, .len = (uint32_t)(next - p) };

		args_begin(a);
		if (fields)
			st = args_field(f, &x, e);
		if (st == ST_OK)
			st = args_put_value(a, f, &x, e);
		p = next;
	}
	return st;
}

/* Puts a place, in a word of its own if it is one; x: what stands for {}. */
static enum status
args_place_fill(struct exec_args *a, const struct args_piece *f, struct elem x, struct err *e)
{
	const uint8_t *end = x.p + x.len, *p;
	bool field = f->place == ARGS_FIELD;
	enum status st = ST_OK;
	uint32_t n;

	if (f->alone && args_list(&x, &p, &n))
		return args_items(a, f, field, p, end, n, e);
	if (field)
		st = args_field(f, &x, e);
	if (st == ST_OK && f->alone && field && args_list(&x, &p, &n))
		return args_items(a, f, false, p, end, n, e);
	if (f->alone)
		args_begin(a);
	return st == ST_OK ? args_put_value(a, f, &x, e) : st;
}

static void
args_end(struct exec_args *a)
{
	buf_byte(&a->text, '\0');
	a->argv = mem_grow(a->argv, &a->argv_cap, a->words + 1, sizeof *a->argv);
	for (size_t i = 0; i < a->words; i++)
		a->argv[i] = (char *)a->text.data + a->at[i];
	a->argv[a->words] = NULL;
}

enum status
exec_args_fill(struct exec_args *a, const struct elem *x, uint64_t number, unsigned slot,
	       struct err *e)
{
	enum status st = ST_OK;

	buf_reset(&a->text);
	a->words = 0;
	for (size_t i = 0; st == ST_OK && i < a->n; i++) {
		const struct args_piece *f = &a->v[i];
		bool item = args_is_item(f->place);

		/* A place alone begins its words itself; an empty text follows it. */
		if ((!i || f->word != f[-1].word) && !(item && f->alone))
			args_begin(a);
		if (f->place == ARGS_TEXT)
			buf_put(&a->text, f->p, f->n);
		else if (f->place == ARGS_NUMBER)
			buf_printf(&a->text, "%llu", (unsigned long long)number);
		else if (f->place == ARGS_SLOT)
			buf_printf(&a->text, "%u", slot);
		else
			st = args_place_fill(a, f, a->part && f->place != ARGS_FIELD ? *a->part : *x, e);
	}
	args_end(a);
	return st;
}

void
exec_args_plain(struct exec_args *a)
{
	struct err none;
	struct elem nil = { .p = (const uint8_t *)"\xc0", .len = 1 };

	exec_args_fill(a, &nil, 0, 0, &none);
}
