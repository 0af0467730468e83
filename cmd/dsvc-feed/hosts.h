/* SPDX-License-Identifier: MIT
 *
 * Several hosts: which part of each step is ours, and what all hosts must say alike.
 */
#ifndef DSVC_FEED_HOSTS_H
#define DSVC_FEED_HOSTS_H

#include "host/feed/feed_host.h"
#include "opts.h"

/* Works --host out, and asks the job for our places of each step. */
enum status hosts_check(struct feed_opts *o, struct err *e);
/* Whether what is taken from the service is acknowledged behind positions only: other hosts may go on without us. */
bool hosts_lag(const struct feed_opts *o);
/* Tells the machine and the filler. */
void hosts_conf(const struct feed_opts *o, struct feed_host_conf *c);
/* Puts the number of the host in place of `%h`. Gives; NULL stays NULL. */
char *hosts_path(const struct feed_opts *o, const char *path);

#endif
