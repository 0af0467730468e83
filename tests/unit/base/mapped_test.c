/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/mem.h"

enum { SIZE = 3 * MAPPED_STEP + 77 };

/* A file without a name, of SIZE bytes 'x'. */
static int
mapped_file(void)
{
	char path[] = "/tmp/dsvc-mapped-XXXXXX", text[SIZE];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	memset(text, 'x', SIZE);
	assert_int_equal(write(fd, text, SIZE), SIZE);
	return fd;
}

static size_t
mapped_sum(const struct mapped *m, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < m->len; i++)
		n += m->data[i] == (uint8_t)c;
	return n;
}

static void
gives_the_bytes_of_the_file(void **state)
{
	int fd = mapped_file();
	struct mapped m = { 0 };

	(void)state;
	assert_true(mapped_open(&m, fd, MAPPED_STEP, SIZE - MAPPED_STEP));
	assert_int_equal(mapped_sum(&m, 'x'), SIZE - MAPPED_STEP);
	assert_false(mapped_broken(&m));
	mapped_close(&m);
	assert_null(m.data);
	mapped_close(&m);
	close(fd);
}

static void
a_file_that_became_shorter_gives_zeros(void **state)
{
	int fd = mapped_file();
	struct mapped m = { 0 };

	(void)state;
	assert_true(mapped_open(&m, fd, 0, SIZE));
	assert_int_equal(ftruncate(fd, MAPPED_STEP), 0);
	assert_int_equal(mapped_sum(&m, 'x'), MAPPED_STEP);
	assert_true(mapped_broken(&m));
	mapped_close(&m);
	/* the place is used again */
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_true(mapped_open(&m, fd, 0, SIZE));
	assert_int_equal(mapped_sum(&m, 'x'), MAPPED_STEP);
	assert_false(mapped_broken(&m));
	mapped_close(&m);
	close(fd);
}

static void *
mapped_read(void *arg)
{
	mapped_use();
	return (void *)mapped_sum(arg, 'x');
}

static void
a_thread_with_all_signals_blocked_may_read(void **state)
{
	int fd = mapped_file();
	struct mapped m = { 0 };
	sigset_t all, before;
	pthread_t t;
	void *n;

	(void)state;
	assert_true(mapped_open(&m, fd, 0, SIZE));
	assert_int_equal(ftruncate(fd, 0), 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	assert_int_equal(pthread_create(&t, NULL, mapped_read, &m), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_join(t, &n);
	assert_ptr_equal(n, NULL);
	assert_true(mapped_broken(&m));
	mapped_close(&m);
	close(fd);
}

static void
there_is_an_end_to_the_places(void **state)
{
	enum { MANY = 100 };
	struct mapped m[MANY] = { 0 };
	int fd = mapped_file();
	size_t n = 0;

	(void)state;
	while (n < MANY && mapped_open(&m[n], fd, 0, SIZE))
		n++;
	assert_in_range(n, 16, MANY - 1);
	assert_null(m[n].data);
	while (n)
		mapped_close(&m[--n]);
	assert_true(mapped_open(&m[0], fd, 0, SIZE));
	mapped_close(&m[0]);
	close(fd);
}

/* Ends by SIGBUS: a fault in memory that is nobody's, or a signal from somebody. */
static void
mapped_elsewhere(int fd, bool raised)
{
	struct rlimit none = { 0, 0 };
	struct mapped m = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGBUS, SIG_DFL);
	volatile const char *p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped_open(&m, fd, 0, SIZE) && ftruncate(fd, 0) == 0)
		raised ? (void)raise(SIGBUS) : (void)p[MAPPED_STEP];
	_exit(0);
}

static void
other_faults_are_left_alone(void **state)
{
	int status;

	(void)state;
	for (int raised = 0; raised < 2; raised++) {
		int fd = mapped_file();
		pid_t pid = fork();

		if (!pid)
			mapped_elsewhere(fd, raised);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGBUS);
		close(fd);
	}
}
