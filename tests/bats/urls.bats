#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154
#
# Data that is elsewhere: http://, https://, s3:// (lib/objects.py is the server).
load lib/dsvc

setup() {
	dsvc_setup
	objects=$BATS_TEST_TMPDIR/objects
	mkdir -p "$objects/web" "$objects/b/p/deep"
	seq 400000 >"$objects/web/n.txt" # 2.7 MB
	cp "$objects/web/n.txt" "$objects/b/p/n.txt"
	seq 5 | gzip >"$objects/b/p/five.gz"
	seq 6 9 >"$objects/b/p/deep/six"
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_ENDPOINT_URL
	unset AWS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
	export HOME=$BATS_TEST_TMPDIR
}

# Sets url; the log of requests is $log.
serve() { # OPTION...
	log=$BATS_TEST_TMPDIR/log
	: >"$log"
	start objects python3 "$BATS_TEST_DIRNAME/lib/objects.py" "$objects" --log "$log" "$@"
	url=$ready
	export AWS_ENDPOINT_URL_S3=$url
}

run_spec() { within 30s dsvc-run "$@"; }

fails() { # CODE WORDS SPEC
	run "-$1" --separate-stderr run_spec "$3"
	[[ $stderr == *"$2"* ]] || { echo "$3: $stderr"; false; }
}

@test "lines, texts of several kinds and whole files are read from a web server as from a disk" {
	serve
	gzip -k "$objects/web/n.txt"
	printf 'a,b\n1,x\n2,y\n' >"$objects/web/t.csv"
	printf '{"a":1}\n{"a":2}\n' >"$objects/web/t.ndjson"
	: >"$objects/web/empty"
	run -0 run_spec "lines $url/web/n.txt | reduce 0 s+int(x)"
	[ "$output" = 80000200000 ]
	run -0 run_spec "lines $url/web/{n.txt,n.txt.gz} | count"
	[ "$output" = 800000 ]
	run -0 run_spec "csv $url/web/t.csv"
	[ "$output" = $'{"a":1,"b":"x"}\n{"a":2,"b":"y"}' ]
	run -0 run_spec "ndjson $url/web/t.ndjson | reduce 0 s+.a"
	[ "$output" = 3 ]
	run -0 run_spec "files $url/web/n.txt | interleave (lines x) | count"
	[ "$output" = 400000 ]
	run -0 run_spec "lines $url/web/empty | count"
	[ "$output" = 0 ]
	run -0 run_spec "tsv '$url/web/t.csv?sig=secret#part' | count"
	[ "$output" = 2 ]
	dsvc-run -t raw "whole $url/web/n.txt.gz" | cmp - "$objects/web/n.txt"
	(cd "$objects/web" && tar cf t.tar t.csv t.ndjson)
	[ "$(run_spec "tar $url/web/t.tar")" = "$(run_spec "tar $objects/web/t.tar")" ]
}

@test "s3: objects by key and by pattern, over pages of the list, with signed requests" {
	export AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY='se/cr+et' OBJECTS_PAGE=2
	for name in 'a b' 'c+d=e' 'é~%' 'q?x#y' "(it's)"; do echo "$name" >"$objects/b/$name"; done
	echo hidden >"$objects/b/.hidden"
	serve --key me:se/cr+et
	run -0 run_spec 'lines s3://b/p/n.txt | reduce 0 s+int(x)'
	[ "$output" = 80000200000 ]
	run -0 run_spec 'files s3://b/p/*'
	[ "$output" = $'s3://b/p/five.gz\ns3://b/p/n.txt' ]
	run -0 run_spec 'files s3://b/**'
	[ "$output" = "$(cd "$objects/b" && find . -type f -not -name '.*' | LC_ALL=C sort | sed 's,^\./,s3://b/,')" ]
	run -0 run_spec 'files "s3://b/{p/d*/s[h-j]x,p/*.gz}"'
	[ "$output" = $'s3://b/p/deep/six\ns3://b/p/five.gz' ]
	run -0 run_spec 'files s3://b/**/six'
	[ "$output" = s3://b/p/deep/six ]
	run -0 run_spec 'files "s3://b/*" | interleave (lines x)'
	[ "$(sort <<<"$output")" = "$(cat "$objects"/b/[!.]* 2>/dev/null | sort)" ]
	run -0 run_spec 'lines s3://b/{c+d=e,é~%,"(it'"'"'s)"} s3://b/q\?x#y'
	[ "${#lines[@]}" = 4 ]
	fails 66 "no object matches 's3://b/nothing*'" 'lines s3://b/nothing*'
	fails 66 'it is not there (404, NoSuchKey)' 'lines s3://b/nothing'
	fails 66 'the name of a folder' 'lines s3://b/p/'
	fails 65 'the name of a bucket' 'lines s3://b*/x'
}

@test "a pattern finds the same objects in a bucket as files in a folder" {
	mkdir -p "$objects"/b/x/{y,.z}/{w,v}
	touch "$objects"/b/{a.txt,x/{a.txt,ab,.h},x/{y,.z}/{w,v}/{1,2,a.txt}}
	serve
	cd "$objects/b"
	for pattern in '*' '**' '*/*' '**/*' '**/a.txt' 'x/**' 'x/**/1' 'x/y/*/[12]' 'x/**/v/**' '**/y/**/a*' 'x/.*' 'x/.z/**' '*.txt' \
		'{a,x/a}*' 'x/?*' '**/[!a]*' 'p/**/*x' '**/**/2'; do
		run -0 run_spec "files \"s3://b/$pattern\""
		found=$output
		run -0 run_spec "files \"$pattern\" | map replace(x, \"$PWD/\", \"s3://b/\")"
		[ "$found" = "$output" ] || { echo "$pattern: $found"; echo "and: $output"; false; }
	done
}

@test "keys come from the environment or ~/.aws; what is refused says where they were looked for" {
	serve --key me:secret:token --region eu-x-1
	fails 77 'the server does not allow it (403, AccessDenied)' 'lines s3://b/p/five.gz'
	[[ $stderr == *"no key: looked for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and for profile default in $HOME/.aws/credentials"* ]]
	mkdir "$HOME/.aws"
	printf '[other]\naws_access_key_id = you\n[work]\n# no comment\naws_access_key_id = me\naws_secret_access_key=secret\naws_session_token = token\n' \
		>"$HOME/.aws/credentials"
	export AWS_PROFILE=work
	# The server says in which region the bucket is.
	run -0 run_spec 'lines s3://b/p/five.gz | count'
	[ "$output" = 5 ]
	printf '[profile work]\nregion = eu-x-1\n' >"$HOME/.aws/config"
	: >"$log"
	run -0 run_spec 'lines s3://b/p/five.gz | count'
	[[ $output == 5 && $(<"$log") != *' 400'* ]]
	AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY=wrong AWS_SESSION_TOKEN=token fails 77 '(403, SignatureDoesNotMatch)' 'lines s3://b/p/five.gz'
	[[ $stderr == *'made with AWS_ACCESS_KEY_ID'* && $stderr != *wrong* && $stderr != *secret* ]]
}

@test "what passes is tried again and goes on at its byte; what changes is an error and no mixture" {
	serve
	for name in busy cut noranges noranges.cut moved nohead untagged; do cp "$objects/web/n.txt" "$objects/web/$name"; done
	mv "$objects/web/moved" "$objects/web/real."
	for name in busy cut noranges noranges.cut moved nohead untagged; do
		run -0 run_spec "lines $url/web/$name | reduce 0 s+int(x)"
		[ "$output" = 80000200000 ] || { echo "$name: $output"; false; }
	done
	grep -q 'busy bytes=0-1048575 503' "$log"
	# Where nothing tells one version from another there is one request for all, and no second one for the rest.
	grep -q 'web/untagged - 200' "$log"
	cp "$objects/web/n.txt" "$objects/web/untagged.cut"
	fails 74 'does not tell one version of it from another' "lines $url/web/untagged.cut | count"
	# The second half alone is asked for again.
	grep -qE 'web/cut bytes=524288-1048575 206' "$log"
	cp "$objects/web/n.txt" "$objects/web/changes"
	cp "$objects/web/n.txt" "$objects/web/lies"
	run -65 --separate-stderr run_spec "lines $url/web/changes | count"
	[[ $stderr == *'it has changed since the reading of it began'* && -z $output ]]
	fails 65 'gives other bytes than those that were asked for' "lines $url/web/lies | count"
	fails 66 'it is not there (404, gone)' "lines $url/web/gone"
	fails 77 'the server does not allow it (403, forbid)' "lines '$url/web/forbid?sig=secret'"
	[[ $stderr != *secret* ]]
	fails 65 'addresses with ftp are not read' "lines $url/web/away"
	for spec in "sqlite $url/web/x.db t" 'range 3 | snapshot s3://b/x' 'range 3 | split_files s3://b/x x'; do
		fails 65 "takes names of this machine's files, and no address" "$spec"
	done
	fails 65 'must know how many elements' "bytes 8 $url/web/n.txt | shuffle all"
	[[ $stderr == *'objects elsewhere'* ]]
	fails 65 'addresses with gs are not read' 'lines gs://b/x'
	fails 65 'holds a user' 'lines http://me:secret@127.0.0.1/x'
}

@test "a trace shows requests, those that are tried again too, and no query of an address" {
	local t=$BATS_TEST_TMPDIR/t.json seen
	serve
	cp "$objects/web/n.txt" "$objects/web/busy"
	run -0 run_spec --trace "$t" -j 2 "lines '$url/web/busy?sig=secret' | map int(x)" -t count
	[ "$output" = 400000 ]
	seen=$(python3 "$BATS_TEST_DIRNAME/lib/trace.py" "$t")
	grep -qP '^b\tsplit\tsplit [^\t]*/web/busy' <<<"$seen"
	# a part is refused, and asked for again
	jq -e --arg name "request GET $url/web/busy" '[.[] | select(.ph == "e" and .name == $name) | .args.status] |
		index(503) != null and index(206) != null' "$t"
	run -1 grep secret "$t"
}

@test "https: a certificate is checked, and nothing leads from there to http" {
	serve --tls "$BATS_TEST_DIRNAME/lib/server.pem"
	fails 77 'certificate' "lines $url/web/n.txt"
	export SSL_CERT_FILE=$BATS_TEST_DIRNAME/lib/server.pem
	run -0 run_spec "lines $url/web/n.txt | count"
	[ "$output" = 400000 ]
	run -0 run_spec 'lines s3://b/p/* | count'
	[ "$output" = 400005 ]
	fails 65 'not as safe' "lines $url/web/unsafe"
}

@test "a position in an object is good for that object alone" {
	serve
	start dispatch dsvc-dispatch
	start one dsvc-work
	read_on() { within 30s dsvc-read -J j --order stable --checkpoint "$BATS_TEST_TMPDIR/at" -e "lines $url/web/n.txt" "$@"; }
	read_on -n 100000 >"$BATS_TEST_TMPDIR/all"
	kill -9 "${pid[one]}"
	start two dsvc-work
	read_on -n 100000 >>"$BATS_TEST_TMPDIR/all"
	cmp "$BATS_TEST_TMPDIR/all" <(seq 200000)
	kill -9 "${pid[two]}"
	touch -d '2001-02-03' "$objects/web/n.txt"
	start three dsvc-work
	run -65 read_on -t none
	[[ $output == *'it has changed'* ]]
}

@test "workers read large objects in parts, each once, and refuse what has changed since it was listed" {
	export AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY=secret
	seq 3000000 >"$objects/b/large" # 23 MB
	serve --key me:secret
	service 2
	run -0 within 60s dsvc-read -e 'lines s3://b/large'
	[ "$(sort -n <<<"$output" | md5sum)" = "$(seq 3000000 | md5sum)" ]
	[ "$(grep -c 'GET /b/large bytes=[1-9]' "$log")" -ge 2 ]
	run -0 within 30s dsvc-read -e 'lines s3://b/p/*' --order source
	[ "${#lines[@]}" = 400005 ]
}

# Splits begin with a few bytes, for their elements may be slow.
@test "small splits side by side are read by one request" {
	awk 'BEGIN { for (i = 0; i < 8000; i++) printf "%d %3000d\n", i, i }' >"$objects/b/long" # 24 MB
	serve
	service 2
	run -0 within 60s dsvc-read -t text -e 'lines s3://b/long | map int(split(x, " ")[0])'
	[ "$(sort -n <<<"$output" | md5sum)" = "$(seq 0 7999 | md5sum)" ]
	grep 'GET /b/long bytes=' "$log" >&2
	# of those that begin in what the first one brought, one by each stream
	[ "$(awk -F '[= -]' '/GET .b.long bytes=/ && $(NF - 2) < 60000' "$log" | wc -l)" -le "$((2 * $(nproc)))" ]
}

@test "whoever waits for a list can be told to end: a run, its threads, and a worker, whose list another one makes" {
	serve --faults slowlist
	asked() { [ -e "$objects/listing" ]; }
	for jobs in 1 3; do
		spawn run dsvc-run -j "$jobs" 'lines s3://b/p/* | count'
		until_true 10s asked
		stop run
		((status == 143))
		rm "$objects/listing"
	done
	start dispatch dsvc-dispatch
	start one dsvc-work --name one
	spawn read dsvc-read -t count 'lines s3://b/p/*'
	until_true 10s asked
	stop one
	((status == 0))
	rm "$objects/listing"
	start two dsvc-work --name two
	until_true 10s asked
	: >"$objects/go"
	reap read
	[[ $status == 0 && $(<"$BATS_TEST_TMPDIR/read.out") == 400005 ]]
}

@test "on TCP a worker reads no address unless its owner says which" {
	serve
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start work dsvc-work --insecure --name b
	ask() { within 20s dsvc-read -q --timeout 15s --wait-workers 1/10s -e "$@"; }
	run -77 ask "lines $url/web/n.txt"
	[[ $output == *'this worker does not allow it'*'--allow-url'* ]]
	stop work
	cp "$objects/b/p/deep/six" "$objects/web/real."
	start work dsvc-work --insecure --name c --allow-url "$url/web/" --allow-url s3://b/p
	run -0 ask "lines $url/web/n.txt" -t none
	run -0 ask 'lines s3://b/p/*' -t none
	for spec in "lines $url/webber/x" "lines $url/web/../b/p/n.txt" "lines $url/web/%2e%2e/b/p/n.txt" 'lines s3://b/pp' 'lines s3://b/*' \
		"elements [\"$url/b/p/n.txt\"] | interleave (lines x)" "lines https://127.0.0.1/web/x"; do
		run -77 ask "$spec"
		[[ $output == *'does not allow it'* ]] || { echo "$spec: $output"; false; }
	done
	run -0 ask "lines $url/web/moved"
	[ "$output" = $'6\n7\n8\n9' ]
	for prefix in /etc s3:// 'https://h/x?y'; do
		run -64 dsvc-work --insecure --allow-url "$prefix"
		[[ $output == *--allow-url* ]]
	done
}
