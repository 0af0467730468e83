/* SPDX-License-Identifier: MIT
 *
 * Workers that some readers cannot connect to, though they live.
 */
#ifndef DISP_DISP_REACH_H
#define DISP_DISP_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disp;
struct iteration;
struct peer;
struct seat;
struct msg_unreached;

/* A worker that the reader of a seat says it cannot reach; and why, for people. */
struct reach { uint64_t worker; int64_t at; char *why; };
struct reaches { struct reach *v; size_t n, cap; };

/* May end the seat. */
void reach_message(struct disp *d, struct seat *r, const struct msg_unreached *m);
/* Whether there are elements of the pass that nobody could take from this worker. */
bool reach_avoids(const struct disp *d, const struct iteration *it, const struct peer *w);
void reach_clear(struct iteration *it, struct reaches *l);

#endif
