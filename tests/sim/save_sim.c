/* SPDX-License-Identifier: MIT
 *
 * Is a folder that streams save to whole, whoever dies when? Writers of several streams
 * run as processes of their own and die before any one of their calls that change a file,
 * by a seed. Another one, of the next generation, goes on from a state that was saved before, or
 * begins anew, while the one before may still be alive, or be stopped in the midst of what
 * it does, and go on later. After each death:
 *
 *	- SNAPSHOT is there only when every stream has ended, and does not change any more;
 *	- each file in it exists, is whole and has its checksum;
 *	- all files together have each element once;
 *	- a folder whose streams have all ended has a SNAPSHOT, and says of no failure;
 *	- a writer that was not replaced never fails;
 *	- another save to the same folder is refused.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/transfer.h"
#include "op/file/file_bytes.h"
#include "op/kit/seal.h"
#include "op/kit/shards.h"
#include "value/mp.h"

enum { STREAMS_MAX = 3, ELEMENTS_MAX = 60, AT_ONCE = 3, LIVES_MAX = 400, DIED = 9, REFUSED = 65, FAILED = 70,
       STATES_MAX = 4000 };
#define STOPPED_NS 5000000ll /* a lock is not waited for any longer */

struct world {
	uint64_t seed;
	struct rng r;
	char top[64], *dir;          /* folder of everything, and that which is saved to */
	uint32_t streams, length[STREAMS_MAX], gen[STREAMS_MAX];
	/* those that came in time: generation, number */
	struct { uint32_t gen, k; } state[STREAMS_MAX][STATES_MAX];
	uint32_t states[STREAMS_MAX];
	bool ended[STREAMS_MAX];
	pid_t pid[AT_ONCE];
	bool stopped[AT_ONCE];
	uint32_t of[AT_ONCE], by[AT_ONCE]; /* streams that they write, as which generation */
	enum shards_codec codec;
	uint64_t file_max;
	bool timed, stops;           /* stops: some writers are stopped for a while */
	char *whole;                 /* SNAPSHOT, once it was there */
	unsigned lives, deaths;
};

/* ---- death: before the call that changes something and is counted down to ---- */

static long left = -1, still = -1; /* calls until it dies, and until it is stopped */

static void
step(void)
{
	if (left > 0 && --left == 0)
		_exit(DIED);
	if (still > 0 && --still == 0)
		raise(SIGSTOP);
}

int
rename(const char *from, const char *to)
{
	step();
	return (int)syscall(SYS_rename, from, to);
}

int
linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	step();
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int
fsync(int fd)
{
	step();
	return (int)syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	step();
	return (int)syscall(SYS_fdatasync, fd);
}

int
ftruncate(int fd, off_t size)
{
	step();
	return (int)syscall(SYS_ftruncate, fd, size);
}

int
flock(int fd, int what)
{
	step();
	return (int)syscall(SYS_flock, fd, what);
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	step();
	return (ssize_t)syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t
write(int fd, const void *p, size_t n)
{
	step();
	return (ssize_t)syscall(SYS_write, fd, p, n);
}

int
unlinkat(int dir, const char *name, int flags)
{
	step();
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

/* ---- one life of a writer ---- */

static const struct op_desc desc = { .name = "save" };
static const struct op_node node = { .desc = &desc };

static void
state_path(const struct world *w, uint32_t stream, uint32_t gen, uint32_t k, char out[128])
{
	snprintf(out, 128, "%s/state-%u-%u-%u", w->top, stream, gen, k);
}

/* Tells state number k; a worker that dies while it tells one has told none. */
static void
state_keep(const struct world *w, uint32_t stream, uint32_t gen, uint32_t k, const struct buf *b)
{
	char path[128], part[140];

	state_path(w, stream, gen, k, path);
	snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
	FILE *f = fopen(part, "w");
	if (f && fwrite(b->data, 1, b->len, f) == b->len && fclose(f) == 0)
		syscall(SYS_rename, part, path);
}

static enum status
life_begin(const struct world *w, struct shards *s, uint32_t stream, const char *from, struct err *e)
{
	struct buf b = { 0 };
	int fd = from ? open(from, O_RDONLY) : -1;

	s->codec = w->codec;
	s->cut.after_ns = w->timed ? INT64_MAX / 4 : 0;
	if (fd < 0 || !transfer_read_all(fd, 1 << 20, &b))
		return shards_begin(s, 9, false, e);
	struct state_in in = state_begin(b.data, b.len);
	enum status st = shards_restore(s, &in, e);
	if (st == ST_OK && !state_ended(&in))
		st = err_set(e, ST_BUG, "a state of stream %u cannot be read", stream);
	return st;
}

/* Its exit code. */
static int
life(const struct world *w, uint32_t stream, const char *from, struct rng r)
{
	_Atomic uint32_t streams = w->streams;
	struct op_ctx ctx = { .stream = stream, .pass = 3, .gen = w->gen[stream], .streams = &streams };
	const struct op_inst self = { .node = &node, .ctx = &ctx };
	struct shards s;
	struct err e = { 0 };
	uint8_t b[16];
	uint32_t states = 0;

	still = w->stops && rng_below(&r, 2) ? 1 + (long)rng_below(&r, 40) : -1;
	left = rng_below(&r, 5) ? 1 + (long)rng_below(&r, 60) : -1;
	shards_init(&s, w->dir, SHARDS_TEXT, 1, (int64_t)w->file_max, &self);
	s.patience = w->stops ? STOPPED_NS : s.patience;
	enum status st = life_begin(w, &s, stream, from, &e);
	while (st == ST_OK && s.given < w->length[stream]) {
		struct elem x = { .p = b, .len = (uint32_t)(mp_put_uint(b, stream * 1000 + s.given) - b) };
		struct buf state = { 0 };

		s.cut.now_ns = rng_below(&r, 8) ? 0 : INT64_MAX;
		st = shards_put(&s, &x, NULL, &e);
		if (st == ST_OK && rng_below(&r, 6) == 0 && shards_save(&s, &state))
			state_keep(w, stream, ctx.gen, states++, &state);
		buf_clear(&state);
	}
	if (st == ST_OK)
		st = shards_end(&s, &ctx, NULL, &e);
	if (st != ST_OK && st != ST_DATA)
		fprintf(stderr, "# stream %u: %s\n", stream, e.text);
	return st == ST_OK ? 0 : st == ST_DATA ? REFUSED : FAILED;
}

/* ---- what must hold ---- */

static bool
wrong(const struct world *w, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "# seed %" PRIu64 ": ", w->seed);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

static char *
slurp(const char *path)
{
	struct buf b = { 0 };
	int fd = open(path, O_RDONLY);
	char *text = NULL;

	if (fd >= 0 && transfer_read_all(fd, 1 << 20, &b))
		text = mem_strndup((char *)b.data, b.len);
	if (fd >= 0)
		close(fd);
	buf_clear(&b);
	return text;
}

/* Counts the elements in a file. */
static bool
count_file(const struct world *w, const char *path, unsigned seen[STREAMS_MAX][ELEMENTS_MAX])
{
	struct file_bytes *f = file_bytes_new();
	struct buf b = { 0 };
	struct err e = { 0 };
	size_t n;
	enum status st = file_bytes_open(f, path, NULL, false, NULL, &e);

	while (st == ST_OK) {
		st = file_bytes_read(f, buf_room(&b, 4096), 4096, &n, &e);
		b.len += n;
	}
	buf_byte(&b, '\0');
	for (char *at = (char *)b.data, *end; *at; at = end + 1) {
		unsigned long v = strtoul(at, &end, 10), stream = v / 1000, k = v % 1000;

		if (end == at || *end != '\n' || stream >= w->streams || k >= w->length[stream])
			return wrong(w, "%s has something else", path);
		seen[stream][k]++;
	}
	buf_clear(&b);
	file_bytes_free(&f);
	return st == ST_END || wrong(w, "%s: %s", path, e.text);
}

static bool
whole_is_right(const struct world *w)
{
	unsigned seen[STREAMS_MAX][ELEMENTS_MAX] = { 0 };
	struct seal_files files = { 0 };
	struct err e = { 0 };
	bool good = seal_check(w->dir, &e) == ST_OK && seal_files_whole(w->dir, &files, &e) == ST_OK;

	if (!good)
		wrong(w, "%s", e.text);
	for (size_t i = 0; i < files.n && good; i++) {
		char *path = mem_printf("%s/%s", w->dir, files.v[i].name);

		good = seal_file_check(path, &files.v[i], &e) == ST_OK || wrong(w, "%s", e.text);
		good = good && count_file(w, path, seen);
		mem_free(path);
	}
	for (uint32_t k = 0; k < w->streams && good; k++)
		for (uint32_t i = 0; i < w->length[k] && good; i++)
			good = seen[k][i] == 1 || wrong(w, "element %u of stream %u is there %u times", i, k, seen[k][i]);
	seal_files_clear(&files);
	return good;
}

static bool
all_ended(const struct world *w)
{
	for (uint32_t k = 0; k < w->streams; k++)
		if (!seal_ended(w->dir, k))
			return false;
	return true;
}

/* done: nobody is alive any more, and each stream had a writer that came to its end. */
static bool
look(struct world *w, bool done)
{
	char *path = mem_printf("%s/SNAPSHOT", w->dir), *now = slurp(path), *why = mem_printf("%s.failed", path);
	bool good = true;

	if (now && !all_ended(w))
		good = wrong(w, "SNAPSHOT is there before all streams have ended");
	else if (now && w->whole && strcmp(now, w->whole) != 0)
		good = wrong(w, "SNAPSHOT has changed");
	else if (!now && (w->whole || done))
		good = wrong(w, "there is no SNAPSHOT");
	else if (done && access(why, F_OK) == 0)
		good = wrong(w, "it is said to have failed");
	else if (now)
		good = whole_is_right(w);
	if (now && !w->whole)
		w->whole = mem_strdup(now);
	mem_free(now);
	mem_free(path);
	mem_free(why);
	return good;
}

/* ---- the world ---- */

/* States that the generation has told so far count; those that it tells when there is another one do not. */
static void
take_states(struct world *w, uint32_t stream)
{
	char path[128];

	for (uint32_t k = 0; w->states[stream] < STATES_MAX; k++) {
		state_path(w, stream, w->gen[stream], k, path);
		if (access(path, F_OK))
			break;
		uint32_t n = w->states[stream]++;
		w->state[stream][n].gen = w->gen[stream];
		w->state[stream][n].k = k;
	}
}

static bool
start(struct world *w, unsigned at)
{
	uint32_t stream = (uint32_t)rng_below(&w->r, w->streams);
	char from[128];

	/* A stream goes on from one of its states; rarely an old one, sometimes none. */
	take_states(w, stream);
	uint32_t n = w->states[stream], back = rng_below(&w->r, 3) ? 1 : 1 + (uint32_t)rng_below(&w->r, 4);
	bool any = n >= back && rng_below(&w->r, 8);
	if (any)
		state_path(w, stream, w->state[stream][n - back].gen, w->state[stream][n - back].k, from);
	struct rng r = { .key = rng_next(&w->r) };
	w->lives++;
	w->of[at] = stream;
	w->by[at] = ++w->gen[stream];
	w->stopped[at] = false;
	w->pid[at] = fork();
	if (w->pid[at] == 0)
		_exit(life(w, stream, any ? from : NULL, r));
	return w->pid[at] > 0;
}

/* Now and then, or when all others are stopped, one that is stopped goes on. */
static void
cont(struct world *w)
{
	bool moves = false;

	for (unsigned k = 0; k < AT_ONCE; k++)
		moves |= w->pid[k] > 0 && !w->stopped[k];
	for (unsigned k = 0; k < AT_ONCE; k++)
		if (w->pid[k] > 0 && w->stopped[k] && (!moves || rng_below(&w->r, 4) == 0)) {
			kill(w->pid[k], SIGCONT);
			w->stopped[k] = false;
			moves = true;
		}
}

/* Waits for one of them. *gone: it is no more, else it is stopped. */
static bool
reap(struct world *w, bool *gone)
{
	int code;

	cont(w);
	pid_t pid = waitpid(-1, &code, WUNTRACED);
	*gone = !WIFSTOPPED(code);
	for (unsigned k = 0; k < AT_ONCE; k++) {
		if (w->pid[k] != pid)
			continue;
		w->stopped[k] = !*gone;
		if (!*gone)
			return true;
		w->pid[k] = 0;
		if (!WIFEXITED(code) || WEXITSTATUS(code) == FAILED)
			return wrong(w, "a writer of stream %u failed", w->of[k]);
		if (WEXITSTATUS(code) == REFUSED && w->by[k] == w->gen[w->of[k]])
			return wrong(w, "stream %u is refused to its writer", w->of[k]);
		w->ended[w->of[k]] |= WEXITSTATUS(code) == 0;
		w->deaths += WEXITSTATUS(code) == DIED;
	}
	return pid > 0;
}

/* Another save may not write here. */
static bool
other_is_refused(const struct world *w)
{
	struct op_ctx ctx = { .pass = 4 };
	const struct op_inst self = { .node = &node, .ctx = &ctx };
	struct shards s;
	struct err e = { 0 };

	shards_init(&s, w->dir, SHARDS_TEXT, 1, 1000, &self);
	enum status st = shards_begin(&s, 10, false, &e);
	shards_clear(&s);
	return st == ST_DATA || wrong(w, "another save is let in");
}

static void
sweep(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		syscall(SYS_unlinkat, dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static bool
run(uint64_t seed, unsigned *deaths)
{
	static struct world w;
	bool good, done = false, gone = true;

	memset(&w, 0, sizeof w);
	w.seed = w.r.key = seed;

	snprintf(w.top, sizeof w.top, "%s/dsvc-save-sim-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	good = mkdtemp(w.top) != NULL;
	w.dir = mem_printf("%s/saved", w.top);
	w.streams = 1 + (uint32_t)rng_below(&w.r, STREAMS_MAX);
	w.codec = (enum shards_codec)rng_below(&w.r, SHARDS_CODECS);
	w.file_max = 10 + rng_below(&w.r, 200);
	w.timed = rng_below(&w.r, 2);
	for (uint32_t k = 0; k < w.streams; k++)
		w.length[k] = (uint32_t)rng_below(&w.r, ELEMENTS_MAX);
	unsigned at_once = 1 + (unsigned)rng_below(&w.r, AT_ONCE);
	w.stops = at_once > 1 && rng_below(&w.r, 3) == 0;
	for (unsigned running = 0; good && (running || !done);) {
		for (unsigned k = 0; k < at_once && !done && w.lives < LIVES_MAX; k++)
			if (!w.pid[k]) {
				good = start(&w, k);
				running++;
			}
		good = running && reap(&w, &gone) && good;
		running -= gone;
		done = true;
		for (uint32_t k = 0; k < w.streams; k++)
			done &= w.ended[k];
		good = good && look(&w, done && !running);
	}
	good = good && other_is_refused(&w);
	for (unsigned k = 0; k < AT_ONCE; k++)
		if (w.pid[k] > 0) {
			kill(w.pid[k], SIGCONT);
			waitpid(w.pid[k], NULL, 0);
		}
	if (!good)
		wrong(&w, "%u streams, codec %d, file_max %" PRIu64 ", timed %d, stops %d, %u at once, %u lives", w.streams,
		      (int)w.codec, w.file_max, w.timed, w.stops, at_once, w.lives);
	*deaths += w.deaths;
	sweep(w.dir);
	sweep(w.top);
	mem_free(w.dir);
	mem_free(w.whole);
	return good;
}

int
main(int argc, char **argv)
{
	const char *env = getenv("SEEDS");
	uint64_t n = env ? strtoull(env, NULL, 10) / 10 : 100, first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	unsigned failed = 0, deaths = 0;

	for (uint64_t seed = first; seed < first + n && failed < 5; seed++)
		failed += !run(seed, &deaths);
	failed += n >= 100 && !deaths;
	printf("# %" PRIu64 " runs, %u deaths\n1..1\n%s 1 - a folder is whole, whoever dies while it is written\n", n, deaths,
	       failed ? "not ok" : "ok");
	return failed != 0;
}
