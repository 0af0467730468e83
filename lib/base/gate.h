/* SPDX-License-Identifier: MIT
 *
 * The one place where files are opened because a pipeline names them. A worker
 * that runs the pipelines of others closes the gate: then only what lies below
 * the folders of its owner is opened, whatever the name is and wherever it comes
 * from (a spec, an element, the list of another worker).
 *
 *	path --> root it begins with --> openat2(root, rest, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
 *
 * A root is held open, so that what is renamed in its place later is not taken
 * for it. Within it `..` and links may lead where they like, as long as they do
 * not leave it; a link that names an absolute path is taken to leave it.
 *
 * All functions take what the system calls of their names take and return what
 * those return; where the gate refuses, errno is GATE_NO_READ or GATE_NO_WRITE,
 * of which err_errno makes a sentence of the kind ST_PERM. A gate that was never
 * closed refuses nothing, and costs nothing.
 */
#ifndef BASE_GATE_H
#define BASE_GATE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct words;

/* A file is to be read, or changed. What may be written below a root may also be read there,
 * since what a pipeline saves it reads again. */
enum gate { GATE_READ, GATE_WRITE };

/* Values of errno, beyond those of the system. */
enum { GATE_NO_READ = 0x67000, GATE_NO_WRITE };

/* Closes one side of the gate but for these files and folders (none: it is shut), for the rest
 * of the process; `/` leaves it open. To be called before there are threads. Fails when a root
 * does not exist, and with ST_CONFIG where the kernel cannot hold the gate (openat2, Linux 5.6). */
enum status gate_close(enum gate side, const struct words *roots, struct err *e);
/* Shuts a side that was never closed, also while other threads open files. */
void gate_shut(enum gate side);
/* Lifts the gate for the calling thread, or ends that: for files that the owner of the process
 * named, such as a ready file. Not for lib/op. */
void gate_lift(bool lifted);
/* Whether nothing is refused on this side, to this thread. */
bool gate_is_open(enum gate side);
/* Whether errno says that the gate refused. */
bool gate_refused(int error);
/* The rest of the sentence for one of the values of errno, and what mends it. */
void gate_say(int error, char *text, size_t n_text, char *help, size_t n_help);

int gate_open(enum gate side, const char *path, int flags, mode_t mode);
DIR *gate_opendir(enum gate side, const char *path);
int gate_stat(const char *path, struct stat *out);
int gate_lstat(const char *path, struct stat *out);
int gate_readable(const char *path); /* access(path, R_OK) */
int gate_mkdir(const char *path, mode_t mode);
int gate_unlink(const char *path);
int gate_rename(const char *from, const char *to);
/* Gives a file without a name one (O_TMPFILE); an existing one stays, with EEXIST. */
int gate_link(int fd, const char *path);
/* Makes a file, open for reading and writing, whose name ends in XXXXXX. */
int gate_temporary(char *name);
/* Opens a file without a name for reading and writing. dir NULL: in $TMPDIR or /tmp, which the
 * owner of the process has chosen, so that the gate does not ask. */
int gate_nameless(const char *dir);

#endif
