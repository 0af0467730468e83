/* SPDX-License-Identifier: MIT
 * Random specs made from the table of operators. Each is written twice: plainly,
 * and with noise (layout, comments, lets, parameters, quotes, other spellings of
 * numbers). Both must have the same canonical text, and that text read again must
 * give the same text and the same plan. */
#include "lang_help.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/rng.h"
#include "op/table.h"

enum { RANDOM_ROUNDS = 4000, RANDOM_DEEP = 3 };

struct spell {
	struct rng rng;
	struct buf plain, noisy, lets;
	int names, depth;
	bool inner; /* in parentheses: newlines are blanks */
};

static uint64_t
spell_below(struct spell *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

static void
spell_both(struct spell *s, const char *text)
{
	buf_str(&s->plain, text);
	buf_str(&s->noisy, text);
}

/* At least one blank. */
static void
spell_blank(struct spell *s)
{
	static const char *const noise[] = { " ", "  ", "\t", " \n ", " # a | note\n\t", "\n\n  ", " \r\n " };

	buf_byte(&s->plain, ' ');
	buf_str(&s->noisy, noise[spell_below(s, sizeof noise / sizeof *noise)]);
}

/* A number, in the noisy form as a parameter, in brackets or with another spelling. */
static void
spell_number(struct spell *s, const struct param *row)
{
	int64_t low = row->min || row->max ? row->min : 1, high = row->min || row->max ? row->max : 5000;
	uint64_t span = (uint64_t)high - (uint64_t)low;
	int64_t v = low + (int64_t)spell_below(s, span < 5000 ? span + 1 : 5000);
	const char *unit = row->kind == PARAM_DURATION ? "ns" : "";

	buf_printf(&s->plain, "%lld%s", (long long)v, unit);
	switch (spell_below(s, *unit || v < 0 ? 1 : 5)) {
	case 0:
		buf_printf(&s->noisy, "%lld%s", (long long)v, unit);
		break;
	case 1:
		buf_printf(&s->noisy, "0x%llx", (long long)v);
		break;
	case 2:
		buf_printf(&s->noisy, "(%lld + 1)", (long long)v - 1);
		break;
	case 3:
		buf_printf(&s->lets, "param p%d: int = %lld\n", s->names, (long long)v);
		buf_printf(&s->noisy, "@p%d", s->names++);
		break;
	default:
		buf_printf(&s->lets, "param p%d = %lld # one\n", s->names, (long long)v);
		buf_printf(&s->noisy, "${p%d}", s->names++);
	}
}

/* A word of strange characters, quoted in one of the ways there are. */
static void
spell_word(struct spell *s)
{
	static const char chars[] = "abcxyz012./*?-_ '\"|;)(#@$\\{}=~\t\n\xc3\xa9";
	char word[16];
	size_t n = 1 + spell_below(s, sizeof word - 3);
	bool single = true;

	for (size_t i = 0; i < n; i++)
		word[i] = chars[spell_below(s, sizeof chars - 3)];
	word[n] = '\0';
	if (spell_below(s, 3) == 0) /* a plain one now and then */
		n = (size_t)sprintf(word, "f%d.txt", (int)spell_below(s, 100));
	for (size_t i = 0; i < n; i++)
		single &= word[i] != '\'';
	buf_byte(&s->plain, '"');
	for (size_t i = 0; i < n; i++)
		buf_printf(&s->plain, "\\x%02x", (unsigned char)word[i]);
	buf_byte(&s->plain, '"');
	if (single && spell_below(s, 2)) {
		buf_printf(&s->noisy, "'%s'", word);
		return;
	}
	buf_byte(&s->noisy, '"');
	for (size_t i = 0; i < n; i++) {
		if (strchr("\"\\@$", word[i]))
			buf_byte(&s->noisy, '\\');
		buf_byte(&s->noisy, (uint8_t)word[i]);
	}
	buf_byte(&s->noisy, '"');
}

static void
spell_expr(struct spell *s)
{
	static const char *const exprs[][2] = {
		{ "x == x", "x eq x" },
		{ "not (x == 1 or x == 2)", "not(x==1||x==2)" },
		{ "x == 1 and i > 3", "x eq 1 && i gt 3" },
		{ "[x, [i]]", "[x,[ i ]]" },
		{ "{a: x, b: i + 1}", "{ a : x, b: (i+1) }" },
		{ "{a: 1, \"b c\": \"|;)#\"}", "{a:1,\"b c\":'|;)#'}" },
		{ "1 + 2 * i", "1+(2*i)" },
		{ "(1 + 2) * i", "((1+2))*i" },
		{ "-i ** 2", "-(i**2)" },
		{ "i < 3 ? \"a\" : \"b\"", "i lt 3?'a':'b'" },
		{ "\"a\" ++ \"\\n\"", "'a'++\"\\x0a\"" },
		{ "s", "( s )" },
		{ "i in [1, 2]", "i in[1,2]" },
		{ "1.5", "15e-1" },
	};
	const char *const *e = exprs[spell_below(s, sizeof exprs / sizeof *exprs)];

	buf_str(&s->plain, e[0]);
	buf_str(&s->noisy, spell_below(s, 2) ? e[0] : e[1]);
}

static void
spell_value(struct spell *s)
{
	static const char *const values[] = { "0", "[1,2,3]", "[[1],[2]]", "{a:1}", "\"x y\"", "null", "true",
					      "[{a:1.5},{a:2.0}]", "[\"a\",\"@{b}\"]", "-3" };

	spell_both(s, values[spell_below(s, sizeof values / sizeof *values)]);
}

static void spell_pipe(struct spell *s);

static void
spell_group(struct spell *s)
{
	bool inner = s->inner;

	spell_both(s, "(");
	s->inner = true;
	s->depth++;
	spell_pipe(s);
	s->depth--;
	s->inner = inner;
	spell_both(s, ")");
}

static void
spell_choice(struct spell *s, const struct param *row)
{
	char word[64];
	int n = 0;

	while (param_choice(row->choices, n, word, sizeof word))
		n++;
	param_choice(row->choices, (int)spell_below(s, (uint64_t)n), word, sizeof word);
	spell_both(s, word);
}

static void
spell_arg(struct spell *s, const struct param *row)
{
	static const char *const truths[][2] = { { "true", "yes" }, { "false", "0" } };
	int t = (int)spell_below(s, 2);

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
	case PARAM_DURATION:
		spell_number(s, row);
		break;
	case PARAM_FLOAT:
		spell_both(s, "0.5");
		break;
	case PARAM_BOOL:
		buf_str(&s->plain, truths[t][0]);
		buf_str(&s->noisy, truths[t][spell_below(s, 2)]);
		break;
	case PARAM_CHOICE:
		spell_choice(s, row);
		break;
	case PARAM_VALUE:
		spell_value(s);
		break;
	case PARAM_EXPR:
		spell_expr(s);
		break;
	case PARAM_PIPE:
		spell_group(s);
		break;
	case PARAM_PIPES:
		for (uint64_t n = 1 + spell_below(s, 3); n > 0; n--) {
			spell_group(s);
			if (n > 1)
				spell_blank(s);
		}
		break;
	case PARAM_FRAGMENT:
		spell_both(s, "(| take 3 | skip 1)");
		break;
	default:
		spell_word(s);
	}
}

static const struct op_desc *
spell_op(struct spell *s, bool first)
{
	size_t n = 0;

	while (op_at(n))
		n++;
	for (;;) {
		const struct op_desc *d = op_at(spell_below(s, n));
		bool source = d->kind != OP_TRANSFORM;
		bool deep = false;
		for (const struct param *r = d->params; r && r->kind; r++)
			deep |= r->kind == PARAM_PIPE || r->kind == PARAM_PIPES;
		if (source == first && !(deep && s->depth >= RANDOM_DEEP))
			return d;
	}
}

static void
spell_stage(struct spell *s, const struct op_desc *d)
{
	bool keyed = false;

	spell_both(s, d->name);
	for (const struct param *r = d->params; r && r->kind; r++) {
		bool needed = !r->def && !(r->flags & PARAM_OPTIONAL);
		if (!needed && spell_below(s, 3)) {
			keyed = true;
			continue;
		}
		if (r->kind == PARAM_COMMAND || r->flags & PARAM_HIDDEN)
			continue;
		keyed |= (r->flags & PARAM_KEY_ONLY) != 0;
		spell_blank(s);
		if (keyed && r->kind != PARAM_PIPES) {
			spell_both(s, r->name);
			spell_both(s, "=");
		}
		spell_arg(s, r);
	}
	if (spell_below(s, 8) == 0) {
		spell_blank(s);
		spell_both(s, "on_error=skip");
	}
}

/* Stages after the source, some of them in the noisy form by the name of a let. */
static void
spell_more(struct spell *s)
{
	for (uint64_t n = spell_below(s, 4); n > 0; n--) {
		const struct op_desc *d = spell_op(s, false);
		buf_str(&s->plain, " | ");
		spell_blank(s);
		buf_str(&s->noisy, "|");
		if (spell_below(s, 4) || s->depth) {
			spell_stage(s, d);
			continue;
		}
		struct buf outside = s->noisy;
		s->noisy = (struct buf){ 0 };
		spell_stage(s, d);
		/* Lets of what it is made of come first. */
		buf_printf(&s->lets, "let l%d = | %s\n", s->names, (char *)s->noisy.data);
		buf_clear(&s->noisy);
		s->noisy = outside;
		buf_printf(&s->noisy, " l%d", s->names++);
	}
}

static void
spell_pipe(struct spell *s)
{
	spell_stage(s, spell_op(s, true));
	spell_more(s);
}

static bool
random_plan(const char *text, struct buf *canon, struct buf *plan, struct err *e)
{
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK };
	struct plan *p;

	if (plan_make(&src, &p, e))
		return false;
	plan_canonical(p, 0, canon);
	plan_print(p, plan);
	plan_free(&p);
	return true;
}

static void
random_one(uint64_t seed, struct hash *seen)
{
	struct spell s = { .rng = { rng_mix(seed, 7), 0 } };
	struct buf a = { 0 }, b = { 0 }, c = { 0 }, pa = { 0 }, pb = { 0 }, pc = { 0 }, tree = { 0 };
	struct err e = { 0 }, e2 = { 0 };

	spell_pipe(&s);
	buf_put(&s.lets, s.noisy.data, s.noisy.len);
	bool ok = random_plan((char *)s.plain.data, &a, &pa, &e);
	bool noisy = random_plan((char *)s.lets.data, &b, &pb, &e2);
	if (ok != noisy)
		fail_msg("seed %llu: %s: %s\n%s: %s", (unsigned long long)seed, (char *)s.plain.data, e.text,
			 (char *)s.lets.data, e2.text);
	if (ok) {
		if (strcmp((char *)a.data, (char *)b.data))
			fail_msg("seed %llu: %s\n%s\nmade of %s\nand %s", (unsigned long long)seed,
				 (char *)a.data, (char *)b.data, (char *)s.plain.data, (char *)s.lets.data);
		if (!random_plan((char *)a.data, &c, &pc, &e))
			fail_msg("seed %llu: %s (of %s): %s", (unsigned long long)seed, (char *)a.data,
				 (char *)s.plain.data, e.text);
		assert_string_equal((char *)a.data, (char *)c.data);
		assert_string_equal((char *)pa.data, (char *)pc.data);
		struct spec_src src = { .text = (char *)a.data, .len = a.len };
		assert_int_equal(spec_print_tree(&src, &tree, &e), ST_OK);
		/* Which operators have been in a spec that could be planned. */
		for (size_t i = 0; op_at(i); i++)
			if (strstr((char *)a.data, op_at(i)->name))
				hash_put_str(seen, op_at(i)->name, (void *)op_at(i));
	}
	buf_clear(&s.plain);
	buf_clear(&s.noisy);
	buf_clear(&s.lets);
	buf_clear(&a);
	buf_clear(&b);
	buf_clear(&c);
	buf_clear(&pa);
	buf_clear(&pb);
	buf_clear(&pc);
	buf_clear(&tree);
}

static void
printing_and_reading_agree(void **state)
{
	struct hash seen = { 0 };

	(void)state;
	for (uint64_t i = 0; i < RANDOM_ROUNDS; i++)
		random_one(i, &seen);
	for (size_t i = 0; op_at(i); i++)
		if (!hash_get_str(&seen, op_at(i)->name))
			print_message("# no random spec with %s could be planned\n", op_at(i)->name);
	assert_true(seen.n > 20);
	hash_clear(&seen);
}

/* Text that is cut, or has characters changed, gives a plan or an error with a
 * place; never anything else. */
static void
broken_texts_give_errors(void **state)
{
	struct spell s = { .rng = { 99, 0 } };

	(void)state;
	for (int i = 0; i < RANDOM_ROUNDS; i++) {
		buf_reset(&s.plain);
		buf_reset(&s.noisy);
		buf_reset(&s.lets);
		spell_pipe(&s);
		buf_put(&s.lets, s.noisy.data, s.noisy.len);
		for (int k = 0; k < 3; k++)
			s.lets.data[spell_below(&s, s.lets.len)] = (uint8_t)" |()[]{}'\"@$.=x0#\n;\\~/"[spell_below(&s, 22)];
		s.lets.data[spell_below(&s, s.lets.len + 1)] = '\0';
		struct err e = { 0 };
		struct spec_src src = { .text = (char *)s.lets.data, .len = strlen((char *)s.lets.data),
					.flags = SPEC_NO_CHECK };
		struct plan *p;
		enum status st = plan_make(&src, &p, &e);
		if (st == ST_OK) {
			plan_free(&p);
		} else if (!e.text[0] || !e.line || st < ST_USAGE) {
			fail_msg("%s: %d %s", (char *)s.lets.data, st, e.text);
		}
	}
	buf_clear(&s.plain);
	buf_clear(&s.noisy);
	buf_clear(&s.lets);
}
