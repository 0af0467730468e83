/* SPDX-License-Identifier: MIT
 * What durable decisions cost without group commit: one row inserted by each
 * transaction, into a new WAL database that is synced as the dispatcher's is.
 * Prints seconds and transactions.
 * usage: sqlite FILE SECONDS */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	double limit = argc == 3 ? atof(argv[2]) : 0, start;
	sqlite3_stmt *put;
	sqlite3 *db;
	long n = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: sqlite FILE SECONDS\n");
		return 64;
	}
	if (sqlite3_open(argv[1], &db) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
			 "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304;"
			 "CREATE TABLE rows (kind INTEGER NOT NULL, k0 INTEGER NOT NULL,"
			 " value BLOB NOT NULL, PRIMARY KEY (kind, k0)) WITHOUT ROWID",
			 NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "INSERT INTO rows VALUES (1, ?, zeroblob(40))", -1, &put, NULL) != SQLITE_OK) {
		fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
		return 1;
	}
	start = now();
	while (now() - start < limit) {
		sqlite3_bind_int64(put, 1, n++);
		if (sqlite3_step(put) != SQLITE_DONE) {
			fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
			return 1;
		}
		sqlite3_reset(put);
	}
	printf("%.6f %ld\n", now() - start, n);
	sqlite3_finalize(put);
	sqlite3_close(db);
	return 0;
}
