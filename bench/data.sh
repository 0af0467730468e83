#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the input of the benchmarks in the folder $1, once. Needs awk and gzip; the same
# numbers every time.
set -eu
dir=$1
mkdir -p "$dir"
cd "$dir"

[ -f records.ndjson ] || { awk 'BEGIN {
	srand(1); split("cat dog bird fish horse", w, " ")
	for (i = 0; i < 1000000; i++)
		printf "{\"id\":%d,\"label\":\"%s\",\"score\":%.4f,\"user\":\"user%06d\",\"path\":\"/v1/items/%d/view\",\"ok\":%s}\n",
			1000000 + i, w[int(rand() * 5) + 1], rand(), rand() * 1000000, rand() * 100000, rand() < 0.5 ? "true" : "false"
}' > records.tmp
mv records.tmp records.ndjson
}

[ -f text.log ] || {
	awk 'BEGIN {
		srand(2); split("INFO INFO INFO INFO DEBUG DEBUG WARN ERROR", lv, " ")
		split("request served from cache;upstream answered late;connection closed by peer;token refreshed for session;disk queue drained", m, ";")
		for (i = 0; i < 1000000; i++)
			printf "2026-11-%02dT%02d:%02d:%02d %s web-%02d %s status=%d bytes=%d\n",
				i % 28 + 1, i % 24, i % 60, i * 7 % 60, lv[int(rand() * 8) + 1], rand() * 40,
				m[int(rand() * 5) + 1], 200 + int(rand() * 4) * 100 + int(rand() * 5), rand() * 100000
	}' > text.part
	: > text.tmp
	while [ "$(wc -c < text.tmp)" -lt 1000000000 ]; do cat text.part >> text.tmp; done
	rm text.part
	mv text.tmp text.log
}

[ -f one.bin ] || { head -c 1048576 /dev/urandom > one.tmp && mv one.tmp one.bin; }

[ -d gz ] || {
	mkdir gz.tmp
	head -c 60000000 text.log | split -l 700 -a 4 - gz.tmp/part-
	find gz.tmp -name 'part-*' | sort | tail -n +1001 | xargs rm -f
	gzip gz.tmp/part-*
	mv gz.tmp gz
}
