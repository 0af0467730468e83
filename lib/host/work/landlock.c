/* SPDX-License-Identifier: MIT */
#include "host/work/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that came after the first version, with the numbers that the kernel's interface has. */
#define LANDLOCK_REFER (UINT64_C(1) << 13)
#define LANDLOCK_TRUNCATE (UINT64_C(1) << 14)
#define LANDLOCK_IOCTL_DEV (UINT64_C(1) << 15)

enum { LANDLOCK_FIRST = 13 }; /* rights of version 1 */

static const uint64_t landlock_read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t landlock_use = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_TRUNCATE |
	LANDLOCK_IOCTL_DEV;
/* Everything but device files, which only root could make, and running what was written. */
static const uint64_t landlock_write = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
	LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
	LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
	LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_REFER | LANDLOCK_TRUNCATE;

bool
landlock_open(struct landlock *l)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	*l = (struct landlock){ .fd = -1 };
	if (version < 1)
		return false;
	l->all = (UINT64_C(1) << LANDLOCK_FIRST) - 1;
	if (version >= 2)
		l->all |= LANDLOCK_REFER;
	if (version >= 3)
		l->all |= LANDLOCK_TRUNCATE;
	if (version >= 5)
		l->all |= LANDLOCK_IOCTL_DEV;
	struct landlock_ruleset_attr attr = { .handled_access_fs = l->all };
	/* Only the first member: later ones are about networks and signals. */
	l->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
	return l->fd >= 0;
}

void
landlock_allow(struct landlock *l, const char *path, unsigned may)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (rule.parent_fd < 0)
		return;
	if (may & LANDLOCK_MAY_READ)
		rule.allowed_access |= landlock_read;
	if (may & LANDLOCK_MAY_RUN)
		rule.allowed_access |= landlock_read | LANDLOCK_ACCESS_FS_EXECUTE;
	if (may & LANDLOCK_MAY_WRITE)
		rule.allowed_access |= landlock_write;
	if (may & LANDLOCK_MAY_USE)
		rule.allowed_access |= landlock_use;
	/* A file has no rights of a folder. */
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		rule.allowed_access &= landlock_use | LANDLOCK_ACCESS_FS_EXECUTE;
	rule.allowed_access &= l->all;
	syscall(SYS_landlock_add_rule, l->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

bool
landlock_enforce(struct landlock *l)
{
	bool ok = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(SYS_landlock_restrict_self, l->fd, 0);

	close(l->fd);
	l->fd = -1;
	return ok;
}
