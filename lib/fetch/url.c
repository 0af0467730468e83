/* SPDX-License-Identifier: MIT */
#include "fetch/url.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/* Schemes in the order of enum url_scheme, and then those that are known and not read. */
static const struct {
	const char *name, *instead;
} url_schemes[] = {
	{ "http", NULL },
	{ "https", NULL },
	{ "s3", NULL },
	{ "gs", "s3://BUCKET/KEY with AWS_ENDPOINT_URL_S3=https://storage.googleapis.com and an HMAC key of the project reads "
		"it" },
	{ "az", "https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB with a shared access signature reads it" },
	{ "abfs", "https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB with a shared access signature reads it" },
	{ "hdfs", "a mounted folder or the address of a WebHDFS server (http://...) reads it" },
	{ "ftp", "`cmd -- curl -sS ADDRESS` reads it as lines" },
	{ "file", "the name alone, without file://, reads it" },
};
enum { URL_SCHEMES = sizeof url_schemes / sizeof *url_schemes, URL_READ = URL_S3 + 1, URL_HOST_MAX = 255 };

/* The number of the scheme, and where the rest begins; URL_SCHEMES: it is no address. */
static size_t
url_scheme_of(const char *word, const char **rest)
{
	for (size_t i = 0; i < URL_SCHEMES; i++) {
		size_t n = strlen(url_schemes[i].name);

		if (!strncasecmp(word, url_schemes[i].name, n) && !strncmp(word + n, "://", 3)) {
			*rest = word + n + 3;
			return i;
		}
	}
	return URL_SCHEMES;
}

bool
url_is(const char *word)
{
	const char *rest;

	return url_scheme_of(word, &rest) != URL_SCHEMES;
}

void
url_show(const char *text, struct buf *out)
{
	const char *rest = text, *at;
	size_t scheme = url_scheme_of(text, &rest), n = strlen(text);

	if (scheme == URL_HTTP || scheme == URL_HTTPS) {
		size_t host = strcspn(rest, "/?#");

		n = (size_t)(rest - text) + strcspn(rest, "?#");
		at = memchr(rest, '@', host);
		if (at) { /* a password in front of the host */
			buf_put(out, text, (size_t)(rest - text));
			n -= (size_t)(at + 1 - text);
			text = at + 1;
		}
	}
	buf_plain(out, text, n, '?');
}

void
url_encode(const char *s, size_t n, const char *also, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c && ((c < 0x80 && isalnum(c)) || strchr("-._~", c) || strchr(also, c)))
			buf_byte(out, c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

static enum status
url_parse_host(const char *host, size_t n, struct err *e)
{
	if (memchr(host, '@', n)) {
		err_set(e, ST_DATA, "the address of '%.*s' holds a user's name or a password",
			(int)(n - (size_t)((const char *)memchr(host, '@', n) + 1 - host)),
			(const char *)memchr(host, '@', n) + 1);
		err_help(e, "put them into ~/.netrc: a pipeline's text is shown and stored");
		return ST_DATA;
	}
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)host[i]) && !strchr("-._:[]", host[i]))
			return err_set(e, ST_DATA, "'%.*s' cannot be the name of a host", (int)n, host);
	if (!n || n > URL_HOST_MAX)
		return err_set(e, ST_DATA, "an address needs the name of a host behind ://");
	return ST_OK;
}

static enum status
url_parse_s3(const char *rest, struct url *out, struct err *e)
{
	size_t n = strcspn(rest, "/");

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)rest[i]) && !strchr("-._", rest[i]))
			return err_set(e, ST_DATA, "'%.*s' cannot be the name of a bucket", (int)n, rest);
	if (!n || n > URL_HOST_MAX || rest[0] == '.')
		return err_set(e, ST_DATA, "an address needs the name of a bucket behind s3://");
	out->host = mem_strndup(rest, n);
	out->path = mem_strdup(rest[n] ? rest + n + 1 : "");
	return ST_OK;
}

enum status
url_parse(const char *text, struct url *out, struct err *e)
{
	const char *rest = text;
	size_t scheme = url_scheme_of(text, &rest);

	memset(out, 0, sizeof *out);
	if (scheme >= URL_READ) {
		err_set(e, ST_DATA, "addresses with %.*s are not read", (int)strcspn(text, ":"), text);
		if (scheme < URL_SCHEMES)
			err_help(e, "%s", url_schemes[scheme].instead);
		return ST_DATA;
	}
	if (strlen(text) > URL_MAX)
		return err_set(e, ST_DATA, "an address of more than %d bytes", URL_MAX);
	for (const char *s = rest; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return err_set(e, ST_DATA, "an address holds a control character");
	out->scheme = (enum url_scheme)scheme;
	if (scheme == URL_S3)
		return url_parse_s3(rest, out, e);
	size_t host = strcspn(rest, "/?#"), path = strcspn(rest + host, "?#");
	enum status st = url_parse_host(rest, host, e);
	if (st != ST_OK)
		return st;
	out->host = mem_strndup(rest, host);
	out->path = path ? mem_strndup(rest + host, path) : mem_strdup("/");
	if (rest[host + path] == '?')
		out->query = mem_strndup(rest + host + path + 1, strcspn(rest + host + path + 1, "#"));
	return ST_OK;
}

void
url_clear(struct url *u)
{
	mem_free(u->host);
	mem_free(u->path);
	mem_free(u->query);
	memset(u, 0, sizeof *u);
}
