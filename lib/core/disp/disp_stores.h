/* SPDX-License-Identifier: MIT
 *
 * Files of a pass: how much is in them, and why its streams stand still.
 */
#ifndef DISP_DISP_STORES_H
#define DISP_DISP_STORES_H

struct disp;
struct peer;
struct stream;
struct msg_stores;

void stores_message(struct disp *d, const struct peer *p, struct stream *s, const struct msg_stores *m);
/* It has another worker, or is over. */
void stores_leave(struct stream *s);

#endif
