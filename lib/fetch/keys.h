/* SPDX-License-Identifier: MIT
 *
 * What S3 wants to know of a user, from the places where its other tools look for it:
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else the profile (AWS_PROFILE
 * or `default`) of ~/.aws/credentials (AWS_SHARED_CREDENTIALS_FILE), else nothing: requests are
 * then not signed. AWS_REGION, AWS_DEFAULT_REGION or the profile of ~/.aws/config (AWS_CONFIG_FILE)
 * names the region, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL another server than Amazon's.
 */
#ifndef FETCH_KEYS_H
#define FETCH_KEYS_H

#include "base/err.h"

struct keys {
	char *id, *secret, *token; /* NULL: there are none */
	char *region;              /* never NULL */
	char *endpoint;            /* NULL: Amazon's */
	char *from;                /* where the key was found or looked for, for messages */
};

/* Looked up at the first call, and kept for the process: whoever closes the files of this user
 * to the process calls it before. Lent for ever. */
const struct keys *keys_of_user(void);

#endif
