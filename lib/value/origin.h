/* SPDX-License-Identifier: MIT
 *
 * Names of source files, interned: one copy per name for the life of the
 * process, so that runs can carry a pointer. Bounded: past ORIGIN_MAX names
 * the answer is "(many files)". Thread-safe.
 */
#ifndef VALUE_ORIGIN_H
#define VALUE_ORIGIN_H

enum { ORIGIN_MAX = 1000000 };

const char *origin_name(const char *path);

#endif
