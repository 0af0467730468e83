/* SPDX-License-Identifier: MIT */
#include "cli/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "value/json/json_text.h"

struct faults {
	FILE *file;
	char *path;
	struct buf line;
};

enum status
faults_open(const char *path, struct faults **out, struct err *e)
{
	*out = NULL;
	if (!path)
		return ST_OK;
	FILE *file = fopen(path, "we");
	if (!file)
		return err_errno(e, "cannot write %s", path);
	struct faults *f = mem_zalloc(sizeof *f);
	f->file = file;
	f->path = mem_strdup(path);
	*out = f;
	return ST_OK;
}

static void
fault_text(struct buf *out, const char *key, const char *s)
{
	struct json_out o;

	if (!s || !*s)
		return;
	buf_printf(out, ",\"%s\":", key);
	uint8_t *w = json_out_begin(&o, out, &json_rules_shown);
	size_t n = strlen(s);
	w = json_put_text(&o, w, (const uint8_t *)s, n, (const uint8_t *)s + n);
	json_out_end(&o, w);
}

void
fault_print(const struct fault *x, struct buf *out)
{
	buf_printf(out, "{\"operator\":%" PRIu32, x->op);
	fault_text(out, "text", x->text);
	fault_text(out, "error", x->error);
	if (x->worker) {
		fault_text(out, "worker", x->worker);
		buf_printf(out, ",\"stream\":%" PRIu32 ",\"offset\":%" PRIu64, x->stream, x->offset);
	}
	fault_text(out, "file", x->file);
	if (x->line)
		buf_printf(out, ",\"line\":%" PRIu64, x->line);
	fault_text(out, "element", x->element);
	if (x->fatal)
		buf_str(out, ",\"fatal\":true");
	buf_byte(out, '}');
}

void
faults_add(struct faults *f, const struct fault *x)
{
	if (!f)
		return;
	buf_reset(&f->line);
	fault_print(x, &f->line);
	buf_byte(&f->line, '\n');
	fwrite(f->line.data, 1, f->line.len, f->file);
}

enum status
faults_close(struct faults **fp, struct err *e)
{
	struct faults *f = *fp;
	enum status st = ST_OK;

	*fp = NULL;
	if (!f)
		return ST_OK;
	bool bad = ferror(f->file);
	if (fclose(f->file) || bad)
		st = err_errno(e, "cannot write all of %s", f->path);
	buf_clear(&f->line);
	mem_free(f->path);
	mem_free(f);
	return st;
}
