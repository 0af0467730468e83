/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "expr/pattern.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/ast.h"
#include "expr/needle.h"
#include "value/utf8.h"

enum {
	PATTERN_STACK = 1024 * 1024, /* most bytes of a JIT stack */
	PATTERN_HEAP = 64 * 1024     /* most KiB that matching without the JIT may use */
};

/* The meaning of a match by `bytes` for a subject that is not ASCII. */
enum pattern_grade {
	GRADE_ASCII, /* nothing */
	GRADE_YES,   /* a match is a match, but characters beyond ASCII may make others */
	GRADE_ANY    /* a match, exactly when `utf` has one */
};

struct pattern {
	pcre2_code *bytes;   /* for ASCII subjects; NULL: the pattern needs characters */
	pcre2_code *utf;     /* for subjects in valid UTF-8 */
	enum pattern_grade grade;
	bool anchored;       /* a match depends on what surrounds it */
	bool starts;         /* a match begins with the subject, and with one of `first` */
	bool first[256];
	bool quick;          /* bytes and utf were compiled to machine code */
	unsigned groups;
	char *names[PATTERN_GROUPS + 1];
	bool named;
	struct needles needles;
};

struct pattern_state {
	const struct pattern *p;
	/* the code with which pattern_find matches; NULL: the subject is not valid, and
	 * matched stretch by stretch */
	const pcre2_code *code;
	size_t stretch;         /* start of the stretch that had the last match */
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

static bool
pattern_is_class(char c)
{
	return c == 'd' || c == 'w' || c == 's';
}

/* Grades a pattern. One that consumes only ASCII finds the same in bytes as in characters.
 * With \d, \w and \s it finds a part of that: each matches more characters than bytes.
 * Wildcards, negated sets, assertions other than ^ and $, flags i, x and m, and possessive
 * repeats, which may take too much, make it depend on the subject. */
static enum pattern_grade
pattern_grade(const char *s, size_t n, unsigned flags)
{
	enum pattern_grade grade = GRADE_ANY;
	bool possessive = false;

	if (flags & (REGEX_I | REGEX_X | REGEX_M))
		return GRADE_ASCII;
	for (size_t i = 0; i < n; i++) {
		char c = s[i], next = i + 1 < n ? s[i + 1] : '\0';

		if (c == '.' || (c == '[' && (next == '^' || next == ':')))
			return GRADE_ASCII;
		if (c == '(' && (next == '*' || next == '?')
		    && !(next == '?' && i + 2 < n && s[i + 2] == ':'))
			return GRADE_ASCII;
		if (next == '+' && strchr("*+?}", c))
			possessive = true;
		if (c != '\\')
			continue;
		if (isalnum((unsigned char)next) && !pattern_is_class(next) && !strchr("tnr", next))
			return GRADE_ASCII;
		if (pattern_is_class(next) && !(flags & REGEX_A))
			grade = GRADE_YES;
		i++;
	}
	return possessive && grade == GRADE_YES ? GRADE_ASCII : grade;
}

/* Finds the bytes that a pattern of ^ and something must begin with, as in /^GET/ and /^\d+/.
 * Most lines are then decided by their first byte. */
static void
pattern_find_first(struct pattern *p, const char *s, size_t n)
{
	size_t len = n > 1 && s[1] == '\\' ? 3 : 2;

	if (n < len || *s != '^' || memchr(s, '|', n) || (n > len && strchr("*?{", s[len])))
		return;
	char c = s[len - 1];
	if (len == 3 ? !pattern_is_class(c) : !isalnum((unsigned char)c))
		return;
	p->starts = true;
	for (int b = 0; b < 256; b++)
		p->first[b] = len == 2 ? b == c : c == 'd' ? isdigit(b) : c == 's' ? isspace(b)
			: isalnum(b) || b == '_';
	for (int b = 128; b < 256; b++)
		p->first[b] = p->grade == GRADE_YES;
}

/* With Unicode classes PCRE2 10.42 takes [:upper:] and [:lower:] for \p{Lu} and \p{Ll} also
 * where case is ignored; without them, for any letter that has case, as Perl does. Writes
 * the latter for both, in as many bytes, so that places in messages stay right. */
static void
pattern_ignore_case(char *s, size_t n)
{
	static const char *const classes[] = { "[:upper:]", "[:lower:]", "[:^upper:]", "[:^lower:]" };
	static const char *const cased[] = { "\\p{L&   }", "\\p{L&   }", "\\P{L&    }", "\\P{L&    }" };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
			size_t len = strlen(classes[k]);

			if (len <= n - i && !memcmp(s + i, classes[k], len))
				memcpy(s + i, cased[k], len);
		}
}

static pcre2_code *
pattern_compile(const char *s, size_t n, unsigned flags, uint32_t options, int *code,
		size_t *bad)
{
	pcre2_compile_context *cc = pcre2_compile_context_create(NULL);

	if (flags & REGEX_I)
		options |= PCRE2_CASELESS;
	if (flags & REGEX_M)
		options |= PCRE2_MULTILINE;
	if (flags & REGEX_S)
		options |= PCRE2_DOTALL;
	if (flags & REGEX_X)
		options |= PCRE2_EXTENDED;
	if (options & PCRE2_UTF && !(flags & REGEX_A))
		options |= PCRE2_UCP;
	pcre2_set_max_pattern_length(cc, PATTERN_MAX);
	char *own = flags & REGEX_I && !(flags & REGEX_A) ? mem_dup(s, n) : NULL;
	if (own)
		pattern_ignore_case(own, n);
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)(own ? own : s), n, options | PCRE2_NEVER_BACKSLASH_C, code,
				       bad, cc);
	mem_free(own);
	pcre2_compile_context_free(cc);
	return re;
}

/* Compiles to machine code where the system allows it; otherwise matching is slower. */
static bool
pattern_jit(pcre2_code *re)
{
	size_t size = 0;

	return pcre2_jit_compile(re, PCRE2_JIT_COMPLETE) == 0
		&& pcre2_pattern_info(re, PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
}

static void
pattern_read_names(struct pattern *p)
{
	uint32_t n = 0, size = 0;
	PCRE2_SPTR table = NULL;

	pcre2_pattern_info(p->utf, PCRE2_INFO_NAMECOUNT, &n);
	pcre2_pattern_info(p->utf, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(p->utf, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < n; i++, table += size) {
		unsigned group = (unsigned)table[0] << 8 | table[1];

		if (group <= PATTERN_GROUPS && !p->names[group]) {
			p->names[group] = mem_strdup((const char *)table + 2);
			p->named = true;
		}
	}
}

struct pattern *
pattern_new(const char *s, size_t n, unsigned flags, size_t *bad, struct err *e)
{
	struct pattern *p = mem_zalloc(sizeof *p);
	uint32_t groups = 0;
	int code;
	bool ascii = true;

	*bad = 0;
	p->utf = pattern_compile(s, n, flags, PCRE2_UTF, &code, bad);
	if (!p->utf) {
		PCRE2_UCHAR why[200];

		pcre2_get_error_message(code, why, sizeof why);
		err_set(e, ST_DATA, "in this regular expression: %s", (char *)why);
		pattern_free(&p);
		return NULL;
	}
	pcre2_pattern_info(p->utf, PCRE2_INFO_CAPTURECOUNT, &groups);
	if (groups > PATTERN_GROUPS) {
		err_set(e, ST_DATA, "this regular expression has %u groups, more than %d", groups,
			PATTERN_GROUPS);
		pattern_free(&p);
		return NULL;
	}
	p->groups = groups;
	p->quick = pattern_jit(p->utf);
	for (size_t i = 0; i < n; i++)
		ascii = ascii && (unsigned char)s[i] < 0x80;
	if (ascii) {
		size_t unused;

		p->bytes = pattern_compile(s, n, flags, 0, &code, &unused);
		if (p->bytes)
			p->quick = pattern_jit(p->bytes) && p->quick;
		p->grade = p->bytes ? pattern_grade(s, n, flags) : GRADE_ASCII;
		if (p->grade != GRADE_ASCII)
			pattern_find_first(p, s, n);
		p->anchored = memchr(s, '^', n) || memchr(s, '$', n);
	}
	pattern_read_names(p);
	if (!(flags & (REGEX_I | REGEX_X)))
		needles_find(s, n, &p->needles);
	p->needles.starts = p->needles.starts && !(flags & REGEX_M);
	return p;
}

void
pattern_free(struct pattern **pp)
{
	struct pattern *p = *pp;

	if (!p)
		return;
	pcre2_code_free(p->bytes);
	pcre2_code_free(p->utf);
	for (unsigned i = 0; i <= PATTERN_GROUPS; i++)
		mem_free(p->names[i]);
	mem_free(p);
	*pp = NULL;
}

struct pattern_state *
pattern_state_new(const struct pattern *p)
{
	struct pattern_state *s = mem_zalloc(sizeof *s);

	s->p = p;
	s->data = pcre2_match_data_create_from_pattern(p->utf, NULL);
	s->context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(s->context, PATTERN_TRIES);
	pcre2_set_heap_limit(s->context, PATTERN_HEAP);
	s->stack = p->quick ? pcre2_jit_stack_create(32 * 1024, PATTERN_STACK, NULL) : NULL;
	if (s->stack)
		pcre2_jit_stack_assign(s->context, NULL, s->stack);
	return s;
}

void
pattern_state_free(struct pattern_state **sp)
{
	struct pattern_state *s = *sp;

	if (!s)
		return;
	pcre2_match_data_free(s->data);
	pcre2_match_context_free(s->context);
	pcre2_jit_stack_free(s->stack);
	mem_free(s);
	*sp = NULL;
}

typedef uint64_t pattern_wide __attribute__((vector_size(16)));

static inline pattern_wide
pattern_load(const uint8_t *p)
{
	pattern_wide w;

	memcpy(&w, p, sizeof w);
	return w;
}

static inline pattern_wide
pattern_load_four(const uint8_t *p)
{
	return (pattern_load(p) | pattern_load(p + 16))
		| (pattern_load(p + 32) | pattern_load(p + 48));
}

/* Overlapping loads instead of loops over the rest, so that a line costs few jumps, hardly any
 * of which depends on its length. */
static inline bool
pattern_is_ascii(const uint8_t *p, size_t n)
{
	pattern_wide all = { 0 };
	const uint8_t *end = p + n;

	if (n >= 64) {
		for (all = pattern_load_four(p); end - p > 128; p += 64)
			all |= pattern_load_four(p + 64);
		all |= pattern_load_four(end - 64);
	} else if (n >= 16) {
		size_t inner = n >= 32 ? 16 : 0;

		all = (pattern_load(p) | pattern_load(p + inner))
			| (pattern_load(end - 16 - inner) | pattern_load(end - 16));
	} else if (n >= 8) {
		memcpy(&all, p, 8);
		memcpy((uint8_t *)&all + 8, end - 8, 8);
	} else {
		for (; p < end; p++)
			all[0] |= (uint64_t)(*p & 0x80);
	}
	return !((all[0] | all[1]) & 0x8080808080808080u);
}

static inline int
pattern_run(struct pattern_state *s, const pcre2_code *re, const uint8_t *p, size_t n,
	    size_t from, uint32_t options)
{
	static const uint8_t empty[1];
	int rc;

	if (!p)
		p = empty;
	if (s->p->quick)
		rc = pcre2_jit_match(re, p, n, from, options, s->data, s->context);
	else
		rc = pcre2_match(re, p, n, from, options | PCRE2_NO_UTF_CHECK, s->data, s->context);
	return rc > 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : rc == 0 ? 1 : rc;
}

/* Matches a subject with bad bytes, each stretch between them by itself. PCRE2 has
 * PCRE2_MATCH_INVALID_UTF for this, which 10.42 compiles to wrong machine code: \D then
 * matches nothing beyond ASCII, and matches after a bad byte are missed. */
static int
pattern_run_stretches(struct pattern_state *s, const uint8_t *p, size_t n, size_t from)
{
	size_t *v = pcre2_get_ovector_pointer(s->data), len;
	int rc = 0;

	for (size_t at = from ? s->stretch : 0; !rc && at <= n; at += len + 1) {
		len = str_utf8_valid(p + at, n - at);
		if (at + len < from)
			continue;
		rc = pattern_run(s, s->p->utf, p + at, len, from > at ? from - at : 0,
				 (at ? PCRE2_NOTBOL : 0) | (at + len < n ? PCRE2_NOTEOL : 0));
		s->stretch = at;
		for (unsigned k = 0; rc > 0 && k < 2 * (s->p->groups + 1); k++)
			v[k] += v[k] == PCRE2_UNSET ? 0 : at;
	}
	return rc;
}

/* Matches a subject that is not ASCII. */
static int
pattern_run_text(struct pattern_state *s, const uint8_t *p, size_t n)
{
	if (utf8_is_valid(p, n))
		return pattern_run(s, s->p->utf, p, n, 0, 0);
	return pattern_run_stretches(s, p, n, 0);
}

int
pattern_test(struct pattern_state *s, const uint8_t *p, size_t n)
{
	const struct pattern *re = s->p;

	if (re->grade == GRADE_ASCII) {
		if (re->bytes && pattern_is_ascii(p, n))
			return pattern_run(s, re->bytes, p, n, 0, 0);
		return pattern_run_text(s, p, n);
	}
	if (re->starts && !(n && re->first[*p]))
		return 0;
	int rc = pattern_run(s, re->bytes, p, n, 0, 0);
	return rc ? rc : pattern_test_rest(s, p, n);
}

int
pattern_test_rest(struct pattern_state *s, const uint8_t *p, size_t n)
{
	if (s->p->grade == GRADE_ANY || pattern_is_ascii(p, n))
		return 0;
	return pattern_run_text(s, p, n);
}

bool
pattern_scans(const struct pattern *p)
{
	return p->grade != GRADE_ASCII && !p->anchored;
}

int
pattern_scan(struct pattern_state *s, const uint8_t *p, size_t n, size_t *begin, size_t *end)
{
	int rc = pattern_run(s, s->p->bytes, p, n, 0, 0);
	const size_t *v = pcre2_get_ovector_pointer(s->data);

	if (rc > 0) {
		*begin = v[0];
		*end = v[1];
	}
	return rc;
}

int
pattern_find(struct pattern_state *s, const uint8_t *p, size_t n, size_t from, const size_t **v)
{
	const struct pattern *re = s->p;

	*v = pcre2_get_ovector_pointer(s->data);
	/* Decided once per subject, which may have as many matches as bytes. */
	if (!from)
		s->code = re->bytes && pattern_is_ascii(p, n) ? re->bytes
			: utf8_is_valid(p, n) ? re->utf : NULL;
	return s->code ? pattern_run(s, s->code, p, n, from, 0)
		: pattern_run_stretches(s, p, n, from);
}

const char *
pattern_fault(int code)
{
	switch (code) {
	case PCRE2_ERROR_MATCHLIMIT:
		return "the regular expression tried too long";
	case PCRE2_ERROR_JIT_STACKLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_NOMEMORY:
		return "the regular expression needs too much memory for this text";
	default:
		return "the regular expression could not be matched";
	}
}

unsigned
pattern_groups(const struct pattern *p)
{
	return p->groups;
}

const char *
pattern_group_name(const struct pattern *p, unsigned k)
{
	return p->names[k];
}

bool
pattern_has_names(const struct pattern *p)
{
	return p->named;
}

const struct needles *
pattern_needles(const struct pattern *p)
{
	return &p->needles;
}
