/* SPDX-License-Identifier: MIT
 *
 * The parameters of a spec: declared by `param`, given by --set, used as @name.
 * A value is data, never spliced text: it is kept as one encoded value.
 *
 * --set of a name that the spec neither declares nor uses is an error
 * (settings_check). A name that is used but not declared takes what --set says:
 * a number or truth value when it reads as one, else text.
 */
#ifndef LANG_SETTING_H
#define LANG_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/param.h"

struct setting {
	char *name;
	struct buf value;  /* encoded value; empty: declared without a default, and not given */
	const char *given; /* text from --set; NULL: not given */
	bool declared, used;
	bool operand;      /* given as an operand */
};

struct settings {
	struct hash names;
	char *const *values; /* operands left for the parameters to come */
	size_t n_values;
	unsigned n_own;      /* number of parameters that the spec itself declares */
	const char *lacking; /* the name without a value that settings_value found */
};

/* sets: NAME=VALUE each; NULL: none. Lent for the life of the settings. */
enum status settings_init(struct settings *s, const struct words *sets, struct err *e);
void settings_clear(struct settings *s);
/* Gives values for parameters in the order of their declaration, except those set by --set. */
void settings_operands(struct settings *s, char *const *values, size_t n);
/* Declares a parameter: its type as written ("": that of the default), its default value
 * (NULL: none), which --set overrides; own: declared by the spec itself rather than by an
 * included file. Takes nothing. */
enum status settings_declare(struct settings *s, const char *name, const char *type,
			     const struct buf *value, bool own, struct err *e);
/* Reads a text as a value of the type, "": of the type that it looks like. */
enum status setting_read(const char *type, const char *text, size_t n, struct buf *out,
			 struct err *e);
/* The value of a parameter, for expr_src.param; sets `lacking` on failure. */
bool settings_value(void *settings, const char *name, size_t n, struct buf *out);
/* The i-th name, for suggestions. */
const char *settings_name(void *settings, size_t i);
/* Whether the value came from the command line. */
bool settings_given(const struct settings *s, const char *name, size_t n);
/* Fails for a --set that nothing uses, and for operands that are left over. */
enum status settings_check(const struct settings *s, struct err *e);

#endif
