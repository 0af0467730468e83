#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What `make install` puts somewhere works there: with the installed programs first in PATH, from the installed pages
# and examples. dsvc-feed.bats and pipelines.bats do the same for the Python module and the pipelines.

load lib/dsvc

setup_file() {
	# Not by make: with other flags than those of this build it would link the programs again under the tests beside it.
	cd "$BATS_TEST_DIRNAME/../.." || return
	local programs=(cmd/*/main.c)
	programs=("${programs[@]#cmd/}")
	DESTDIR=$BATS_FILE_TMPDIR PREFIX=/usr bash tools/install.sh install "${programs[@]%/main.c}"
	export there=$BATS_FILE_TMPDIR/usr
}
setup() { dsvc_setup; }
teardown() { dsvc_teardown; }

@test "every line of the installed README runs with the installed programs" {
	# run-docs takes the programs of $B/bin
	run -0 within 120s env -u TALLY -u TALLY_QUIET B="$there" bash "$BATS_TEST_DIRNAME/../run-docs" "$there/share/doc/dsvc/README.md"
	[[ $output =~ ^docs:\ [1-9][0-9]*\ passed,\ 0\ failed$ ]]
}

@test "the links between installed pages lead somewhere" {
	cd "$there/share/doc/dsvc"
	local page link
	for page in README.md doc/tutorial.md doc/cookbook.md doc/coming-from.md doc/first-hour.md; do
		while read -r link; do
			[[ -e $(dirname "$page")/$link ]] || { echo "$page: $link"; false; }
		done < <(grep -oE '\]\([^):#]+\)' "$page" | tr -d ']()')
	done
}

@test "the installed reader in Python reads what the installed programs serve" {
	PATH=$there/bin:$PATH
	DSVC_DISPATCHER=$(free_ipc dispatch)
	export DSVC_DISPATCHER
	start d dsvc-dispatch -q -b "$DSVC_DISPATCHER"
	start w dsvc-work -q -j 1 -d "$DSVC_DISPATCHER"
	cd "$BATS_TEST_TMPDIR"
	run -0 within 60s python3 "$there/share/doc/dsvc/examples/reader.py" "$DSVC_DISPATCHER" 'range 5 | map x * x'
	[[ $(sort -n <<<"$output") == $'0\n1\n4\n9\n16' ]]
}

@test "the installed example trains with the installed module" {
	PATH=$there/bin:$PATH
	local python=${PYTHON:-python3}
	"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
	"$python" -c 'import numpy' 2>/dev/null || skip "numpy is not installed (Debian: python3-numpy; make deps installs it)"
	cd "$BATS_TEST_TMPDIR"
	export PYTHONPATH=$there/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
	run -0 within 60s dsvc-feed -q --local -n 2 --batch 16 --seed 1 --loop 5 --tail pad \
		-e 'range 200 | map {x: tensor([x / 200, 1.0]), y: x < 100 ? 0 : 1}' -- "$python" "$there/share/doc/dsvc/examples/train.py" model
	[[ $output == '200 rows, '*'% right, model ['* ]]
}
