/* SPDX-License-Identifier: MIT
 * Regular expressions: what is worked out from a pattern to match faster must
 * not change what matches. */
#include "expr_help.h"

#include "base/rng.h"
#include "expr/ast.h"
#include "expr/needle.h"
#include "expr/pattern.h"

static void
needles_are_what_every_match_must_hold(void **state)
{
	static const struct { const char *pattern, *want; } rows[] = {
		{ "ERROR", "ERROR" },
		{ "ERROR|FATAL", "ERROR FATAL" },
		{ "ab.cde", "cde" },
		{ "^GET /api", "GET /api" },
		{ "abc*", "ab" },
		{ "abc?d", "ab" },
		{ "abc+d", "abc" },
		{ "ab{2}cd", "cd" },
		{ "a{bcd", "bcd" },
		{ "(ab|cd)efg", "efg" },
		{ "(?:ab)+xy[a-z]zz", "xy" },
		{ "a\\.b\\/c", "a.b/c" },
		{ "\\d+ms", "ms" },
		{ "\\bfoo\\b", "foo" },
		{ "foo\\sbarbaz", "barbaz" },
		{ "[abc]", "" },
		{ "a", "" },
		{ "ab|c", "" },
		{ "ab|", "" },
		{ "(?i)abc", "" },
		{ "(?=abc)d", "" },
		{ "\\Qa.b\\E", "" },
		{ "abc\\x41", "" },
		{ "(*UTF)abc", "" },
		{ "[[:alpha:]]abc", "" },
		{ "é*abc", "abc" },
		{ "aé?bcd", "bcd" },
		{ "[]x]abc", "abc" },
		{ "[^]x]abc", "abc" },
		{ "[a\\]b]xyz", "xyz" },
		{ "(a(b)c", "" },
		{ "a)bc", "" },
		{ "ab\\", "" },
		{ "(\\)abc)de", "de" },
		{ "abc.*|xyz$|q{2}rs", "abc xyz rs" },
		{ "a{[}]bc", "bc" },
		{ "x*yz*", "" },
		{ "fo+bar", "bar" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct needles n;
		struct buf b = { 0 };

		needles_find(rows[i].pattern, strlen(rows[i].pattern), &n);
		buf_str(&b, "");
		for (size_t k = 0; k < n.n; k++) {
			buf_str(&b, k ? " " : "");
			buf_put(&b, n.v[k].s, n.v[k].n);
		}
		if (strcmp((char *)b.data, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].pattern, (char *)b.data);
		buf_clear(&b);
	}
}

static void
pattern_spell(struct rng *r, const char *const *parts, size_t n, uint64_t most, struct buf *out)
{
	buf_reset(out);
	buf_str(out, "");
	for (uint64_t k = rng_below(r, most); k; k--)
		buf_str(out, parts[rng_below(r, n)]);
}

static void
the_fast_ways_match_what_the_slow_one_does(void **state)
{
	static const char *const parts[] = { "a", "b", "ab", "é", ".", "*", "+", "?", "{2}",
	  "{1,2}", "{", "}", "|", "(", ")", "(?:", "(?=", "(?!", "[ab]", "[^a]", "[^é]", "[]a]",
	  "\\d", "\\w", "\\W", "\\D", "\\S", "++", "*+", "[\\d]", "[\\W1]", "[[:punct:]]", "[[:^alpha:]]",
		"\\b", "\\B", "^", "$", "\\.", "\\x61", "\\Qb\\E", "c", "1", "\\s", "[", "]",
		  "(?i)", "\\R", "\\K", "a b", "-" };
	static const char *const texts[] = { "a", "b", "ab", "é", "c", "1", ".", " ", "\n", "A",
	  "\xff", "\xc3", "😀", "٣", "\xc2\xa0", "Ж", "aab", "{", "}", "-" };
	struct rng r = { 21, 0 };
	struct buf pattern = { 0 }, text = { 0 };
	size_t compiled = 0, matched = 0, needled = 0;

	(void)state;
	for (int i = 0; i < 9000; i++) {
		struct err e;
		size_t bad;

		pattern_spell(&r, parts, COUNT(parts), 9, &pattern);
		unsigned flags = rng_below(&r, 4) == 3 ? (unsigned)rng_below(&r, 32) : 0;
		struct pattern *p = pattern_new((char *)pattern.data, pattern.len, flags, &bad, &e);
		if (!p) {
			assert_true(e.text[0] && bad <= pattern.len);
			continue;
		}
		compiled++;
		/* a note in another alphabet: nothing is done by bytes then */
		buf_str(&pattern, "(?#é)");
		struct pattern *q = pattern_new((char *)pattern.data, pattern.len, flags, &bad, &e);
		pattern.len -= 6;
		pattern.data[pattern.len] = '\0';
		if (!q) { /* in quotes, or behind a sign that it changed */
			pattern_free(&p);
			continue;
		}
		struct pattern_state *s = pattern_state_new(p), *t = pattern_state_new(q);
		const struct needles *n = pattern_needles(p);
		for (int k = 0; k < 20; k++) {
			const size_t *v;

			pattern_spell(&r, texts, COUNT(texts), 12, &text);
			int test = pattern_test(s, text.data, text.len);
			int found = pattern_find(t, text.data, text.len, 0, &v);
			if (test != (found > 0))
				fail_msg("/%s/ of \"%s\": %d, %d", (char *)pattern.data, (char *)text.data, test, found);
			matched += test > 0;
			bool holds = n->n == 0;
			for (size_t m = 0; m < n->n; m++)
				holds = holds || needle_search(n->v[m].s, n->v[m].n, text.data, text.data + text.len);
			if (test > 0 && !holds)
				fail_msg("/%s/ of \"%s\" without its needle", (char *)pattern.data, (char *)text.data);
			needled += test > 0 && n->n;
		}
		pattern_state_free(&s);
		pattern_state_free(&t);
		pattern_free(&p);
		pattern_free(&q);
	}
	assert_true(compiled > 1000 && matched > 1000 && needled > 100);
	buf_clear(&pattern);
	buf_clear(&text);
}

static struct pattern_state *
pattern_open(const char *text, unsigned flags, struct pattern **p)
{
	struct err e;
	size_t bad;

	*p = pattern_new(text, strlen(text), flags, &bad, &e);
	assert_non_null(*p);
	return pattern_state_new(*p);
}

static void
classes_know_all_alphabets_unless_told_otherwise(void **state)
{
	static const struct { const char *pattern, *text; bool all, ascii; } rows[] = {
		{ "\\w", "é", true, false },    { "^\\w+$", "été", true, false },
		{ "\\W", "é", false, true },    { "\\S", "é", true, true },
		{ "\\D", "é", true, true },     { "\\W", "—", true, true },
		{ "\\d", "٣", true, false },    { "\\d{2}", "1٣", true, false },
		{ "\\D", "٣", false, true },    { "\\s", "\xc2\xa0", true, false },
		{ "\\S", "\xc2\xa0", false, true }, { "\\bt", "ét", false, true },
		{ "[\\w]", "Ж", true, false },  { "[^\\w]", "Ж", false, true },
		{ "[[:alpha:]]", "Ж", true, false }, { "^\\d+ ?\\w", "7 Ж", true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int a = 0; a < 2; a++) {
			struct pattern *p;
			struct pattern_state *s = pattern_open(rows[i].pattern, a ? REGEX_A : 0, &p);
			const uint8_t *text = (const uint8_t *)rows[i].text;
			const size_t *v;

			assert_int_equal(pattern_test(s, text, strlen(rows[i].text)),
					 a ? rows[i].ascii : rows[i].all);
			assert_int_equal(pattern_find(s, text, strlen(rows[i].text), 0, &v),
					 a ? rows[i].ascii : rows[i].all);
			pattern_state_free(&s);
			pattern_free(&p);
		}
}

static void
bad_bytes_are_borders_and_the_ends_stay_where_they_are(void **state)
{
	static const struct { const char *pattern, *text; int from, begin, end; } rows[] = {
		{ "\\D", "\xff" "1é", 0, 2, 4 },   { "\\S+", " \xff" "é\xff", 0, 2, 4 },
		{ "a.b", "a\xff" "b", 0, -1, 0 },    { "^b", "\xff" "b", 0, -1, 0 },
		{ "^", "\xff" "b", 0, 0, 0 },        { "a$", "a\xff", 0, -1, 0 },
		{ "$", "a\xff", 0, 2, 2 },           { "(?<=a)b|c", "a\xff" "bc", 0, 3, 4 },
		{ "\\bé", "x\xc3é", 0, 2, 4 },     { "é", "é\xffé\xff", 2, 3, 5 },
		{ "é", "é\xffé\xff", 5, -1, 0 },    { "\\w*", "\xff", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pattern *p;
		struct pattern_state *s = pattern_open(rows[i].pattern, 0, &p);
		const uint8_t *text = (const uint8_t *)rows[i].text;
		size_t n = strlen(rows[i].text);
		const size_t *v;
		int rc = pattern_find(s, text, n, 0, &v);

		if (rows[i].from)
			rc = pattern_find(s, text, n, (size_t)rows[i].from, &v);
		if (rc != (rows[i].begin >= 0) || (rc && (v[0] != (size_t)rows[i].begin
							  || v[1] != (size_t)rows[i].end)))
			fail_msg("row %zu: %d, %zu to %zu", i, rc, v[0], v[1]);
		pattern_state_free(&s);
		pattern_free(&p);
	}
}

static void
needles_are_found_wherever_they_are(void **state)
{
	uint8_t hay[100];
	struct rng r = { 4, 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t n = rng_below(&r, sizeof hay), k = rng_below(&r, 6), at = rng_below(&r, 20);
		uint8_t needle[8];

		for (size_t j = 0; j < n; j++)
			hay[j] = (uint8_t)"ab"[rng_below(&r, 8) == 0];
		for (size_t j = 0; j < k; j++)
			needle[j] = (uint8_t)"ab"[rng_below(&r, 3) == 0];
		if (at > n)
			at = n;
		const uint8_t *want = memmem(hay + at, n - at, needle, k);
		assert_ptr_equal(needle_search(needle, k, hay + at, hay + n), k ? want : hay + at);
	}
}

static void
too_many_groups_are_refused(void **state)
{
	struct buf b = { 0 };
	struct err e;
	size_t bad;

	(void)state;
	for (int i = 0; i <= PATTERN_GROUPS; i++)
		buf_str(&b, "(a)");
	assert_null(pattern_new((char *)b.data, b.len, 0, &bad, &e));
	assert_string_equal(e.text, "this regular expression has 101 groups, more than 100");
	buf_clear(&b);
}
