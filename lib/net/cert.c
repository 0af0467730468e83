/* SPDX-License-Identifier: MIT */
#include "net/cert.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <czmq.h>

#include "base/late.h"

#define CERT_FNS(F) \
	F(zcert_new_from) F(zcert_load) F(zcert_destroy) F(zcert_public_key) F(zcert_secret_key) F(zcert_set_meta) \
	F(zcert_meta) F(zcert_save_secret)

static struct { CERT_FNS(LATE_FN) } cert;
static const char *const cert_names[] = { CERT_FNS(LATE_NAME) NULL };
static struct late cert_lib = { { "libczmq.so.4" }, "libczmq4", cert_names, &cert, LATE_LOCK };

static enum status
cert_ready(struct err *e)
{
	if (late_get(&cert_lib, e))
		return ST_OK;
	err_wrap(e, "keys need czmq");
	if (e)
		e->kind = ST_CONFIG;
	return ST_CONFIG;
}

/* The name by which czmq, which wants one, opens the very file that was judged. */
static void
cert_path(int fd, char *out, size_t size)
{
	snprintf(out, size, "/proc/self/fd/%d", fd);
}

enum status
cert_read(int fd, struct key_pair *out, char name[CERT_NAME_MAX], struct err *e)
{
	char path[64];
	enum status st = cert_ready(e);

	if (st != ST_OK)
		return st;
	key_guard();
	cert_path(fd, path, sizeof path);
	zcert_t *c = cert.zcert_load(path);
	if (!c)
		return err_set(e, ST_CONFIG, "it is not a certificate");
	memcpy(out->public.b, cert.zcert_public_key(c), KEY_BYTES);
	memcpy(out->secret.b, cert.zcert_secret_key(c), KEY_BYTES);
	const char *said = cert.zcert_meta(c, "name");
	snprintf(name, CERT_NAME_MAX, "%s", said ? said : "");
	cert.zcert_destroy(&c);
	if (key_pair_fits(out))
		return ST_OK;
	key_pair_wipe(out);
	return err_set(e, ST_CONFIG, "its two keys do not belong together");
}

enum status
cert_write(int fd, const struct key_pair *p, const char *name, const char *made, struct err *e)
{
	char path[64];
	enum status st = cert_ready(e);

	if (st != ST_OK)
		return st;
	cert_path(fd, path, sizeof path);
	zcert_t *c = cert.zcert_new_from(p->public.b, p->secret.b);
	cert.zcert_set_meta(c, "name", "%s", name);
	cert.zcert_set_meta(c, "made", "%s", made);
	mode_t before = umask(077); /* czmq sets one and takes it back, as it was when it began */
	int failed = cert.zcert_save_secret(c, path);
	umask(before);
	cert.zcert_destroy(&c);
	return failed ? err_set(e, ST_IO, "it cannot be written") : ST_OK;
}
