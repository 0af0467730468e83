/* SPDX-License-Identifier: MIT */
#include "base/log_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_text.h"

struct log_json_out {
	char *p, *end;
};

/* Whole or not at all. */
static bool
log_json_put(struct log_json_out *o, const char *s, size_t n)
{
	if ((size_t)(o->end - o->p) < n)
		return false;
	memcpy(o->p, s, n);
	o->p += n;
	return true;
}

/* At most `room` bytes of the text's escaped form: the beginning, to the end of a character. */
static void
log_json_text(struct log_json_out *o, const char *s, size_t room)
{
	char *end = (size_t)(o->end - o->p) < room ? o->end : o->p + room;

	o->p = json_text(o->p, end, s, strlen(s));
}

static void
log_json_time(char out[32])
{
	struct timespec now;
	struct tm utc;
	char text[24];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out, 32, "%s.%03dZ", text, (int)(now.tv_nsec / 1000000));
}

static void
log_json_field(struct log_json_out *o, const char *name, const char *text, size_t room)
{
	log_json_put(o, ",\"", 2);
	log_json_put(o, name, strlen(name));
	log_json_put(o, "\":\"", 3);
	log_json_text(o, text, room);
	log_json_put(o, "\"", 1);
}

size_t
log_json_line(const struct log_json *r, char out[LOG_JSON_MAX])
{
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	struct log_json_out o = { out, out + LOG_JSON_MAX };
	char head[128], at[32];

	log_json_time(at);
	int n = snprintf(head, sizeof head, "{\"time\":\"%s\",\"level\":\"%s\",\"pid\":%d", at, levels[r->level],
			 (int)getpid());
	log_json_put(&o, head, (size_t)n);
	log_json_field(&o, "program", r->program, 256);
	log_json_field(&o, "text", r->text, LOG_JSON_MAX / 2);
	if (r->help[0])
		log_json_field(&o, "help", r->help, LOG_JSON_MAX / 4);
	if (r->code) {
		n = snprintf(head, sizeof head, ",\"code\":%d", r->code);
		log_json_put(&o, head, (size_t)n);
	}
	log_json_put(&o, "}\n", 2);
	return (size_t)(o.p - out);
}
