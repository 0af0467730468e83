/* SPDX-License-Identifier: MIT
 * stdin: elements from this process's standard input, each as soon as it is there.
 */
#include "op/file/file_csv.h"
#include "op/file/file_json.h"
#include "op/file/file_npy.h"
#include "op/file/file_tfrecord.h"
#include "value/json/json.h"

enum stdin_as {
	STDIN_LINES, STDIN_NDJSON, STDIN_MSGPACK, STDIN_NUL, STDIN_RAW, STDIN_CSV, STDIN_TSV,
	STDIN_TFRECORD, STDIN_NPY, STDIN_JSON
};

struct stdin_source {
	union { /* each begins with src; the names are filled in here */
		struct file_source src;
		struct file_csv csv;
		struct file_tfrecord tfrecord;
		struct file_npy npy;
		struct file_json json;
	};
	int as;
	char *names[1];
};

static const struct param stdin_params[] = {
	{ "as", PARAM_CHOICE, offsetof(struct stdin_source, as), "lines",
	  .choices = "lines|ndjson|msgpack|nul|raw|csv|tsv|tfrecord|npy|json",
	  .help = "how the input is divided into elements: lines of text, one JSON value per line, "
		  "MessagePack values, texts ended by NUL, all of it as one element of bytes, or "
		  "as the source of that name does" },
	{ "with_name", PARAM_VALUE, offsetof(struct stdin_source, src.with_name), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "true adds the fields `file`, which is -, and `line` or `record`, "
		  "its number, as the source of that name does" },
	{ 0 }
};

/* The usual name of the field with the number (with_name). */
static const char *
stdin_counts(const struct stdin_source *s)
{
	return s->as == STDIN_MSGPACK || s->as == STDIN_TFRECORD || s->as == STDIN_NPY ? "record" : NULL;
}

static enum status
stdin_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	static const enum type_kind kinds[] = {
		[STDIN_LINES] = TYPE_TEXT, [STDIN_NDJSON] = TYPE_ANY, [STDIN_MSGPACK] = TYPE_ANY,
		[STDIN_NUL] = TYPE_TEXT, [STDIN_RAW] = TYPE_BYTES, [STDIN_CSV] = TYPE_ANY,
		[STDIN_TSV] = TYPE_ANY, [STDIN_TFRECORD] = TYPE_BYTES, [STDIN_NPY] = TYPE_ANY,
		[STDIN_JSON] = TYPE_ANY
	};
	const struct stdin_source *s = n->params;

	*type = type_scalar(kinds[s->as]);
	return file_named_type(&s->src.with_name, stdin_counts(s), t->arena, type, e);
}

static enum status
stdin_open(struct op_inst *self, struct err *e)
{
	static char name[] = "-", comma[] = ",", quote[] = "\"";
	struct stdin_source *s = self->state;

	s->names[0] = name;
	s->src.counts = stdin_counts(s);
	s->src.names = (struct words){ s->names, 1 };
	s->src.delim = s->as == STDIN_NUL ? 0 : '\n';
	s->src.text = s->as == STDIN_LINES || s->as == STDIN_NDJSON;
	switch ((enum stdin_as)s->as) {
	case STDIN_NDJSON:
		s->src.pad = json_padding();
		break;
	case STDIN_CSV:
		s->csv.delim = comma;
		s->csv.quote = quote;
		/* fall through */
	case STDIN_TSV:
		s->csv.header = true;
		return file_csv_open(self, e);
	case STDIN_TFRECORD: return file_tfrecord_open(self, e);
	case STDIN_NPY: return file_npy_open(self, e);
	case STDIN_JSON: return file_json_open(self, e);
	default: break;
	}
	return file_source_open(self, e);
}

static enum status
stdin_next(struct op_inst *self, struct run *out, struct err *e)
{
	const struct stdin_source *s = self->state;

	switch ((enum stdin_as)s->as) {
	case STDIN_NDJSON: return file_source_next(self, file_ndjson, out, e);
	case STDIN_MSGPACK: return file_source_next(self, file_msgpack, out, e);
	case STDIN_RAW: return file_source_whole(self, out, e);
	case STDIN_CSV:
	case STDIN_TSV: return file_csv_next(self, out, e);
	case STDIN_TFRECORD: return file_tfrecord_next(self, out, e);
	case STDIN_NPY: return file_npy_next(self, out, e);
	case STDIN_JSON: return file_source_next(self, file_json, out, e);
	case STDIN_LINES:
	case STDIN_NUL: break;
	}
	return file_source_next(self, file_lines, out, e);
}

static void
stdin_close(struct op_inst *self)
{
	const struct stdin_source *s = self->state;

	if (s->as == STDIN_CSV || s->as == STDIN_TSV)
		file_csv_close(self);
	else if (s->as == STDIN_TFRECORD)
		file_tfrecord_close(self);
	else
		file_source_close(self);
}

static void
stdin_save(struct op_inst *self, struct buf *out)
{
	const struct stdin_source *s = self->state;

	s->as == STDIN_JSON ? file_json_save(self, out) : file_source_save(self, out);
}

static enum status
stdin_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	const struct stdin_source *s = self->state;

	return s->as == STDIN_JSON ? file_json_restore(self, p, n, e) : file_source_restore(self, p, n, e);
}

const struct op_desc op_stdin = {
	.name = "stdin",
	.brief = "reads elements from standard input",
	.doc = "Each element is passed on as soon as it arrives. Compressed input is decompressed. "
	       "Since standard input belongs to one process, this source works in dsvc-run and "
	       "after `distribute`, but not in the part that workers run.",
	.kind = OP_SOURCE,
	.flags = OP_LOCAL,
	.params = stdin_params,
	.state_size = sizeof(struct stdin_source),
	.typing = stdin_typing,
	.open = stdin_open,
	.next = stdin_next,
	.close = stdin_close,
	.save = stdin_save,
	.restore = stdin_restore,
	.example = "stdin | map len(x)",
	.output = "5\n3\n",
	.input = "three\ntwo\n",
};
