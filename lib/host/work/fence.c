/* SPDX-License-Identifier: MIT */
#include "host/work/fence.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/gate.h"
#include "base/log.h"
#include "base/mem.h"
#include "fetch/http.h"
#include "fetch/keys.h"
#include "fetch/url.h"
#include "host/work/landlock.h"
#include "host/work/plans.h"
#include "host/work/trusted.h"
#include "net/address.h"
#include "op/child_rules.h"

/* Folders with programs and what they need, and the few files of /etc that name no secrets. */
static const char *const fence_system[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt",
	"/nix", "/gnu", NULL };
static const char *const fence_read[] = { "/proc", "/sys", "/run/systemd/resolve", "/etc/ld.so.cache",
	"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf",
	"/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/locale.alias", "/etc/mime.types", "/etc/magic",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/fonts", "/etc/profile", "/etc/inputrc",
	"/etc/terminfo", NULL };
static const char *const fence_use[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/fd", NULL };
static const char *const fence_write[] = { "/tmp", "/var/tmp", "/dev/shm", NULL };

static bool
fence_any_program(const struct words *exec)
{
	for (size_t i = 0; i < exec->n; i++)
		if (!strcmp(exec->v[i], "any"))
			return true;
	return false;
}

static void
fence_all(struct landlock *l, const char *const *paths, unsigned may)
{
	for (; *paths; paths++)
		landlock_allow(l, *paths, may);
}

/* The folder that a file lies in, as far as the worker itself makes and removes the file. */
static void
fence_folder_of(struct landlock *l, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *folder = slash ? mem_strndup(file, slash == file ? 1 : (size_t)(slash - file)) : mem_strdup(".");

	if (file)
		landlock_allow(l, folder, LANDLOCK_MAY_WRITE);
	mem_free(folder);
}

static void
fence_programs(struct landlock *l, const struct fence_conf *c)
{
	const char *path = getenv("PATH");
	char *dirs = mem_strdup(path ? path : ""), *rest = dirs, *dir;

	if (gate_is_open(GATE_READ) && (!c->exec.n || fence_any_program(&c->exec)))
		landlock_allow(l, "/", LANDLOCK_MAY_RUN);
	while ((dir = strsep(&rest, ":")))
		if (*dir == '/')
			landlock_allow(l, dir, LANDLOCK_MAY_RUN);
	for (size_t i = 0; i < c->exec.n; i++)
		if (strchr(c->exec.v[i], '/'))
			landlock_allow(l, c->exec.v[i], LANDLOCK_MAY_RUN);
	mem_free(dirs);
}

/* Rules for what pipelines may do, and for what the worker itself needs: its sockets, temporary
 * files, its ready file. */
static void
fence_rules(struct landlock *l, const struct fence_conf *c, bool programs, const char *socket)
{
	struct buf private = { 0 };

	fence_all(l, fence_system, programs ? LANDLOCK_MAY_RUN : LANDLOCK_MAY_READ);
	fence_all(l, fence_read, LANDLOCK_MAY_READ);
	fence_all(l, fence_use, LANDLOCK_MAY_USE);
	fence_all(l, fence_write, LANDLOCK_MAY_WRITE);
	if (programs)
		fence_programs(l, c);
	if (gate_is_open(GATE_READ))
		landlock_allow(l, "/", LANDLOCK_MAY_READ);
	if (gate_is_open(GATE_WRITE))
		landlock_allow(l, "/", LANDLOCK_MAY_WRITE);
	for (size_t i = 0; i < c->read.n; i++)
		landlock_allow(l, c->read.v[i], LANDLOCK_MAY_READ);
	for (size_t i = 0; i < c->write.n; i++)
		if (!url_is(c->write.v[i]))
			landlock_allow(l, c->write.v[i], LANDLOCK_MAY_WRITE);
	for (const char *const *name = http_trusted; *name; name++)
		if (getenv(*name))
			landlock_allow(l, getenv(*name), LANDLOCK_MAY_READ);
	if (getenv("TMPDIR"))
		landlock_allow(l, getenv("TMPDIR"), LANDLOCK_MAY_WRITE);
	if (address_folder(&private, true, NULL) == ST_OK)
		landlock_allow(l, (const char *)private.data, LANDLOCK_MAY_WRITE);
	fence_folder_of(l, socket);
	fence_folder_of(l, c->ready_file);
	buf_clear(&private);
}

/* The second wall. A wrapper of the owner's has mounts to make, which Landlock forbids: with one,
 * only `require` builds it. */
static enum status
fence_wall(const struct fence_conf *c, bool programs, const char *socket, struct err *e)
{
	struct landlock l;

	if (c->exec_wrap && c->sandbox != FENCE_REQUIRE)
		return ST_OK;
	if (landlock_open(&l)) {
		fence_rules(&l, c, programs, socket);
		if (landlock_enforce(&l))
			return ST_OK;
	}
	if (c->sandbox == FENCE_REQUIRE) {
		err_set(e, ST_CONFIG, "--sandbox require: this kernel has no Landlock, or it is switched off");
		err_help(e, "Linux 5.13 and later have it; --sandbox auto goes on without it");
		return ST_CONFIG;
	}
	log_say(LOG_INFO, "this kernel has no Landlock: files are guarded by the worker alone");
	return ST_OK;
}

static enum status
fence_exec(const struct fence_conf *c, bool strangers, bool confine, struct err *e)
{
	bool any = fence_any_program(&c->exec);
	struct child_rules r = { .list = c->exec.n && !any, .programs = c->exec, .clean = strangers || c->child_env.n,
		.env = c->child_env, .wrap = c->exec_wrap, .memory = c->child_memory, .files = c->child_files,
		.confine = confine && (!c->exec_wrap || c->sandbox == FENCE_REQUIRE) };

	if (any)
		r.programs = (struct words){ 0 };
	if (!c->exec.n && strangers)
		plans_refuse_exec();
	return child_rules_set(&r, e);
}

/* Closes the gates for writing: some of what may be written lies in folders, the rest in buckets. */
static enum status
fence_write_gates(const struct words *write, struct err *e)
{
	struct words sorted[2] = { 0 };

	for (size_t i = 0; i < write->n; i++)
		words_add(&sorted[url_is(write->v[i])], write->v[i], strlen(write->v[i]));
	enum status st = gate_close(GATE_WRITE, &sorted[false], e);
	if (st == ST_OK)
		st = url_gate_close(GATE_WRITE, &sorted[true], e);
	if (sorted[true].n)
		(void)keys_of_user();
	words_clear(&sorted[false]);
	words_clear(&sorted[true]);
	return st;
}

bool
fence_confines(const struct fence_conf *c, bool strangers)
{
	return c->sandbox == FENCE_USUAL ? strangers : c->sandbox != FENCE_OFF;
}

enum status
fence_up(const struct fence_conf *c, bool strangers, const char *socket, struct err *e)
{
	bool confine = fence_confines(c, strangers);
	bool programs = c->exec.n || !strangers;
	enum status st = ST_OK;

	if (c->datasets)
		st = trusted_load(c->datasets, e);
	if (st == ST_OK && (c->read.n || strangers))
		st = gate_close(GATE_READ, &c->read, e);
	if (st == ST_OK && (c->write.n || strangers))
		st = fence_write_gates(&c->write, e);
	if (st == ST_OK && (c->url.n || strangers))
		st = url_gate_close(GATE_READ, &c->url, e);
	if (c->url.n)
		(void)keys_of_user(); /* their file cannot be read behind the wall */
	if (st == ST_OK)
		st = fence_exec(c, strangers, confine, e);
	if (st != ST_OK || !confine)
		return st;
	prctl(PR_SET_DUMPABLE, 0); /* children cannot look into the worker, which leaves no core file */
	return fence_wall(c, programs, socket, e);
}

void
fence_strangers(const struct fence_conf *c)
{
	if (!c->read.n)
		gate_shut(GATE_READ);
	if (!c->write.n) {
		gate_shut(GATE_WRITE);
		url_gate_shut(GATE_WRITE);
	}
	if (!c->url.n)
		url_gate_shut(GATE_READ);
	if (!c->exec.n)
		plans_refuse_exec();
	child_rules_clean();
}
