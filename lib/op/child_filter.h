/* SPDX-License-Identifier: MIT
 *
 * System calls that no program of a pipeline needs and that are ways out of a
 * confined process: looking into other processes, mounting, loading code into the
 * kernel, new user namespaces, keys, typing into a terminal. They fail with EPERM.
 */
#ifndef OP_CHILD_FILTER_H
#define OP_CHILD_FILTER_H

/* Makes system calls and nothing else, so that a child may call it between vfork and exec:
 * forbids new privileges (set-user-id programs) and the calls above, to this process and all
 * that come from it. Where the kernel has no filters, only the first. 0, or an errno. */
int child_filter(void);

#endif
