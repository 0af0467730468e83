/* SPDX-License-Identifier: MIT
 *
 * STREAMS: where the streams of a pass are, for its readers.
 */
#ifndef DISP_DISP_NEWS_H
#define DISP_DISP_NEWS_H

#include "core/disp/disp_inner.h"

void news_send(struct disp *d, struct seat *r);       /* the changes that this reader has not been sent */
void news_soon(struct disp *d, struct iteration *it); /* something has changed: its readers are told when it is time */
void news_tell(struct disp *d);                       /* those for which it is time */
int64_t news_deadline(const struct disp *d);          /* INT64_MAX: none waits, or the outbox will have it */
void news_beat(struct disp *d, struct seat *r, uint64_t version); /* its reader has heard that much */

#endif
