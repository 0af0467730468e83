#!/bin/bash
# SPDX-License-Identifier: MIT
# Fails on an include in lib/ or cmd/ that points to a room lib/ROOMS does not
# allow, and on outside libraries used in a room that is not theirs.
set -u
cd "$(dirname "$0")/.." || exit
declare -A may
while IFS=: read -r room list; do
	[[ $room == \#* || ! $room ]] && continue
	read -ra list <<<"$list"
	may[$room]=" $room ${list[*]} "
done <lib/ROOMS

# header: the rooms that may use it
declare -A home=(
	[zmq.h]=' net ' [czmq.h]=' net ' [sqlite3.h]=' store op/file ' [simdjson.h]=' value value/json '
)
passed=0 failed=0
for file in lib/*/*.[ch] lib/*/*.cc lib/*/*/*.[ch] lib/*/*/*.cc cmd/*/*.[ch]; do
	[[ -e $file ]] || continue
	room=${file%/*} room=${room#lib/}
	[[ $file == cmd/* ]] && room=cmd
	row=$room
	[[ ${may[$row]+x} ]] || row=${room%/*}/'*'
	if [[ ! ${may[$row]+x} ]]; then
		echo "$file: room $room is not in lib/ROOMS"
		failed=$((failed + 1))
		continue
	fi
	ok=1 line=0
	while IFS= read -r text; do
		line=$((line + 1))
		if [[ $text =~ ^\#[[:space:]]*include[[:space:]]+\"([a-z/]+)/[^/\"]+\" &&
			"${may[$row]} $room " != *" ${BASH_REMATCH[1]} "* ]]; then
			echo "$file:$line: room $room may not include room ${BASH_REMATCH[1]}"
			ok=0
		elif [[ $text =~ ^\#[[:space:]]*include[[:space:]]+\<([^>]+)\> &&
			${home[${BASH_REMATCH[1]}]+x} &&
			${home[${BASH_REMATCH[1]}]} != *" $room "* ]]; then
			echo "$file:$line: <${BASH_REMATCH[1]}> belongs to room${home[${BASH_REMATCH[1]}]}only"
			ok=0
		fi
	done <"$file"
	((ok)) && passed=$((passed + 1)) || failed=$((failed + 1))
done
bash tools/tally.sh add rooms "$passed" "$failed"
