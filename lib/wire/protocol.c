/* SPDX-License-Identifier: MIT
 *
 * The tables of doc/protocol.md, printed from the rows.
 */
#include <string.h>

#include "wire/field.h"
#include "wire/role.h"

static const char *const protocol_kinds[] = {
	[FIELD_U32] = "number", [FIELD_U64] = "number", [FIELD_BOOL] = "bool", [FIELD_TEXT] = "text",
	[FIELD_BYTES] = "bytes", [FIELD_RANGES] = "ranges", [FIELD_WORDS] = "list of texts",
	[FIELD_SPLITS] = "list of splits", [FIELD_LIST] = "list",
};

static void
protocol_limit(struct buf *out, const struct field *f)
{
	if (f->kind == FIELD_U32)
		buf_printf(out, "%llu", (unsigned long long)(f->max ? f->max : UINT32_MAX));
	else if (f->kind == FIELD_U64 && f->max)
		buf_printf(out, "%llu", (unsigned long long)f->max);
	else if (f->kind == FIELD_U64 || f->kind == FIELD_BOOL)
		buf_str(out, f->kind == FIELD_U64 ? "2^64-1" : "");
	else
		buf_printf(out, "%llu %s", (unsigned long long)f->max,
			   f->kind == FIELD_TEXT || f->kind == FIELD_BYTES ? "bytes" :
			   f->kind == FIELD_RANGES ? "ranges" : "items");
}

static void
protocol_rows(struct buf *out, const struct field *rows, const char *indent)
{
	for (const struct field *f = rows; f->kind; f++) {
		buf_printf(out, "| %s%s | %s | ", indent, f->name, protocol_kinds[f->kind]);
		protocol_limit(out, f);
		buf_printf(out, " | %s |\n", f->doc ? f->doc : "");
		if (f->kind == FIELD_LIST)
			protocol_rows(out, f->item, "- ");
	}
}

void
msg_print_tables(struct buf *out)
{
	for (unsigned t = 1; t < MSG_TYPES; t++) {
		const struct msg_desc *d = msg_desc(t);

		if (!d)
			continue;
		buf_printf(out, "### %u %s (%s)\n\n%s%s\n\n", t, d->name, d->way, d->doc,
			   d->large ? " Frame up to 16 MiB." : "");
		if (d->may) {
			char roles[ROLES_TEXT];

			roles_print(d->may, roles);
			buf_printf(out, "Roles: %s.\n\n", roles);
		}
		if (!d->fields->kind)
			continue;
		buf_str(out, "| field | is | at most | |\n|---|---|---|---|\n");
		protocol_rows(out, d->fields, "");
		buf_byte(out, '\n');
	}
}
