#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154
#
# Parquet files on a web server and in an object store: parts are asked for, not the whole.
load lib/dsvc
load lib/parquet

setup() {
	dsvc_setup
	objects=$BATS_TEST_TMPDIR/objects
	mkdir -p "$objects/web" "$objects/b/p"
	pyarrow make large "$objects/web/l.parquet"
	cp "$objects/web/l.parquet" "$objects/b/p/"
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_ENDPOINT_URL
	unset AWS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
	export HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return
}

serve() { # OPTION...
	log=$BATS_TEST_TMPDIR/log
	: >"$log"
	start objects python3 "$BATS_TEST_DIRNAME/lib/objects.py" "$objects" --log "$log" "$@"
	url=$ready
	export AWS_ENDPOINT_URL_S3=$url
}

run_spec() { within 60s dsvc-run "$@"; }

@test "the columns that are used are read in parts" {
	serve
	run -0 run_spec "parquet $url/web/l.parquet | take 3"
	[[ $output == "$(dsvc-run "parquet $objects/web/l.parquet | take 3")" ]]
	: >"$log"
	[[ $(run_spec "parquet $url/web/l.parquet | reduce 0 s+.group") == "$(dsvc-run "parquet $objects/web/l.parquet | reduce 0 s+.group")" ]]
	# What was asked for is far less than the file: `group` is one column of four.
	size=$(stat -c %s "$objects/web/l.parquet")
	asked=$(sed -nE 's/^GET .* bytes=([0-9]+)-([0-9]+) 206$/\1 \2/p' "$log" | awk '{ n += $2 - $1 + 1 } END { print n + 0 }')
	[[ $asked -gt 0 && $asked -lt $((size / 2)) ]] || { echo "$asked of $size"; cat "$log"; false; }
	run ! grep -E '^GET .* - 200$' "$log"
	# Only numbers of rows are needed for this.
	: >"$log"
	[[ $(run_spec "parquet $url/web/l.parquet | count") == 400000 ]]
	asked=$(sed -nE 's/^GET .* bytes=([0-9]+)-([0-9]+) 206$/\1 \2/p' "$log" | awk '{ n += $2 - $1 + 1 } END { print n + 0 }')
	[[ $asked -lt $((size / 4)) ]] || { echo "$asked of $size"; cat "$log"; false; }
}

@test "an object store: with signatures, and divided among workers" {
	export AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1
	serve --key id:secret
	[[ $(run_spec 'parquet s3://b/p/*.parquet | map .id | reduce 0 s+x') == 79999800000 ]]
	service 2
	within 60s dsvc-read -e 'parquet s3://b/p/l.parquet | map .id' | sort -n | cmp - <(seq 0 399999)
}

@test "servers that are busy, cut off, lie or change the object" {
	for word in busy cut changes lies noranges gone; do
		cp "$objects/web/l.parquet" "$objects/web/$word.parquet"
	done
	serve
	for word in busy cut; do
		[[ $(run_spec "parquet $url/web/$word.parquet | map .id | reduce 0 s+x") == 79999800000 ]]
	done
	run -65 --separate-stderr run_spec "parquet $url/web/changes.parquet | map .id | reduce 0 s+x"
	[[ $stderr == *changes.parquet* ]] || { echo "$stderr"; false; }
	run --separate-stderr run_spec "parquet $url/web/lies.parquet | map .id | reduce 0 s+x"
	[[ $status != 0 && -z $output && $stderr == *lies.parquet* ]] || { echo "$status $stderr"; false; }
	run -65 --separate-stderr run_spec "parquet $url/web/noranges.parquet | count"
	[[ $stderr == *'gives no parts of objects'* ]] || { echo "$stderr"; false; }
	run -66 --separate-stderr run_spec "parquet $url/web/gone.parquet | count"
}
