#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The Python module (folder python): its own tests, with the standard library alone, and
# with numpy where a Python has it.

load lib/dsvc

root=$BATS_TEST_DIRNAME/../..

@test "the module's own tests" {
	cd "$BATS_TEST_TMPDIR"
	PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 run timeout 200 python3 -W error::ResourceWarning -m unittest discover -s "$root/python/tests"
	echo "$output"
	((status == 0))
}

@test "a dataset is registered, read and looked at" {
	service 1
	cd "$BATS_TEST_TMPDIR"
	PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 run -0 timeout 60 python3 - <<-'END'
		import dsvc
		id = dsvc.register("range 5 | map x*x")
		print(sorted(dsvc.read(id)), len(dsvc.status()["workers"]))
		print([list(b.tolist()) for b in dsvc.feed(id, batch=5)])
	END
	[[ $output == $'[0, 1, 4, 9, 16] 1\n[[0, 1, 4, 9, 16]]' ]]
}
