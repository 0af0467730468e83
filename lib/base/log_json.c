/* SPDX-License-Identifier: MIT */
#include "base/log_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

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

static size_t
log_json_character(unsigned char c, char out[8])
{
	switch (c) {
	case '"':
	case '\\':
		return (size_t)snprintf(out, 8, "\\%c", c);
	case '\n':
		return (size_t)snprintf(out, 8, "\\n");
	case '\t':
		return (size_t)snprintf(out, 8, "\\t");
	default:
		return (size_t)snprintf(out, 8, "\\u%04x", c);
	}
}

/* At most `room` bytes of the text's escaped form: the beginning, to the end of a character. */
static void
log_json_text(struct log_json_out *o, const char *s, size_t room)
{
	struct log_json_out part = { o->p, (size_t)(o->end - o->p) < room ? o->end : o->p + room };
	size_t left = strlen(s);
	bool fits = true;

	while (left && fits) {
		unsigned char c = (unsigned char)*s;
		size_t n = 1;
		char escaped[8];

		if (c < ' ' || c == '"' || c == '\\' || c == 0x7f) {
			fits = log_json_put(&part, escaped, log_json_character(c, escaped));
		} else if (c < 0x80) {
			fits = log_json_put(&part, s, 1);
		} else {
			n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			if (n <= left && str_utf8_valid(s, n) == n) {
				fits = log_json_put(&part, s, n);
			} else {
				n = 1;
				fits = log_json_put(&part, "\xef\xbf\xbd", 3);
			}
		}
		s += n;
		left -= n;
	}
	o->p = part.p;
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
