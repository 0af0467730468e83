/* SPDX-License-Identifier: MIT
 *
 * The ends of other processes on this machine, told by the kernel: a killed program's
 * connections break a little before it has ended, and an end seen is worth more than any
 * time waited for a return.
 */
#ifndef NET_PROCESS_WATCH_H
#define NET_PROCESS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"

struct process_watch_one;
struct process_watch {
	struct net *net;
	void (*ended)(void *arg, uint64_t peer);
	void *arg;
	struct process_watch_one *v;
	size_t n, cap;
};

void process_watch_init(struct process_watch *x, struct net *n,
			void (*ended)(void *arg, uint64_t peer), void *arg);
void process_watch_clear(struct process_watch *x);
/* Calls `ended` once, from the loop or from here, when that process is over. Not at all
 * where the kernel cannot tell. True: the process is there, and its end will be told. */
bool process_watch_add(struct process_watch *x, uint64_t peer, int64_t pid);
void process_watch_drop(struct process_watch *x, uint64_t peer);

#endif
