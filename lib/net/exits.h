/* SPDX-License-Identifier: MIT
 *
 * The ends of other processes on this machine, told by the kernel: a killed program's
 * connections break a little before it has ended, and an end seen is worth more than any
 * time waited for a return.
 */
#ifndef NET_EXITS_H
#define NET_EXITS_H

#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"

struct exits_one;
struct exits {
	struct net *net;
	void (*ended)(void *arg, uint64_t peer);
	void *arg;
	struct exits_one *v;
	size_t n, cap;
};

void exits_init(struct exits *x, struct net *n, void (*ended)(void *arg, uint64_t peer), void *arg);
void exits_clear(struct exits *x);
/* Calls `ended` once, from the loop or from here, when that process is over. Not at all
 * where the kernel cannot tell. */
void exits_watch(struct exits *x, uint64_t peer, int64_t pid);
void exits_drop(struct exits *x, uint64_t peer);

#endif
