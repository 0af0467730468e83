/* SPDX-License-Identifier: MIT
 *
 * Where values may stand in a script: each {} is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/script.h"

/* In what the first {} stands that may not stand there; NULL: all may. */
static const char *
misplaced(const char *script)
{
	struct script_spot spots[8];
	size_t n = 0, bad;

	for (const char *p = script; (p = strstr(p, "{}")); p += 2)
		spots[n++] = (struct script_spot){ (size_t)(p - script), 2 };
	return script_misplaced(script, strlen(script), spots, n, &bad);
}

static void
values_stand_where_words_do(void **state)
{
	static const char *const scripts[] = {
		"{}", "echo {}", "echo a{}b'c'{}\"d\"", "x={}; echo $x", "echo 'a' \"b\" {}", "cat <{} >{}.out",
		"x=\"$(basename {})\"", "echo \"a $(echo {} \"b\") c\" {}", "echo $# {} $$ {}", "echo a#b {}",
		"if test {} = a; then echo {}; fi", "{ echo {}; }", "(echo {})", "case {} in {}) echo {};; esac",
		"x=\"$(case {} in (a) echo {};; b) echo {};; esac)\"; echo {}", "echo \\\" {} \\'",
		"cat <<E\ntext\nE\necho {}", "cat <<'E F'\n\"\nE F\necho {}", "cat <<-E\n\t'\n\tE\necho {}",
		"# it's\necho {}", "echo $((1 + (2)))\necho {}", "echo `echo \"` {}", "echo ${x%'}'} {}",
		"echo \"$( (case a in b) c;; esac); echo {} )\"", "printf \"%s\\n\" {}"
	};

	(void)state;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		if (misplaced(scripts[i]))
			fail_msg("`%s`: %s", scripts[i], misplaced(scripts[i]));
}

static void
values_stand_nowhere_else(void **state)
{
	static const struct { const char *script, *where; } list[] = {
		{ "echo \"{}\"", "inside double quotes" }, { "echo '{}'", "inside single quotes" },
		{ "echo \"a\" 'b {} c'", "inside single quotes" }, { "echo '\"' \"' {}\"", "inside double quotes" },
		{ "echo \"$(echo \"{}\")\"", "inside double quotes" },
		{ "echo \"$(case x in a) b;; esac)\" \"{}\"", "inside double quotes" },
		{ "x=\"$(case x in a) echo \"{}\";; esac)\"", "inside double quotes" },
		{ "echo \"$( (case a in b) c;; esac); echo \"{}\" )\"", "inside double quotes" },
		{ "echo \"$(echo case) {}\"", "inside double quotes" },
		{ "echo `echo {}`", "inside backquotes" }, { "echo \"`echo {}`\"", "inside backquotes" },
		{ "echo ${x:-{}}", "inside ${...}" }, { "echo \"${x:-{}}\"", "inside ${...}" },
		{ "echo $(({} + 1))", "inside $((...))" }, { "echo $((2 * (1 + {})))", "inside $((...))" },
		{ "echo \\{}", "behind a backslash" }, { "echo ${}", "behind a $" },
		{ "echo # {}", "in a comment" }, { "cat <<E\n{}\nE\n", "in a here-document" },
		{ "cat <<'E'\n{}\nE\n", "in a here-document" }, { "cat <<A <<B\nA\n{}\nB\n", "in a here-document" },
		{ "cat <<E\nE \n{}\nE\n", "in a here-document" },
		{ "cat <<{}\n", "where a here-document's end is named" },
		{ "echo $'a' {}", "behind $'...', which not every sh takes for quotes" },
		{ "echo \"${x:-'} {}\" '}\"", "behind single quotes in \"${...}\", which not every sh takes for quotes" },
		{ "echo \"$((a); echo \"{}\")\"", "behind $((, where it is not arithmetic" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		const char *where = misplaced(list[i].script);

		if (!where)
			fail_msg("`%s` is let through", list[i].script);
		assert_string_equal(where, list[i].where);
	}
}

/* The shell's own answer for each value put in by script_quote. */
static void
a_quoted_value_is_one_word(void **state)
{
	static const char *const values[] = { "", "a b", "'", "it's '' \"$(id)\" `id`", "{}", "{.a} {", "\\", "*", "a\nb\n" };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct buf script = { 0 };
		char got[64] = "";

		buf_str(&script, "printf %s. ");
		script_quote(values[i], strlen(values[i]), &script);
		assert_null(strstr((char *)script.data, "{}"));
		FILE *f = popen((char *)script.data, "r");
		size_t n = fread(got, 1, sizeof got - 1, f);
		assert_int_equal(pclose(f), 0);
		assert_int_equal(n, strlen(values[i]) + 1);
		assert_memory_equal(got, values[i], n - 1);
		buf_clear(&script);
	}
}

static void
the_script_of_a_shell_is_found(void **state)
{
	static const struct { const char *v[7]; size_t from, end; } list[] = {
		{ { "sh", "-c", "s" }, 1, 3 }, { { "/bin/bash", "-e", "-uc", "s", "x" }, 1, 4 },
		{ { "timeout", "5", "sh", "-c", "s" }, 3, 5 }, { { "sh", "-c" }, 1, 2 }, { { "sh", "file" }, 2, 2 },
		{ { "echo", "-c", "s" }, 3, 3 }, { { "echo" }, 1, 1 },
		{ { "bash", "-o", "pipefail", "-c", "s", "sh", "x" }, 1, 5 },
		{ { "bash", "-euo", "pipefail", "-c", "s", "x" }, 1, 5 }, { { "bash", "+O", "extglob", "-c", "s" }, 1, 5 },
		{ { "bash", "--rcfile", "f", "-c", "s", "x" }, 1, 5 }, { { "bash", "--norc", "-c", "s", "x" }, 1, 4 },
		{ { "bash", "-c", "--", "s", "x" }, 1, 4 }, { { "fish", "--command=s", "x" }, 1, 3 },
		{ { "fish", "-C", "s", "x" }, 1, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		struct words w = { 0 };

		size_t from;

		for (size_t k = 0; k < 7 && list[i].v[k]; k++)
			words_add(&w, list[i].v[k], strlen(list[i].v[k]));
		assert_int_equal(script_of_words(&w, &from), list[i].end);
		assert_int_equal(from, list[i].from);
		words_clear(&w);
	}
}
