#!/bin/bash
# SPDX-License-Identifier: MIT
# Keys for the pods, as secrets: keys.sh | kubectl apply -f -
# The dispatcher has one, workers another, with the role work, and readers a third, with the roles of a user. They are
# made in the folder DSVC_KEYS, or dsvc-keys here, which is as secret as they are; those that are there stay, and so
# does what dsvc-allow has added to dsvc-keys/allowed for others.
set -eu
umask 077
keys=${DSVC_KEYS:-dsvc-keys}
mkdir -p "$keys"
public() { # NAME
	[[ -e $keys/$1.key ]] || dsvc-keygen -q -o "$keys/$1.key" --name "$1" >/dev/null
	dsvc-keygen --show -o "$keys/$1.key"
}
printf '%s %s\n' tcp://dsvc-dispatch-0.dsvc-dispatch:5050 "$(public dispatch)" >"$keys/services"
dsvc-allow -q --allowed "$keys/allowed" --add "$(public work)" work work >/dev/null
dsvc-allow -q --allowed "$keys/allowed" --add "$(public read)" user read >/dev/null

secret() { # NAME KEY=FILE...
	local part
	printf '%s\n' --- 'apiVersion: v1' 'kind: Secret' "metadata: {name: $1, namespace: dsvc}" 'data:'
	for part in "${@:2}"; do printf '  %s: %s\n' "${part%%=*}" "$(base64 -w0 "${part#*=}")"; done
}
secret dsvc-dispatch "key=$keys/dispatch.key" "allowed=$keys/allowed"
secret dsvc-work "key=$keys/work.key" "services=$keys/services"
secret dsvc-read "key=$keys/read.key" "services=$keys/services"
