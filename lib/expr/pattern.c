/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "expr/pattern.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/ast.h"
#include "expr/needle.h"

enum { PATTERN_STACK = 1024 * 1024 }; /* most bytes of a JIT stack */

struct pattern {
	pcre2_code *bytes;   /* NULL: the pattern needs characters */
	pcre2_code *utf;
	bool plain;          /* `bytes` answers for any subject whether it matches */
	bool scans;          /* nor does it look at what stands around a match */
	bool quick;          /* all of them were compiled to machine code */
	unsigned groups;
	char *names[PATTERN_GROUPS + 1];
	bool named;
	struct needles needles;
};

struct pattern_state {
	const struct pattern *p;
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

/* Only what consumes plain ASCII, without wildcards: then it cannot matter
 * whether a subject is taken as bytes or as characters. */
static bool
pattern_is_plain(const char *s, size_t n, unsigned flags)
{
	if (flags & (REGEX_I | REGEX_X))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = s[i], next = i + 1 < n ? s[i + 1] : '\0';

		if (c == '.' || (c == '[' && next == '^') || (c == '[' && next == ':'))
			return false;
		if (c == '(' && (next == '*' || next == '?')
		    && !(next == '?' && i + 2 < n && s[i + 2] == ':'))
			return false;
		if (c == '\\') {
			if (isalnum((unsigned char)next) && !strchr("dwsbtnr", next))
				return false;
			i++;
		}
	}
	return true;
}

/* Of a plain pattern: without anchors a match does not depend on its surroundings. */
static bool
pattern_has_anchor(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '^' || s[i] == '$')
			return true;
		if (s[i] == '\\' && ++i < n && s[i] == 'b')
			return true;
	}
	return false;
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
	pcre2_set_max_pattern_length(cc, PATTERN_MAX);
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)s, n, options | PCRE2_NEVER_BACKSLASH_C, code,
				       bad, cc);
	pcre2_compile_context_free(cc);
	return re;
}

/* Machine code where the system allows it; without, matching is slower. */
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
	p->utf = pattern_compile(s, n, flags, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, bad);
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
		p->plain = p->bytes && pattern_is_plain(s, n, flags);
		p->scans = p->plain && !pattern_has_anchor(s, n);
	}
	pattern_read_names(p);
	if (!(flags & (REGEX_I | REGEX_X)))
		needles_find(s, n, &p->needles);
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

static bool
pattern_is_ascii(const uint8_t *p, size_t n)
{
	uint64_t all = 0, w[4];

	for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
		memcpy(w, p, sizeof w);
		all |= w[0] | w[1] | w[2] | w[3];
	}
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(w, p, 8);
		all |= w[0];
	}
	for (; n; p++, n--)
		all |= (uint64_t)(*p & 0x80);
	return !(all & 0x8080808080808080u);
}

static inline int
pattern_run(struct pattern_state *s, const pcre2_code *re, const uint8_t *p, size_t n,
	    size_t from)
{
	static const uint8_t empty[1];
	int rc;

	if (!p)
		p = empty;
	if (s->p->quick)
		rc = pcre2_jit_match(re, p, n, from, 0, s->data, s->context);
	else
		rc = pcre2_match(re, p, n, from, 0, s->data, s->context);
	return rc > 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : rc == 0 ? 1 : rc;
}

int
pattern_test(struct pattern_state *s, const uint8_t *p, size_t n)
{
	const pcre2_code *re = s->p->bytes;

	if (!s->p->plain && !(re && pattern_is_ascii(p, n)))
		re = s->p->utf;
	return pattern_run(s, re, p, n, 0);
}

bool
pattern_scans(const struct pattern *p)
{
	return p->scans;
}

int
pattern_scan(struct pattern_state *s, const uint8_t *p, size_t n, size_t *begin, size_t *end)
{
	int rc = pattern_run(s, s->p->bytes, p, n, 0);
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
	bool bytes = s->p->bytes && pattern_is_ascii(p, n);
	int rc = pattern_run(s, bytes ? s->p->bytes : s->p->utf, p, n, from);

	*v = pcre2_get_ovector_pointer(s->data);
	return rc;
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
