/* SPDX-License-Identifier: MIT */
#include "source_help.h"
#include "op/pull.h"

extern const struct op_desc op_sqlite;

/* The arguments hold blanks: they are set by hand. */
static void
query_init(struct src *s, const char *file, const char *query)
{
	src_init(s, &op_sqlite, "");
	param_set(&op_sqlite.params[0], s->node.params, file, strlen(file), NULL);
	param_set(&op_sqlite.params[1], s->node.params, query, strlen(query), NULL);
}

static void
gives(const char *query, const char *want)
{
	struct buf got = { 0 };
	struct src s;

	query_init(&s, "tests/docs/fruit.db", query);
	assert_int_equal(op_sqlite.check(&s.node, &s.e), ST_OK);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, want);
	src_clear(&s);
	buf_clear(&got);
}

static void
refused(const char *file, const char *query, enum status kind, const char *words)
{
	struct src s;

	query_init(&s, file, query);
	assert_int_equal(op_sqlite.check(&s.node, &s.e), kind);
	if (!strstr(s.e.text, words))
		assert_string_equal(s.e.text, words);
	src_clear(&s);
}

static void
rows_keep_their_types(void **state)
{
	(void)state;
	gives("SELECT * FROM fruit", "{\"id\":1,\"name\":\"apple\",\"price\":1.5,\"raw\":null,\"n\":7}\n"
	      "{\"id\":2,\"name\":\"plum\",\"price\":2.25,\"raw\":\"AP8=\",\"n\":null}\n"
	      "{\"id\":3,\"name\":\"fig\",\"price\":1.0,\"raw\":\"\",\"n\":\"x\"}\n");
	gives("SELECT name FROM fruit WHERE id > 3;", "");
	gives("SELECT -9223372036854775808 AS a, count(*) AS n FROM fruit", "{\"a\":-9223372036854775808,\"n\":3}\n");
}

static void
more_rows_than_a_run(void **state)
{
	static const char query[] = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) "
		"SELECT i FROM c";
	struct buf whole = { 0 }, parts = { 0 }, saved = { 0 };
	struct src s;

	(void)state;
	query_init(&s, "tests/docs/fruit.db", query);
	assert_int_equal(src_all(&s, &whole), ST_END);
	op_close(&s.inst);
	for (int stop = 1; stop <= 1999; stop += 333) {
		buf_reset(&parts);
		buf_reset(&saved);
		assert_int_equal(src_open(&s), ST_OK);
		assert_int_equal(src_read(&s, &parts, (uint64_t)stop), ST_OK);
		assert_true(op_state_save(s.inst, &saved));
		op_close(&s.inst);
		assert_int_equal(src_open(&s), ST_OK);
		assert_int_equal(op_state_restore(s.inst, saved.data, saved.len, &s.e), ST_OK);
		assert_int_equal(src_read(&s, &parts, UINT64_MAX), ST_END);
		assert_string_equal((char *)parts.data, (char *)whole.data);
		op_close(&s.inst);
	}
	src_clear(&s);
	buf_clear(&whole);
	buf_clear(&parts);
	buf_clear(&saved);
}

static void
statements_are_checked_before_the_run(void **state)
{
	static const char db[] = "tests/docs/fruit.db";
	struct buf got = { 0 };
	struct src s;

	(void)state;
	refused("tests/docs/none.db", "SELECT 1", ST_NOINPUT, "cannot read 'tests/docs/none.db'");
	refused("tests/docs/samples.tar", "SELECT 1 FROM x", ST_DATA, "not a database");
	refused(db, "SELECT nmae FROM fruit", ST_DATA, "no such column: nmae");
	refused(db, "DELETE FROM fruit", ST_DATA, "reads no rows");
	refused(db, "INSERT INTO fruit(name) VALUES('x') RETURNING id", ST_DATA, "reads no rows");
	refused(db, "ATTACH 'x' AS y", ST_DATA, "reads no rows");
	refused(db, "SELECT 1; SELECT 2", ST_DATA, "more follows: SELECT 2");
	refused(db, "SELECT ?", ST_DATA, "has parameters");
	refused(db, "SELECT 1 AS a, 2 AS a", ST_DATA, "two columns are called `a`");
	refused(db, "", ST_DATA, "reads no rows");
	query_init(&s, db, "SELECT load_extension('x')");
	assert_int_equal(src_all(&s, &got), ST_DATA);
	assert_non_null(strstr(s.e.text, "not authorized"));
	src_clear(&s);
	buf_clear(&got);
}

static void
columns_are_the_type(void **state)
{
	struct op_typing t = { .arena = types_new() };
	const struct type *type;
	struct buf text = { 0 };
	struct src s;

	(void)state;
	query_init(&s, "tests/docs/fruit.db", "SELECT id, name AS called FROM fruit");
	assert_int_equal(op_sqlite.typing(&s.node, &t, &type, &s.e), ST_OK);
	type_print(type, &text);
	assert_string_equal((char *)text.data, "{id: any, called: any}");
	buf_clear(&text);
	src_clear(&s);
	types_free(&t.arena);
}
