#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154
#
# An object store that others have written, moto, which checks signatures: listing, reading, saving, loading. It is taken
# from PyPI into the build folder, unless that version is there: an older one refuses the signatures of listings.

load ../bats/lib/dsvc

setup_file() {
	export PYTHONPATH=$B/moto PYTHONDONTWRITEBYTECODE=1
	python3 -c 'import moto.server; assert moto.__version__ == "5.2.5"' 2>/dev/null && return
	rm -rf "$PYTHONPATH"
	timeout 300 python3 -m pip install -q --target "$PYTHONPATH" 'moto[server]==5.2.5' >"$BATS_FILE_TMPDIR/pip.log" 2>&1 || :
}

setup() {
	dsvc_setup
	local name
	for name in ${!AWS_*}; do unset "$name"; done
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
	export HOME=$BATS_TEST_TMPDIR
	python3 -c 'import moto.server' 2>/dev/null || skip 'there is no moto, and it cannot be had from PyPI'
	start moto python3 "$BATS_TEST_DIRNAME/lib/moto_store.py" bucket
	read -r AWS_ENDPOINT_URL_S3 AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY <<<"$ready"
	export AWS_ENDPOINT_URL_S3 AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}
teardown() { dsvc_teardown; }

@test "what is saved to a store of others is listed, read and loaded" {
	run -0 within 60s dsvc-run 'range 1000000 | map {id: x, t: "some words"} | save s3://bucket/a/large'
	run -0 within 60s dsvc-run 'load s3://bucket/a/large | reduce 0 s+.id'
	[ "$output" = 499999500000 ]
	for name in 'a b' 'c+d=e' 'é~%' "(it's)"; do
		run -0 within 60s dsvc-run "range 10 | map str(x) | save \"s3://bucket/n/$name\" format=text file_size=7"
		run -0 within 60s dsvc-run "load \"s3://bucket/n/$name\" | count"
		[ "$output" = 10 ]
	done
	run -0 within 60s dsvc-run 'lines s3://bucket/n/*/data-* | count'
	[ "$output" = 40 ]
	run -65 within 60s dsvc-run 'range 9 | save s3://bucket/a/large'
	[[ $output == *'holds what another pass saved'* ]]
	run -66 within 60s dsvc-run 'load s3://bucket/none'
	AWS_SECRET_ACCESS_KEY=wrong run -77 within 60s dsvc-run 'load s3://bucket/a/large'
	[[ $output == *SignatureDoesNotMatch* ]]
}

@test "workers save to it, one of them killed" {
	service 2
	spawn save dsvc-save --chunk 20k -e 'range 300000 | rate 60k' s3://bucket/w
	until_true 30s eval "[[ \$(dsvc-run -t count 'files s3://bucket/w/data-*' 2>/dev/null) -gt 3 ]]"
	stop work1 KILL || true
	reap save
	((status == 0))
	dsvc-run 'load s3://bucket/w | sort' | cmp - <(seq 0 299999)
}
