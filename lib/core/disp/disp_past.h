/* SPDX-License-Identifier: MIT
 *
 * Splits and restart points of a stream that nobody can need any more, and states that are
 * not kept in memory.
 */
#ifndef DISP_DISP_PAST_H
#define DISP_DISP_PAST_H

#include "core/disp/disp_inner.h"

struct split_place *past_split(const struct stream *s, uint64_t k); /* lends */
struct split_place *past_add_split(struct stream *s);   /* lends, to be filled */
void past_forget(struct disp *d, struct stream *s);     /* its oldest restart point has become another one */
enum status past_load_split(struct stream *s, uint64_t k, const struct split_place *p, struct err *e); /* in order */
/* Large states are only in the store, if there is one, and few of them are kept. */
bool past_large(const struct disp *d, size_t n);
/* A new point with a state of so many bytes: false: it is not needed, for an earlier one waits
 * until the first one is not needed any more; certain: that one goes instead. */
bool past_room(struct disp *d, struct stream *s, size_t n, bool certain);
void past_saved(const struct disp *d, struct point *p);     /* its row was written, or read */
struct bytes past_state(const struct disp *d, const struct stream *s, const struct point *p); /* gives a copy */
enum status past_loaded(struct disp *d, struct stream *s, struct err *e); /* all of it: whether that is enough */

#endif
