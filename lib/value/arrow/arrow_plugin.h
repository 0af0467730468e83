/* SPDX-License-Identifier: MIT
 *
 * What libdsvc_arrow.so (plugin/) does for us with Arrow's C++ libraries: Parquet and Arrow IPC
 * read, IPC written. Data goes either way by Arrow's C Data Interface, whose structs are below as Arrow's
 * specification has them, for anybody to copy; everything else is in C (arrow_rows.h).
 *
 * No exception leaves the plugin. Its functions return 0 or an enum status, and say why in *why. Bytes are read
 * through callbacks, so that the plugin opens nothing by itself.
 */
#ifndef ARROW_ARROW_PLUGIN_H
#define ARROW_ARROW_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

enum { ARROW_PLUGIN_VERSION = 3, ARROW_WHY = 1024 };

struct arrow_why { char text[ARROW_WHY]; };

/* Bytes to read. */
struct arrow_from {
	void *arg;
	int64_t size;       /* bytes in the file; -1: a stream, read from front to back */
	/* Fills n bytes from `offset` on (fewer: the end); gives their number, or -1 after it has kept an error. */
	int64_t (*read)(void *arg, int64_t offset, int64_t n, void *to);
	int64_t memory_max; /* most bytes in memory at once */
	int at_once;        /* each piece of a column is one read: for what is far */
};

struct arrow_group { int64_t rows, bytes, offset; };

struct arrow_parquet;
struct arrow_ipc;
struct arrow_out;

struct arrow_plugin {
	uint32_t version;
	const char *arrow;  /* version of the libraries */
	int (*parquet_open)(const struct arrow_from *from, struct arrow_parquet **out, struct arrow_why *why);
	void (*parquet_close)(struct arrow_parquet *f);
	/* Chooses columns by name (NULL: all); *missing is the first name that there is none of, or -1. */
	int (*parquet_choose)(struct arrow_parquet *f, const char *const *names, size_t n, int64_t *missing,
			      struct arrow_why *why);
	/* The chosen columns, as a struct. Gives. */
	int (*parquet_schema)(struct arrow_parquet *f, struct ArrowSchema *out, struct arrow_why *why);
	int64_t (*parquet_groups)(const struct arrow_parquet *f);
	int (*parquet_group)(const struct arrow_parquet *f, int64_t g, struct arrow_group *out, struct arrow_why *why);
	/* Begins a row group; batches have at most so many rows. */
	int (*parquet_begin)(struct arrow_parquet *f, int64_t g, int64_t rows, struct arrow_why *why);
	/* Gives the next batch; ST_END: there is none. */
	int (*parquet_next)(struct arrow_parquet *f, struct ArrowArray *out, struct arrow_why *why);
	/* Two rows: the least and the greatest value of each of these n columns in a row group, nan excepted; null
	 * where they are not known. They may be other than its values, but no value is outside. Also the numbers of
	 * nulls, -1 where they are not known. A column may be named twice: those of the rows are called 0, 1, 2 ...
	 * `schema` may be NULL; it is the same for all row groups. Gives. */
	int (*parquet_limits)(struct arrow_parquet *f, int64_t g, const char *const *names, size_t n, int64_t *nulls,
			      struct ArrowSchema *schema, struct ArrowArray *out, struct arrow_why *why);

	/* Files are told from streams by their size, which a stream has not; a stream begins with its first message. */
	int (*ipc_open)(const struct arrow_from *from, struct arrow_ipc **out, struct arrow_why *why);
	void (*ipc_close)(struct arrow_ipc *f);
	int (*ipc_choose)(struct arrow_ipc *f, const char *const *names, size_t n, int64_t *missing,
			  struct arrow_why *why);
	int (*ipc_schema)(struct arrow_ipc *f, struct ArrowSchema *out, struct arrow_why *why);
	int64_t (*ipc_batches)(const struct arrow_ipc *f); /* -1: a stream, whose number is not known */
	/* The number of rows; -1: a stream. */
	int (*ipc_rows)(struct arrow_ipc *f, int64_t *rows, struct arrow_why *why);
	int (*ipc_seek)(struct arrow_ipc *f, int64_t batch, struct arrow_why *why);
	int (*ipc_next)(struct arrow_ipc *f, struct ArrowArray *out, struct arrow_why *why);

	/* An IPC stream; takes the schema, calls `write`, which cannot fail. */
	int (*out_new)(void (*write)(void *arg, const void *p, int64_t n), void *arg, struct ArrowSchema *schema,
		       struct arrow_out **out, struct arrow_why *why);
	int (*out_put)(struct arrow_out *o, struct ArrowArray *batch, struct arrow_why *why); /* takes the batch */
	int (*out_end)(struct arrow_out *o, struct arrow_why *why);
	void (*out_free)(struct arrow_out *o);
};

const struct arrow_plugin *dsvc_arrow_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
