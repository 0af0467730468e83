#!/bin/bash
# SPDX-License-Identifier: MIT
# A worker on each of these hosts, by ssh: workers.sh HOST...
# The dispatcher's ready file, DSVC_UP or ~/dsvc-up, has to be in a folder that all hosts share; elsewhere give the
# workers an invitation (dsvc-security.7). They end when this script does, however that ends: their stdin is the leash.
up=${DSVC_UP:-$HOME/dsvc-up}
for host; do
	sleep infinity | ssh -T "$host" "exec dsvc-work -d '@$up' --connect-timeout 1m --until-stdin-eof --name $host" &
done
trap 'kill $(jobs -p) 2>/dev/null' EXIT INT TERM HUP
wait
