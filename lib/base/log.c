/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/log_json.h"

static struct {
	char program[64];
	atomic_int most; /* read by threads while a program may set it */
	pthread_mutex_t lock;   /* guards what follows */
	char status[LOG_STATUS]; /* the text at the bottom of the terminal; "": none */
	atomic_bool shown;
	enum log_format format; /* set before there are threads */
} log_state = { "dsvc", LOG_WARN, PTHREAD_MUTEX_INITIALIZER, "", false, LOG_TEXT };

#define LOG_ERASE "\r\033[K"

void
log_init(const char *program, enum log_level most)
{
	snprintf(log_state.program, sizeof log_state.program, "%s", program);
	atomic_store_explicit(&log_state.most, (int)most, memory_order_relaxed);
}

enum log_level
log_most(void)
{
	return (enum log_level)atomic_load_explicit(&log_state.most, memory_order_relaxed);
}

/* A failure to write the log cannot be reported anywhere. */
static void
log_write(const char *p, size_t n)
{
	if (write(STDERR_FILENO, p, n) < 0)
		return;
}

void
log_set_format(enum log_format how)
{
	log_state.format = how;
}

static void
log_write_json(enum log_level level, const char *text, const char *help, int code)
{
	char line[LOG_JSON_MAX];
	struct log_json record = { level, log_state.program, text, help, code };

	log_write(line, log_json_line(&record, line));
}

bool
log_error_json(const char *text, const char *help, int code)
{
	if (log_state.format == LOG_JSON)
		log_write_json(LOG_ERROR, text, help, code);
	return log_state.format == LOG_JSON;
}

void
log_status(const char *text)
{
	char line[LOG_STATUS + 8];

	if (log_state.format == LOG_JSON || !isatty(STDERR_FILENO))
		return;
	pthread_mutex_lock(&log_state.lock);
	snprintf(log_state.status, sizeof log_state.status, "%s", text ? text : "");
	int n = snprintf(line, sizeof line, LOG_ERASE "%s", log_state.status);
	if (log_state.shown || text)
		log_write(line, (size_t)n);
	log_state.shown = text != NULL;
	pthread_mutex_unlock(&log_state.lock);
}

void
log_status_hide(void)
{
	if (!log_state.shown)
		return;
	pthread_mutex_lock(&log_state.lock);
	if (log_state.shown)
		log_write(LOG_ERASE, strlen(LOG_ERASE));
	log_state.shown = false;
	pthread_mutex_unlock(&log_state.lock);
}

void
log_say(enum log_level level, const char *fmt, ...)
{
	char line[4096 + LOG_STATUS];
	size_t most = 4096;
	va_list ap;
	int code = errno;

	if (level > log_most())
		return;
	int head = snprintf(line, most, LOG_ERASE "%s: ", log_state.program);
	va_start(ap, fmt);
	int n = vsnprintf(line + head, most - (size_t)head - 1, fmt, ap);
	va_end(ap);
	if (log_state.format == LOG_JSON) {
		log_write_json(level, line + head, "", 0);
		errno = code;
		return;
	}
	size_t len = (size_t)head + (n > 0 ? (size_t)n : 0);
	if (len > most - 2)
		len = most - 2;
	/* The text may come from a peer: one line must stay one line. */
	for (size_t i = strlen(LOG_ERASE); i < len; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			line[i] = ' ';
	line[len++] = '\n';
	pthread_mutex_lock(&log_state.lock);
	size_t from = log_state.shown ? 0 : strlen(LOG_ERASE), status = strlen(log_state.status);
	if (log_state.shown) {
		memcpy(line + len, log_state.status, status);
		len += status;
	}
	log_write(line + from, len - from);
	pthread_mutex_unlock(&log_state.lock);
	errno = code;
}
