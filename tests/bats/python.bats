#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The Python module (folder python): its own tests, with numpy where a Python has it, and with
# the standard library alone. PYTHON names another Python, perhaps one that has torch.

load lib/dsvc

root=$BATS_TEST_DIRNAME/../..

# unittests ARGUMENT...: with the first Python that has numpy, or else with python3.
unittests() {
	local py python=python3
	for py in "${PYTHON:-python3}" python3 /usr/bin/python3; do
		"$py" -c 'import numpy' 2>/dev/null && { python=$py; break; }
	done
	cd "$BATS_TEST_TMPDIR" || return
	told "$python"
	PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 timeout "${DEADLINE:-600}" "$python" -W error::ResourceWarning "$@"
}

# told PYTHON: says which parts of the tests run with it, and which are left out, also when all is well.
told() {
	"$1" -c 'import importlib.util, sys
parts = "numpy", "torch", "torchdata", "accelerate", "jax", "mypy"
has = [p for p in parts if importlib.util.find_spec(p)]
print("# python.bats: %s runs what needs %s; left out: %s" % (
    sys.executable, ", ".join(has) or "nothing", ", ".join(p for p in parts if p not in has) or "nothing"))' >&3
}

@test "the module's own tests" {
	run unittests -m unittest discover -s "$root/python/tests"
	echo "$output"
	((status == 0))
}

@test "the same without numpy" {
	run unittests -c 'import sys, unittest; sys.modules["numpy"] = None; unittest.main(None, argv=["", "discover", *sys.argv[1:]])' \
		-s "$root/python/tests" -k Values -k Feeding -k Reading
	echo "$output"
	((status == 0))
}

@test "a wheel has all of it, where pip can make one" {
	local py=python3
	"$py" -c 'import setuptools, wheel, pip' 2>/dev/null || py=/usr/bin/python3
	"$py" -c 'import setuptools, wheel, pip' 2>/dev/null || return 0
	cd "$BATS_TEST_TMPDIR"
	cp -r "$root/python" source
	timeout 120 "$py" -m pip wheel -q --no-index --no-deps --no-build-isolation -w . ./source
	timeout 120 "$py" -m pip install -q --no-index --no-deps --no-compile --target installed dsvc-*.whl
	[[ -e installed/dsvc/py.typed ]]
	cd installed
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD run -0 timeout 60 "$py" -c \
		'import dsvc; print(dsvc.__file__, list(dsvc.run("range 3")), list(dsvc.feed("range 2", batch=2, local=True))[0][1])'
	[[ $output == "$PWD/dsvc/__init__.py [0, 1, 2] 1" ]]
}

@test "its types are right, where mypy is" {
	local py=${PYTHON:-python3}
	"$py" -c 'import mypy' 2>/dev/null || return 0
	cd "$BATS_TEST_TMPDIR"
	run timeout "${DEADLINE:-600}" "$py" -m mypy --strict "$root/python/dsvc" --exclude torch.py --follow-imports silent
	echo "$output"
	((status == 0))
}

@test "processes that start a feed each share a job, by rank and world" {
	service 1
	cd "$BATS_TEST_TMPDIR"
	export PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
	local r code='import dsvc, sys; f = dsvc.feed("range 10", job="a", batch_size=2, rank=int(sys.argv[1]), world=2, tail="pad")
for b in f: print(f.rank, f.world, len(f), b.tolist(), f.batch.valid)'
	for r in 0 1; do spawn "r$r" timeout 60 python3 -c "$code" $r; done
	for r in 0 1; do reap "r$r" 60 && ((status == 0)); done
	[[ $(cut -d' ' -f1-3 r0.out r1.out | uniq -c | xargs) == '3 0 2 3 3 1 2 3' ]]
	[[ $(grep -h ' 2$' r0.out r1.out | tr -d '[],' | cut -d' ' -f4-5 | xargs -n 1 | sort -n | xargs) == '0 1 2 3 4 5 6 7 8 9' ]]
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
