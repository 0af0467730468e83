/* SPDX-License-Identifier: MIT
 *
 * What the programs need of this machine, whether a service runs or not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/path.h"
#include "checkup.h"
#include "net/address.h"
#include "trust/trust_file.h"

#define MACHINE_SINCE 1704067200LL /* 2024-01-01: a clock that says less was never set */
#define MACHINE_ROOM (256ULL << 20) /* bytes for temporary files */
#define MACHINE_FILE (1ULL << 30)   /* bytes of a file */
enum { MACHINE_FILES = 1024, MACHINE_PROCESSES = 256 };

static void
machine_sockets(struct checkup *c)
{
	struct buf folder = { 0 };
	struct err e = { 0 };
	struct stat st;

	if (address_folder(&folder, false, &e) != ST_OK)
		check_error(c, "sockets", &e);
	else if (stat((char *)folder.data, &st) == 0)
		check_ok(c, "sockets", "%s is private", (char *)folder.data);
	else
		check_ok(c, "sockets", "%s is made by the first program that needs it", (char *)folder.data);
	buf_clear(&folder);
}

/* Files that others can read are not used. */
static void
machine_keys(struct checkup *c)
{
	static const char *const names[] = { "key", "services", "allowed" };
	struct buf path = { 0 };
	unsigned n = 0, bad = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct err e = { 0 };
		int fd;

		buf_reset(&path);
		enum status st = trust_path(names[i], &path, &e);
		if (st == ST_OK)
			st = trust_open((char *)path.data, &fd, &e);
		if (st == ST_OK) {
			close(fd);
			n++;
		} else if (st != ST_NOINPUT) {
			check_error(c, "keys", &e);
			bad++;
		}
	}
	if (!bad)
		check_ok(c, "keys", n ? "only their owner can read them" : "none; the private socket needs none");
	buf_clear(&path);
}

/* A limit of which at least so much is needed. */
static void
machine_limit(struct checkup *c, int which, const char *what, rlim_t least, const char *of, const char *cure)
{
	struct rlimit r;

	if (getrlimit(which, &r) != 0)
		return;
	if (r.rlim_max != RLIM_INFINITY && r.rlim_max < least)
		check_wrong(c, what, cure, "at most %llu %s", (unsigned long long)r.rlim_max, of);
	else if (r.rlim_max == RLIM_INFINITY)
		check_ok(c, what, "no limit");
	else
		check_ok(c, what, "up to %llu %s", (unsigned long long)r.rlim_max, of);
}

/* Programs share memory by memfds: neither /dev/shm nor the limit of locked memory counts. */
static void
machine_memory(struct checkup *c)
{
	enum { SIZE = 1 << 16 };
	int fd = memfd_create("dsvc-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, SIZE) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
		p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		check_wrong(c, "shared memory", "allow memfd_create(2) in this container or sandbox; without it elements "
			    "are copied", "a memfd cannot be used: %s", strerror(errno));
	} else {
		check_ok(c, "shared memory", "memfds work; /dev/shm and locked memory are not used");
		munmap(p, SIZE);
	}
	if (fd >= 0)
		close(fd);
}

static void
machine_temporary(struct checkup *c)
{
	const char *folder = getenv("TMPDIR");
	struct statvfs v;

	if (!folder || !*folder)
		folder = "/tmp";
	if (access(folder, W_OK | X_OK) != 0 || statvfs(folder, &v) != 0) {
		check_wrong(c, "temporary", "set TMPDIR to a folder that you can write to", "%s: %s", folder, strerror(errno));
		return;
	}
	unsigned long long room = (unsigned long long)v.f_bavail * v.f_frsize;
	if (room < MACHINE_ROOM)
		check_wrong(c, "temporary", "set TMPDIR to a folder with more room: sort, join and others put there what does "
			    "not fit into memory", "%s has %llu MiB left", folder, room >> 20);
	else
		check_ok(c, "temporary", "%s has %llu GiB left", folder, room >> 30);
}

static void
machine_clock(struct checkup *c)
{
	char text[TRUST_TIME];
	int64_t now = clock_wall_ns() / 1000000000;

	trust_time(now, text);
	if (now < MACHINE_SINCE)
		check_wrong(c, "clock", "set it: invitations and keys that end at a date depend on it", "it says %s", text);
	else
		check_ok(c, "clock", "it says %s", text);
}

void
machine_check(struct checkup *c)
{
	machine_sockets(c);
	machine_keys(c);
	machine_limit(c, RLIMIT_NOFILE, "open files", MACHINE_FILES, "files",
		      "raise it: ulimit -Hn, or LimitNOFILE= of a systemd unit");
	machine_limit(c, RLIMIT_NPROC, "processes", MACHINE_PROCESSES, "processes and threads",
		      "raise it: ulimit -Hu, or TasksMax= of a systemd unit");
	machine_limit(c, RLIMIT_FSIZE, "file size", MACHINE_FILE, "bytes", "raise it: ulimit -Hf unlimited");
	machine_memory(c);
	machine_temporary(c);
	machine_clock(c);
}
