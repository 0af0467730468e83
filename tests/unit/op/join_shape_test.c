/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/whole/join_shape.h"
#include "value/mp.h"

#define ALL(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A record with these fields, whose values are their places, in memory that ends right behind it. */
static struct elem
record(const char *const *names)
{
	uint8_t room[1000], *w;
	uint32_t n = 0;

	while (names[n])
		n++;
	w = mp_put_record_head(room, n);
	for (uint32_t k = 0; k < n; k++)
		w = mp_put_int(mp_put_text(w, names[k], (uint32_t)strlen(names[k])), (int64_t)k * 100);
	return (struct elem){ mem_dup(room, (size_t)(w - room)), NULL, (uint32_t)(w - room), 0 };
}

static void
forget(struct elem *e)
{
	mem_free((void *)(uintptr_t)e->p);
}

/* The names of the joined record; "-": it has another shape. */
static const char *
joined(const struct join_shape *s, const char *const *x_names, const char *const *row_names)
{
	static char text[1000];
	struct elem x = record(x_names), row = record(row_names);
	uint8_t *to = mem_alloc((size_t)x.len + row.len + 16), *end = join_shape_put(s, &x, row.p, to);
	size_t n = 0;
	struct mp m, key;

	strcpy(text, "-");
	if (end) {
		const uint8_t *p = mp_head(to, end, &m);

		assert_true(mp_check(to, (size_t)(end - to)));
		*text = 0;
		for (uint32_t k = 0; k < m.n; k++) {
			const uint8_t *value = mp_head(p, end, &key);

			n += (size_t)snprintf(text + n, sizeof text - n, "%.*s ", (int)key.n, (const char *)key.p);
			p = mp_skip(value, end);
		}
	}
	mem_free(to);
	forget(&x);
	forget(&row);
	return text;
}

static void
learn(struct join_shape *s, const char *const *x_names, const char *const *row_names)
{
	struct elem x = record(x_names), row = record(row_names);

	join_shape_learn(s, &x, row.p, row.len);
	forget(&x);
	forget(&row);
}

static void
fields_that_the_element_has_are_left_out(void **state)
{
	struct join_shape s = { .n_x = 0 };

	(void)state;
	learn(&s, ALL("id", "name"), ALL("id", "city", "name", "score", "a field of a longer name"));
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("id", "city", "name", "score", "a field of a longer name")),
			    "id name city score a field of a longer name ");
	join_shape_clear(&s);
	learn(&s, ALL("a"), ALL("b", "c", "a"));
	assert_string_equal(joined(&s, ALL("a"), ALL("b", "c", "a")), "a b c ");
	join_shape_clear(&s);
	learn(&s, ALL("a"), ALL("a"));
	assert_string_equal(joined(&s, ALL("a"), ALL("a")), "a ");
	join_shape_clear(&s);
}

static void
other_names_are_another_shape(void **state)
{
	struct join_shape s = { .n_x = 0 };

	(void)state;
	assert_string_equal(joined(&s, ALL("a"), ALL("b")), "-");
	learn(&s, ALL("id", "name"), ALL("id", "city"));
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("id", "cite")), "-");
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("id", "cit")), "-");
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("city", "id")), "-");
	assert_string_equal(joined(&s, ALL("id", "names"), ALL("id", "city")), "-");
	assert_string_equal(joined(&s, ALL("id"), ALL("id", "city")), "-");
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("id", "city", "x")), "-");
	assert_string_equal(joined(&s, ALL("id", "name"), ALL("id", "city")), "id name city ");
	join_shape_clear(&s);
}

/* More than fifteen fields come out, with a longer head; more than fifteen go in, and are not remembered. */
static void
many_fields(void **state)
{
	const char *const *x = ALL("a", "b", "c", "d", "e", "f", "g", "h", "i", "j");
	const char *const *row = ALL("a", "q", "r", "s", "t", "u", "v", "w");
	const char *const *more = ALL("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p");
	struct join_shape s = { .n_x = 0 };

	(void)state;
	learn(&s, x, row);
	assert_string_equal(joined(&s, x, row), "a b c d e f g h i j q r s t u v w ");
	join_shape_clear(&s);
	learn(&s, more, row);
	assert_string_equal(joined(&s, more, row), "-");
	join_shape_clear(&s);
}
