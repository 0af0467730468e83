/* SPDX-License-Identifier: MIT */
#include "lang/spectext.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/gate.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/transfer.h"
#include "lang/spec.h"

/* Makes a text of data, which it takes. */
static enum status
spectext_make(struct buf *data, const char *file, const char *dir, struct spectext **out,
	      struct err *e)
{
	size_t n = data->len;
	const char *bad = NULL;

	if (n > SPEC_BYTES)
		bad = "is longer than a spec may be";
	else if (n && memchr(data->data, '\0', n))
		bad = "has a NUL byte in it: it is not text";
	else if (str_utf8_valid(data->data, n) != n)
		bad = "is not valid UTF-8";
	if (bad) {
		size_t at = bad[0] == 'i' && bad[3] == 'n' ? str_utf8_valid(data->data, n) : 0;
		buf_clear(data);
		if (at)
			return err_set(e, ST_DATA, "the spec in %s %s (byte %zu)", file, bad, at + 1);
		return err_set(e, ST_DATA, "the spec in %s %s", file, bad);
	}
	struct spectext *t = mem_zalloc(sizeof *t);
	t->file = mem_strdup(file);
	t->dir = mem_strdup(dir);
	t->len = n;
	t->data = buf_take(data);
	*out = t;
	return ST_OK;
}

enum status
spectext_of(const char *text, size_t n, const char *file, const char *dir, struct spectext **out,
	    struct err *e)
{
	struct buf b = { 0 };

	if (n > SPEC_BYTES)
		return err_set(e, ST_DATA, "the spec is longer than %d bytes", SPEC_BYTES);
	buf_put(&b, text, n);
	return spectext_make(&b, file ? file : "<arg>", dir, out, e);
}

static enum status
spectext_read(int fd, const char *path, struct buf *b, struct err *e)
{
	return transfer_read_all(fd, SPEC_BYTES, b) ? ST_OK : err_errno(e, "cannot read %s", path);
}

enum status
spectext_load(const char *path, struct spectext **out, struct err *e)
{
	bool input = !strcmp(path, "-");
	struct buf b = { 0 };
	int fd = input ? 0 : gate_open(GATE_READ, path, O_RDONLY, 0);

	if (fd < 0)
		return err_errno(e, "cannot open %s", path);
	enum status st = spectext_read(fd, input ? "standard input" : path, &b, e);
	if (!input)
		close(fd);
	if (st) {
		buf_clear(&b);
		return st;
	}
	/* the byte order mark that some editors write */
	if (b.len >= 3 && !memcmp(b.data, "\xef\xbb\xbf", 3))
		memmove(b.data, b.data + 3, b.len -= 3);
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
	st = spectext_make(&b, input ? "<stdin>" : path, dir, out, e);
	mem_free(dir);
	return st;
}

bool
spec_is_whole(const char *operand)
{
	return strpbrk(operand, " \t\n|") != NULL;
}

enum status
spectext_of_words(char *const *argv, size_t argc, const char *dir, struct spectext **out,
		  struct err *e)
{
	struct buf b = { 0 };
	struct spectext_word *words = mem_array(argc ? argc : 1, sizeof *words);

	for (size_t i = 0; i < argc && b.len <= SPEC_BYTES; i++) {
		if (i)
			buf_byte(&b, ' ');
		words[i].at = b.len;
		words[i].empty = !argv[i][0];
		buf_str(&b, words[i].empty ? "''" : argv[i]);
		words[i].len = b.len - words[i].at;
	}
	enum status st = spectext_make(&b, "<arg>", dir, out, e);
	if (st) {
		mem_free(words);
		return st;
	}
	(*out)->words = words;
	(*out)->n_words = argc;
	return ST_OK;
}

void
spectext_free(struct spectext **t)
{
	while (*t) {
		struct spectext *next = (*t)->next;
		mem_free((*t)->file);
		mem_free((*t)->dir);
		mem_free((*t)->data);
		mem_free((*t)->words);
		mem_free(*t);
		*t = next;
	}
}

const struct spectext_word *
spectext_word_at(const struct spectext *t, size_t at)
{
	size_t low = 0, high = t->n_words;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (t->words[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return &t->words[low];
}
