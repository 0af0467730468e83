/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include "base/mem.h"
#include "value/format/frame.h"
#include "watched.h"

static bool
test_stays(const struct test *t)
{
	return t->o->proto != FRAME_ARG && t->o->proto != FRAME_RAW && t->o->proto != FRAME_STREAM;
}

/* One answer for each element. */
static bool
test_pairs(const struct test *t)
{
	return t->o->proto != FRAME_MSGPACK && t->o->proto != FRAME_STREAM;
}

static void
test_source(const struct test *t, struct watched *r)
{
	bool json = t->o->proto == FRAME_NDJSON || t->o->proto == FRAME_MSGPACK;

	if (t->o->input) {
		watched_word(r, json ? "ndjson" : "lines");
		watched_word(r, t->o->input);
	} else {
		watched_word(r, "elements");
		watched_word(r, "[\"one\", \"two words\", \"3\", \"four\"]");
	}
}

static void
test_then(struct watched *r, const char *op, const char *arg)
{
	watched_word(r, "then");
	watched_word(r, op);
	watched_word(r, arg);
}

static enum status
test_exec(const struct test *t, struct watched *r, const char *option, struct err *e)
{
	char *proto = mem_printf("proto=%s", frame_name((enum frame_proto)t->o->proto));

	test_then(r, "exec", proto);
	if (option)
		watched_word(r, option);
	watched_word(r, "--");
	for (size_t i = 0; i < t->words; i++)
		watched_word(r, t->command[i]);
	mem_free(proto);
	r->limit_ns = t->o->limit;
	return watched_run(r, e);
}

/* why NULL: it copes. */
static void
test_say(struct test *t, const char *name, const char *why, const char *help)
{
	buf_printf(&t->out, "%s %s%s%s\n", why ? "FAIL" : "ok  ", name, why ? ": " : "", why ? why : "");
	if (why && help && *help)
		buf_printf(&t->out, "     help: %s\n", help);
	t->failed += why != NULL;
}

/* Reports anything that can be wrong with any run; false: something was. */
static bool
test_ran(struct test *t, const char *name, const struct watched *r)
{
	if (r->e.kind != ST_OK)
		test_say(t, name, r->e.text, r->e.help);
	else if (r->late)
		test_say(t, name, "it does not end in time",
			 r->note.kind ? r->note.help : "--limit gives it more time");
	else
		return true;
	return false;
}

static enum status
test_answers(struct test *t, struct err *e)
{
	struct watched all = { 0 }, given = { 0 };
	const char *name = test_pairs(t) ? "one answer for each element" : "it runs";
	enum status st;

	test_source(t, &given);
	given.limit_ns = t->o->limit;
	st = watched_run(&given, e);
	if (st == ST_OK) {
		t->given = given.elements;
		test_source(t, &all);
		st = test_exec(t, &all, NULL, e);
	}
	if (st == ST_OK && test_ran(t, name, &all)) {
		t->digest = all.digest;
		test_say(t, name, test_pairs(t) && all.elements != t->given
			 ? "the numbers differ" : NULL, NULL);
	}
	/* Its own time and not ours: it has closed its output and is still there. */
	if (st == ST_OK && !all.e.kind && all.all_ns - all.first_ns > 4000000000)
		test_say(t, "it ends with its input", "it keeps running and has to be stopped", NULL);
	else if (st == ST_OK && !all.e.kind && !all.late)
		test_say(t, "it ends with its input", NULL, NULL);
	watched_clear(&all);
	watched_clear(&given);
	return st;
}

/* An input that waits behind its first element: so does nobody's answer. */
static enum status
test_at_once(struct test *t, struct err *e)
{
	struct watched r = { 0 };

	watched_word(&r, "concat");
	watched_word(&r, "(");
	test_source(t, &r);
	test_then(&r, "take", "1");
	watched_word(&r, ")");
	watched_word(&r, "(");
	watched_word(&r, "cmd");
	watched_word(&r, "--");
	watched_word(&r, "sleep");
	watched_word(&r, "1.5");
	watched_word(&r, ")");
	enum status st = test_exec(t, &r, NULL, e);
	if (st == ST_OK && test_ran(t, "each answer at once", &r))
		test_say(t, "each answer at once", r.elements && r.first_ns > 1200000000
			 ? "it buffers its output" : NULL, r.note.kind ? r.note.help : NULL);
	watched_clear(&r);
	return st;
}

static enum status
test_many(struct test *t, struct err *e)
{
	struct watched r = { 0 };
	bool each = !test_stays(t) && t->o->proto != FRAME_STREAM;
	uint64_t want = t->given * (each ? 5 : 2500);

	test_source(t, &r);
	test_then(&r, "repeat", each ? "5" : "2500");
	enum status st = test_exec(t, &r, NULL, e);
	if (st == ST_OK && test_ran(t, "many elements, ahead of the answers", &r))
		test_say(t, "many elements, ahead of the answers",
			 test_pairs(t) && r.elements != want ? "answers are missing" : NULL, NULL);
	watched_clear(&r);
	return st;
}

static enum status
test_large(struct test *t, struct err *e)
{
	struct watched r = { 0 };

	watched_word(&r, "cmd");
	watched_word(&r, "--");
	watched_word(&r, "sh");
	watched_word(&r, "-c");
	watched_word(&r, "head -c 1000000 /dev/zero | tr '\\0' x");
	enum status st = test_exec(t, &r, NULL, e);
	if (st == ST_OK && test_ran(t, "a large element", &r))
		test_say(t, "a large element", NULL, NULL);
	watched_clear(&r);
	return st;
}

static enum status
test_copies(struct test *t, struct err *e)
{
	struct watched r = { 0 };

	test_source(t, &r);
	enum status st = test_exec(t, &r, "parallel=3", e);
	if (st == ST_OK && test_ran(t, "several copies give the same", &r))
		test_say(t, "several copies give the same", r.digest != t->digest
			 ? "the answers differ from those of one copy" : NULL,
			 "copies do not share what they remember of earlier elements: use parallel=1");
	watched_clear(&r);
	return st;
}

enum status
test_all(struct test *t, struct err *e)
{
	enum status st = test_answers(t, e);

	if (st != ST_OK || t->failed) /* no later check could be told from that one */
		return st;
	if (test_stays(t))
		st = test_at_once(t, e);
	if (st == ST_OK)
		st = test_many(t, e);
	if (st == ST_OK && !t->o->input && t->o->proto != FRAME_ARG)
		st = test_large(t, e);
	if (st == ST_OK && t->o->proto != FRAME_STREAM)
		st = test_copies(t, e);
	return st;
}
