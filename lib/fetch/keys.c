/* SPDX-License-Identifier: MIT */
#include "fetch/keys.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct keys keys_found;

/* A variable of the environment; NULL also when it is empty. */
static const char *
keys_env(const char *name)
{
	const char *s = getenv(name);

	return s && *s ? s : NULL;
}

static char *
keys_file(const char *variable, const char *usual)
{
	const char *named = keys_env(variable), *home = keys_env("HOME");

	return named ? mem_strdup(named) : home ? mem_printf("%s/.aws/%s", home, usual) : NULL;
}

/* Cuts blanks from both ends of [s, end). */
static char *
keys_trim(char *s, char *end)
{
	while (s < end && isspace((unsigned char)*s))
		s++;
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return s;
}

struct keys_want {
	const char *name;
	char **to; /* set unless it is set already */
};

/* Reads the wanted names from one section of a file of the form [section], name = value. */
static void
keys_read(const char *path, const char *section, const struct keys_want *want)
{
	FILE *f = path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool here = false;

	while (f && (n = getline(&line, &cap, f)) > 0) {
		char *s = keys_trim(line, line + n), *eq = strchr(s, '=');

		if (*s == '[') {
			char *close = strchr(s, ']');

			here = close && !strcmp(keys_trim(s + 1, close), section);
		} else if (here && eq && *s != '#' && *s != ';') {
			char *value = keys_trim(eq + 1, s + strlen(s)), *name = keys_trim(s, eq);

			for (const struct keys_want *w = want; w->name; w++)
				if (!strcmp(w->name, name) && !*w->to && *value)
					*w->to = mem_strdup(value);
		}
	}
	mem_free(line);
	if (f)
		fclose(f);
}

static void
keys_of_file(struct keys *k, const char *profile)
{
	char *path = keys_file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
	const struct keys_want want[] = { { "aws_access_key_id", &k->id }, { "aws_secret_access_key", &k->secret },
		{ "aws_session_token", &k->token }, { 0 } };

	keys_read(path, profile, want);
	if (k->id && k->secret) {
		k->from = mem_printf("profile %s of %s", profile, path);
	} else {
		mem_free(k->id);
		mem_free(k->secret);
		mem_free(k->token);
		k->id = k->secret = k->token = NULL;
		k->from = mem_printf("no key: looked for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and for profile %s in %s",
				     profile, path ? path : "~/.aws/credentials");
	}
	mem_free(path);
}

static void
keys_look(void)
{
	struct keys *k = &keys_found;
	const char *id = keys_env("AWS_ACCESS_KEY_ID"), *secret = keys_env("AWS_SECRET_ACCESS_KEY");
	const char *profile = keys_env("AWS_PROFILE"), *region = keys_env("AWS_REGION");
	const char *endpoint = keys_env("AWS_ENDPOINT_URL_S3");

	profile = profile ? profile : "default";
	if (id && secret) {
		k->id = mem_strdup(id);
		k->secret = mem_strdup(secret);
		k->token = mem_strdup(keys_env("AWS_SESSION_TOKEN"));
		k->from = mem_strdup("AWS_ACCESS_KEY_ID");
	} else {
		keys_of_file(k, profile);
	}
	region = region ? region : keys_env("AWS_DEFAULT_REGION");
	k->region = mem_strdup(region);
	if (!k->region) {
		char *path = keys_file("AWS_CONFIG_FILE", "config");
		char *section = strcmp(profile, "default") ? mem_printf("profile %s", profile) : mem_strdup(profile);

		keys_read(path, section, (const struct keys_want[]){ { "region", &k->region }, { 0 } });
		mem_free(section);
		mem_free(path);
	}
	if (!k->region)
		k->region = mem_strdup("us-east-1");
	k->endpoint = mem_strdup(endpoint ? endpoint : keys_env("AWS_ENDPOINT_URL"));
}

const struct keys *
keys_of_user(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, keys_look);
	return &keys_found;
}
