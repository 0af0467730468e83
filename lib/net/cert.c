/* SPDX-License-Identifier: MIT */
#include "net/cert.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <czmq.h>

static struct {
	const char *missing; /* NULL: all is there */
	__typeof__(&zcert_new_from) new_from;
	__typeof__(&zcert_load) load;
	__typeof__(&zcert_destroy) destroy;
	__typeof__(&zcert_public_key) public_key;
	__typeof__(&zcert_secret_key) secret_key;
	__typeof__(&zcert_set_meta) set_meta;
	__typeof__(&zcert_meta) meta;
	__typeof__(&zcert_save_secret) save_secret;
} cert;

static void
cert_open(void)
{
	void *lib = dlopen("libczmq.so.4", RTLD_NOW | RTLD_LOCAL);
	const struct { const char *name; void **at; } all[] = {
		{ "zcert_new_from", (void **)&cert.new_from }, { "zcert_load", (void **)&cert.load },
		{ "zcert_destroy", (void **)&cert.destroy }, { "zcert_public_key", (void **)&cert.public_key },
		{ "zcert_secret_key", (void **)&cert.secret_key }, { "zcert_set_meta", (void **)&cert.set_meta },
		{ "zcert_meta", (void **)&cert.meta }, { "zcert_save_secret", (void **)&cert.save_secret },
	};

	if (!lib) {
		cert.missing = "libczmq.so.4";
		return;
	}
	for (size_t i = 0; i < sizeof all / sizeof *all && !cert.missing; i++)
		if (!(*all[i].at = dlsym(lib, all[i].name)))
			cert.missing = all[i].name;
}

static enum status
cert_ready(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, cert_open);
	if (!cert.missing)
		return ST_OK;
	err_set(e, ST_CONFIG, "keys need czmq, which cannot be loaded (%s)", cert.missing);
	err_help(e, "install libczmq4");
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
	zcert_t *c = cert.load(path);
	if (!c)
		return err_set(e, ST_CONFIG, "it is not a certificate");
	memcpy(out->public.b, cert.public_key(c), KEY_BYTES);
	memcpy(out->secret.b, cert.secret_key(c), KEY_BYTES);
	const char *said = cert.meta(c, "name");
	snprintf(name, CERT_NAME_MAX, "%s", said ? said : "");
	cert.destroy(&c);
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
	zcert_t *c = cert.new_from(p->public.b, p->secret.b);
	cert.set_meta(c, "name", "%s", name);
	cert.set_meta(c, "made", "%s", made);
	mode_t before = umask(077); /* czmq sets one and takes it back, as it was when it began */
	int failed = cert.save_secret(c, path);
	umask(before);
	cert.destroy(&c);
	return failed ? err_set(e, ST_IO, "it cannot be written") : ST_OK;
}
