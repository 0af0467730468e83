#!/bin/sh
# proto=ndjson from the shell: a record for each, with what its time says of it.
# jq reads and writes JSON; the loop would do for plain lines (proto=line).
exec jq -c --unbuffered '. + {slow: (.ms > 100)}'
