/* SPDX-License-Identifier: MIT */
#include "up.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/param.h"
#include "base/path.h"
#include "base/str.h"
#include "daemon.h"
#include "host/own.h"

/* The programs that were started by this call. */
struct started {
	struct daemon *v;
	size_t n, cap;
};

/* The file of a program that lies beside this one. */
static char *
up_program(const char *name)
{
	struct buf own = { 0 };
	char *file = mem_printf("%s/%s", path_own_folder(&own) ? (const char *)own.data : ".", name);

	buf_clear(&own);
	return file;
}

static enum status
up_start(struct started *all, const char *name, char **argv, const char *log, struct err *e)
{
	char *file = up_program(name);

	argv[0] = file;
	all->v = mem_grow(all->v, &all->cap, all->n + 1, sizeof *all->v);
	enum status st = daemon_start(&all->v[all->n++], file, argv, log, e);
	mem_free(file);
	return st;
}

static enum status
up_dispatcher(struct started *all, const struct up *o, const char *folder, const char *address, struct err *e)
{
	char *log = mem_printf("%s/dispatch.log", folder), *state = mem_printf("%s/state", folder);
	char *argv[8] = { NULL, (char *)"-b", (char *)address };

	if (o->state) {
		argv[3] = (char *)"--state";
		argv[4] = state;
	}
	enum status st = up_start(all, "dsvc-dispatch", argv, log, e);
	if (st == ST_OK)
		st = daemon_wait(&all->v[all->n - 1], e);
	mem_free(log);
	mem_free(state);
	return st;
}

/* All workers start at once; the number of the first one's log is that of those there are. */
static enum status
up_workers(struct started *all, const struct up *o, const char *folder, const char *address, size_t there,
	   struct err *e)
{
	size_t first = all->n;
	enum status st = ST_OK;

	for (size_t i = there; st == ST_OK && i < (size_t)o->workers; i++) {
		char slots[24], *log = mem_printf("%s/work-%zu.log", folder, i + 1);
		char *argv[8] = { NULL, (char *)"-d", (char *)address };
		snprintf(slots, sizeof slots, "%lld", (long long)o->slots);
		if (o->slots != PARAM_AUTO) {
			argv[3] = (char *)"-j";
			argv[4] = slots;
		}
		st = up_start(all, "dsvc-work", argv, log, e);
		mem_free(log);
	}
	for (size_t i = first; st == ST_OK && i < all->n; i++)
		st = daemon_wait(&all->v[i], e);
	return st;
}

static enum status
up_other_state(struct err *e)
{
	err_set(e, ST_TEMP, "a dispatcher without --state runs already");
	err_help(e, "`dsvc stop` ends it; its jobs end with it");
	return e->kind;
}

static enum status
up_missing(const struct up *o, const char *folder, const char *address, const struct own *is, struct started *all,
	   struct err *e)
{
	enum status st = ST_OK;

	if (is->answers && o->state && !is->durable)
		return up_other_state(e);
	if (!own_count(is, OWN_DISPATCHER))
		st = up_dispatcher(all, o, folder, address, e);
	if (st == ST_OK)
		st = up_workers(all, o, folder, address, own_count(is, OWN_WORKER), e);
	for (size_t i = 0; i < all->n; i++) {
		if (st != ST_OK && all->v[i].pid)
			kill(all->v[i].pid, SIGTERM);
		daemon_clear(&all->v[i]);
	}
	return st;
}

static void
up_say(const struct own *now, size_t started, const char *address)
{
	size_t workers = own_count(now, OWN_WORKER);

	log_say(LOG_INFO, "%s: a dispatcher%s and %zu worker%s with %llu slots at %s", started ? "running" : "running already",
		now->durable ? " with a state" : "", workers, workers == 1 ? "" : "s", (unsigned long long)now->slots, address);
	if (started)
		log_say(LOG_INFO, "`dsvc stop` ends them; `dsvc status` shows what they do");
}

enum status
up_run(const struct up *o, const char *address, struct err *e)
{
	struct started all = { 0 };
	struct own is = { 0 };
	char *folder = NULL, *sockets = mem_strdup(address + strlen("ipc://"));
	enum status st;

	/* One at a time: the folder itself is the lock, so that no file is left. */
	*strrchr(sockets, '/') = '\0';
	int lock = open(sockets, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX) != 0)
		st = err_errno(e, "cannot lock %s", sockets);
	else
		st = daemon_folder(&folder, e);
	if (st == ST_OK)
		st = own_look(address, &is, e);
	if (st == ST_OK)
		st = up_missing(o, folder, address, &is, &all, e);
	if (st == ST_OK) {
		own_clear(&is);
		st = own_look(address, &is, e);
	}
	if (st == ST_OK)
		up_say(&is, all.n, address);
	else
		own_sweep();
	own_clear(&is);
	if (lock >= 0)
		close(lock);
	mem_free(all.v);
	mem_free(folder);
	mem_free(sockets);
	return st;
}
