/* SPDX-License-Identifier: MIT */
#include "selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/transfer.h"
#include "cli/quit.h"
#include "lang/spectext.h"
#include "lang/testblock.h"

enum {
	SELFTEST_MORE = 1 << 20, /* bytes beyond those expected: enough to see that it is wrong */
	SELFTEST_LINES = 20,     /* lines shown of each side of a difference */
	SELFTEST_WIDTH = 2000    /* bytes of a line that are shown */
};

struct selftest {
	const struct words *dirs;
	char **env;
	struct buf *out;
	unsigned passed, failed;
	size_t files;
	struct buf got, said; /* stdout and stderr of the run */
	int code;
	bool cut;             /* it printed far too much and was not listened to */
};

/* The environment without options of this run, which are not meant for the tests. */
static char **
selftest_env(void)
{
	size_t n = 0, k = 0;

	while (environ[n])
		n++;
	char **env = mem_array(n + 1, sizeof *env);
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "DSVC_", 5) || !strncmp(environ[i], "DSVC_DISPATCHER=", 16))
			env[k++] = environ[i];
	return env;
}

static enum status
selftest_file(const struct buf *content, int *fd, struct err *e)
{
	*fd = memfd_create("dsvc-test", MFD_CLOEXEC);
	if (*fd < 0)
		return err_errno(e, "cannot make a file in memory");
	if (content && !transfer_write(*fd, content->data, content->len))
		return err_errno(e, "cannot write a file in memory");
	lseek(*fd, 0, SEEK_SET);
	return ST_OK;
}

/* All of fd, at most `most` bytes; false: there was more. */
static bool
selftest_take(int fd, size_t most, struct buf *out)
{
	return !transfer_read_all(fd, most, out) || out->len <= most;
}

static enum status
selftest_spawn(struct selftest *t, const char *file, const struct testblock *b, const int fd[3],
	       pid_t *pid, struct err *e)
{
	posix_spawn_file_actions_t acts;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	size_t n = 0, most = b->args.n + 2 * t->dirs->n + 4;
	const char *slash = strrchr(file, '/');
	char **argv = mem_array(most, sizeof *argv);

	argv[n++] = (char *)"dsvc-run";
	for (size_t i = 0; i < t->dirs->n; i++) {
		argv[n++] = (char *)"-I";
		argv[n++] = t->dirs->v[i];
	}
	argv[n++] = (char *)"-f";
	argv[n++] = (char *)(slash ? slash + 1 : file);
	for (size_t i = 0; i < b->args.n; i++)
		argv[n++] = b->args.v[i];
	posix_spawn_file_actions_init(&acts);
	/* A test names its files as they lie beside the spec, wherever that is. */
	char *folder = slash ? mem_strndup(file, slash == file ? 1 : (size_t)(slash - file)) : NULL;
	if (folder)
		posix_spawn_file_actions_addchdir_np(&acts, folder);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&acts, fd[i], i);
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	errno = posix_spawn(pid, "/proc/self/exe", &acts, &attr, argv, t->env);
	int failed = errno;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&acts);
	mem_free(argv);
	mem_free(folder);
	errno = failed;
	return failed ? err_errno(e, "cannot start a run of dsvc-run") : ST_OK;
}

static enum status
selftest_child(struct selftest *t, const char *file, const struct testblock *b, struct err *e)
{
	int fd[3] = { -1, -1, -1 }, from = -1, pipe_fd[2], status = 0;
	enum status st = selftest_file(&b->in, &fd[0], e);
	pid_t pid;

	buf_reset(&t->got);
	buf_reset(&t->said);
	if (!st)
		st = selftest_file(NULL, &fd[2], e);
	if (!st && pipe2(pipe_fd, O_CLOEXEC))
		st = err_errno(e, "cannot make a pipe");
	if (!st) {
		from = pipe_fd[0];
		fd[1] = pipe_fd[1];
		st = selftest_spawn(t, file, b, fd, &pid, e);
		close(fd[1]);
		fd[1] = -1;
	}
	if (!st) {
		t->cut = !selftest_take(from, b->out.len + SELFTEST_MORE, &t->got);
		close(from); /* one that prints without end dies of it */
		from = -1;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		t->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		lseek(fd[2], 0, SEEK_SET);
		selftest_take(fd[2], SELFTEST_MORE, &t->said);
	}
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (from >= 0)
		close(from);
	return st;
}

/* The line at `at`, without its newline; gives where the next begins. */
static size_t
selftest_line(const struct buf *b, size_t at, size_t *n)
{
	const char *nl = memchr(b->data + at, '\n', b->len - at);

	*n = nl ? (size_t)(nl - (char *)b->data) - at : b->len - at;
	return nl ? at + *n + 1 : b->len;
}

static void
selftest_side(struct buf *out, const struct buf *b, size_t at, size_t end, char mark)
{
	size_t n, more = 0;

	for (unsigned lines = 0; at < end; lines++) {
		size_t next = selftest_line(b, at, &n);
		bool newline = next > at + n;
		if (lines < SELFTEST_LINES) {
			buf_printf(out, "    %c ", mark);
			buf_put(out, b->data + at, n < SELFTEST_WIDTH ? n : SELFTEST_WIDTH);
			buf_str(out, n > SELFTEST_WIDTH ? " ...\n" : newline ? "\n" :
				"\n      (no newline at the end)\n");
		} else {
			more++;
		}
		at = next;
	}
	if (more)
		buf_printf(out, "    %c ... and %zu line%s more\n", mark, more, str_s(more));
}

/* Shows the expected and the actual output, from the first line that differs to the last. */
static void
selftest_differ(struct buf *out, const struct buf *want, const struct buf *got)
{
	size_t at = 0, line = 1, from, a = want->len, b = got->len;

	while (at < a && at < b && want->data[at] == got->data[at])
		at++;
	for (from = at; from && want->data[from - 1] != '\n'; from--)
		;
	for (size_t i = 0; i < from; i++)
		line += want->data[i] == '\n';
	while (a > from && b > from && want->data[a - 1] == got->data[b - 1])
		a--, b--;
	/* Up to the end of a line on both sides: what follows is the same. */
	while (a < want->len && (a == from || want->data[a - 1] != '\n' ||
				 (b > from && got->data[b - 1] != '\n')))
		a++, b++;
	buf_printf(out, "  line %zu of the output:\n", line);
	selftest_side(out, want, from, a, '-');
	selftest_side(out, got, from, b < got->len ? b : got->len, '+');
}

static bool
selftest_alike(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

static void
selftest_judge(struct selftest *t, const char *file, const struct testblock *b)
{
	bool code = t->code == b->code, text = !t->cut && selftest_alike(&b->out, &t->got);
	bool says = !b->says || (t->said.len && strstr((char *)t->said.data, b->says));
	bool ok = code && text && says;

	ok ? t->passed++ : t->failed++;
	buf_printf(t->out, "%s %s:%u%s%s\n", ok ? "ok  " : "FAIL", file, b->line,
		   *b->title ? " " : "", b->title);
	if (ok)
		return;
	if (!code)
		buf_printf(t->out, "  it ended with %d, not with %d\n", t->code, b->code);
	if (!says)
		buf_printf(t->out, "  it was to say: %s\n", b->says);
	if ((!code || !says) && t->said.len)
		selftest_side(t->out, &t->said, 0, t->said.len, '!');
	if (t->cut)
		buf_printf(t->out, "  it printed more than %zu bytes\n", t->got.len - 1);
	else if (!text)
		selftest_differ(t->out, &b->out, &t->got);
}

static enum status
selftest_spec(struct selftest *t, const char *file, struct err *e)
{
	struct spectext *text = NULL;
	struct testblocks blocks = { 0 };
	enum status st;

	if (!strcmp(file, "-"))
		return err_set(e, ST_USAGE, "cannot run the tests of a spec from standard input: "
			       "the tests use it themselves");
	st = spectext_load(file, &text, e);
	if (!st)
		st = testblocks_read(file, text->data, text->len, &blocks, e);
	if (!st && !blocks.n && t->files > 1)
		log_say(LOG_WARN, "%s has no tests", file);
	for (size_t i = 0; !st && i < blocks.n; i++) {
		st = selftest_child(t, file, &blocks.v[i], e);
		if (!st)
			selftest_judge(t, file, &blocks.v[i]);
		/* Each line as it comes: a test may take its time. */
		if (!st)
			st = quit_say(t->out, e);
		buf_reset(t->out);
	}
	testblocks_clear(&blocks);
	spectext_free(&text);
	return st;
}

/* The folders of -I, which were given from where the user is. */
static void
selftest_dirs(const struct words *dirs, struct words *out)
{
	for (size_t i = 0; i < dirs->n; i++) {
		char *real = realpath(dirs->v[i], NULL);

		words_add(out, real ? real : dirs->v[i], strlen(real ? real : dirs->v[i]));
		free(real);
	}
}

/* Nothing was tried, so nothing can be said to work. */
static enum status
selftest_none(char *const *files, size_t n, struct err *e)
{
	if (n == 1)
		err_set(e, ST_NOINPUT, "%s has no tests", files[0]);
	else
		err_set(e, ST_NOINPUT, "none of these files has tests");
	err_help(e, "a test is a comment after the pipeline: `# test:`, then `# in: LINE`, `# out: LINE`");
	return ST_NOINPUT;
}

enum status
selftest_run(char *const *files, size_t n, const struct words *dirs, struct buf *out, struct err *e)
{
	struct words found = { 0 };
	struct selftest t = { .dirs = &found, .env = selftest_env(), .out = out, .files = n };
	enum status st = ST_OK;

	selftest_dirs(dirs, &found);
	for (size_t i = 0; !st && i < n; i++)
		st = selftest_spec(&t, files[i], e);
	buf_clear(&t.got);
	buf_clear(&t.said);
	mem_free(t.env);
	words_clear(&found);
	if (st)
		return st;
	if (t.failed)
		return err_set(e, ST_NO, "%u of %u test%s failed", t.failed, t.passed + t.failed,
			       str_s(t.passed + t.failed));
	if (!t.passed)
		return selftest_none(files, n, e);
	return ST_OK;
}
