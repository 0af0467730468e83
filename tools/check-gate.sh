#!/bin/bash
# SPDX-License-Identifier: MIT
# Operators open files through the gate only (lib/base/gate.h): names come out of specs, elements
# and the lists of other workers. Programs that they run have rules of their own
# (lib/op/child_rules.h); the two files that start and watch children open what no spec names.
set -u
cd "$(dirname "$0")/.." || exit
calls='open|openat|openat2|creat|fopen|freopen|fopen64|opendir|scandir|nftw|ftw|glob|stat|lstat|fstatat|statx|access'
calls+='|faccessat|unlink|rmdir|remove|rename|renameat|link|symlink|readlink|realpath|mkdir|mknod|mkfifo|truncate|chmod'
calls+='|chown|mkstemp|mkostemp|mkdtemp|tmpfile|sqlite3_open|archive_read_open_filename|archive_write_open_filename'
found=$(grep -rnE "(^|[^a-zA-Z0-9_>.])($calls)\(" lib/op --include='*.c' --include='*.h' --include='*.cc' |
	grep -vE '^lib/op/(child_rules|exec/exec_spawn|exec/exec_hold)\.c:|^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)' |
	# A folder that the gate has opened.
	grep -vE 'kit/seal\.c:[0-9]*:.*(openat\(dir, name,.*O_NOFOLLOW|faccessat\(fd, )')
[[ $found ]] || exit 0
printf '%s\n' "$found" "these calls go past the gate: use gate_open and its like (lib/base/gate.h)"
exit 1
