/* SPDX-License-Identifier: MIT
 *
 * Yardstick: raw libzmq, PUSH in one process and PULL in another, N messages of
 * SIZE bytes. The receiver says goodbye over a second socket, since a sender
 * that closes early loses the tail on ipc.
 *
 *	zmq ENDPOINT SIZE N [curve]    prints the seconds from first to last message
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
nothing(void *data, void *hint)
{
	(void)data;
	(void)hint;
}

/* Encryption: the same pair of keys at both ends. */
static char public[41], secret[41];

static int
push(const char *endpoint, size_t size, long n, int done_fd)
{
	void *ctx = zmq_ctx_new();
	void *s = zmq_socket(ctx, ZMQ_PUSH);
	if (*public) {
		zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, public, 41);
		zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, public, 41);
		zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, secret, 41);
	}
	char *block = calloc(1, size), c;

	if (zmq_connect(s, endpoint))
		return 1;
	for (long i = 0; i < n; i++) {
		zmq_msg_t m;
		/* Large messages are lent, not copied: the best that zmq can do. */
		if (size >= 4096)
			zmq_msg_init_data(&m, block, size, nothing, NULL);
		else {
			zmq_msg_init_size(&m, size);
			memcpy(zmq_msg_data(&m), block, size);
		}
		if (zmq_msg_send(&m, s, 0) < 0)
			return 1;
	}
	return read(done_fd, &c, 1) < 0;
}

int
main(int argc, char **argv)
{
	if (argc != 4 && (argc != 5 || strcmp(argv[4], "curve") != 0))
		return 64;
	if (argc == 5)
		zmq_curve_keypair(public, secret);
	size_t size = (size_t)atol(argv[2]);
	long n = atol(argv[3]);
	int done[2];
	char bound[256];
	size_t bound_len = sizeof bound;

	if (pipe(done))
		return 74;
	void *ctx = zmq_ctx_new();
	void *s = zmq_socket(ctx, ZMQ_PULL);
	int is_server = argc == 5;
	if (is_server) {
		zmq_setsockopt(s, ZMQ_CURVE_SERVER, &is_server, sizeof is_server);
		zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, secret, 41);
	}
	if (zmq_bind(s, argv[1]) ||
	    zmq_getsockopt(s, ZMQ_LAST_ENDPOINT, bound, &bound_len))
		return 74;
	pid_t child = fork();
	if (child == 0) {
		/* A context does not survive fork: exec anew would be cleaner, but
		 * the child makes its own and never touches the parent's. */
		close(done[1]);
		_exit(push(bound, size, n, done[0]));
	}
	close(done[0]);
	double t0 = 0;
	for (long i = 0; i < n; i++) {
		zmq_msg_t m;
		zmq_msg_init(&m);
		if (zmq_msg_recv(&m, s, 0) < 0)
			return 74;
		if (i == 0)
			t0 = now();
		zmq_msg_close(&m);
	}
	printf("%.6f\n", now() - t0);
	close(done[1]);
	int st;
	waitpid(child, &st, 0);
	return 0;
}
