#!/bin/sh
# proto=ndjson in a shell script: jq adds to each record whether the request was slow, and
# writes each answer at once.
exec jq -c --unbuffered '. + {slow: (.ms > 100)}'
