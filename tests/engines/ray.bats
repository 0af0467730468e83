#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=long
#
# engines/ray: a service of Ray's actors, of which some are killed. Ray is taken from PyPI into the build folder, and is
# large. Needs root, for a network of its own.

load lib/cluster

setup_file() {
	export PYTHONPATH=$B/ray PYTHONDONTWRITEBYTECODE=1
	python3 -c 'import ray' 2>/dev/null && return
	rm -rf "$PYTHONPATH"
	timeout 300 python3 -m pip install -q --no-compile --target "$PYTHONPATH" ray==2.60.0 >"$BATS_FILE_TMPDIR/pip.log" 2>&1 || :
}
setup() {
	dsvc_setup
	cluster_needs ray
	python3 -c 'import ray' 2>/dev/null || skip 'there is no ray, and it cannot be had from PyPI'
	[[ $B == /* ]] && PATH=$B/bin:$PATH
}
teardown() {
	dsvc_teardown
	cluster_down
}

@test "a pass comes out whole when the actor of a worker is killed, and nothing is left" {
	local state
	cluster_up 1
	for state in '' "$cluster/state"; do
		[[ ! $state ]] || mkdir -p "$state"
		run -0 on n1 env HOME="$cluster" RAY_TMPDIR="$cluster/ray" RAY_AUTH_MODE=disabled RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0 \
			RAY_USAGE_STATS_ENABLED=0 timeout -k 5 300 \
			python3 "$BATS_TEST_DIRNAME/lib/ray_test.py" ${state:+"$state"}
		[[ ${lines[-1]} == whole ]] || { echo "$output"; false; }
	done
}
