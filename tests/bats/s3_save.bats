#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154
#
# Elements saved to an object store, and loaded from it (lib/objects.py is the store).
load lib/dsvc

setup() {
	dsvc_setup
	objects=$BATS_TEST_TMPDIR/objects
	mkdir -p "$objects/b"
	unset AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_ENDPOINT_URL AWS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
	export HOME=$BATS_TEST_TMPDIR AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY=secret
	large='range 1500000 | map {id: x, t: "some words that fill a part"}' # 57 MB
}

serve() { # OPTION...
	log=$BATS_TEST_TMPDIR/log
	: >"$log"
	start objects python3 "$BATS_TEST_DIRNAME/lib/objects.py" "$objects" --key me:secret --log "$log" "$@"
	export AWS_ENDPOINT_URL_S3=$ready
}

run_spec() { within 40s dsvc-run "$@"; }

fails() { # CODE WORDS SPEC
	run "-$1" --separate-stderr run_spec "$3"
	[[ $stderr == *"$2"* ]] || { echo "$3: $stderr"; false; }
}

# The uploads that have not ended.
uploads_left() { find "$objects" -name 'upload-*' | wc -l; }

logged() { grep -qE "$1" "$log"; }

@test "what is saved is loaded, in every format: small objects by one request, large ones by an upload" {
	serve
	run -0 run_spec "$large | save s3://b/p/large"
	[[ $output == '{"file":"s3://b/p/large/data-00000-000-00000.msgpack","elements":1500000,'* ]]
	logged 'partNumber=7&uploadId'
	run -0 run_spec 'load s3://b/p/large | reduce 0 s+.id'
	[ "$output" = 1124999250000 ]
	run_spec "$large | save $BATS_TEST_TMPDIR/near"
	cmp "$BATS_TEST_TMPDIR"/near/data-* "$objects"/b/p/large/data-*
	: >"$log"
	run -0 run_spec 'range 1000 | map {id: x} | save "s3://b/a b/{c}/" shards=3 file_size=2k compression=zstd'
	[[ $(<"$log") != *uploadId* ]]
	run -0 run_spec 'load "s3://b/a b/\{c\}" | sort .id | map .id'
	[ "$output" = "$(seq 0 999)" ]
	for format in ndjson text csv tsv tfrecord tar; do
		case $format in tar) map='{__key__: str(x), txt: str(x)}' ;; tfrecord | text) map='str(x)' ;; *) map='{id: x}' ;; esac
		run_spec "range 500 | map $map | save s3://b/$format format=$format" >/dev/null
		run_spec "range 500 | map $map | save $BATS_TEST_TMPDIR/$format format=$format" >/dev/null
		cmp "$BATS_TEST_TMPDIR/$format"/data-* "$objects/b/$format"/data-*
	done
	run -0 run_spec 'csv s3://b/csv/data-*.csv | count'
	[ "$output" = 500 ]
	run -0 run_spec 'load s3://b/{ndjson,text} | count'
	[ "$output" = 1000 ]
	run -0 run_spec 'range 0 | save s3://b/none'
	run -0 run_spec 'load s3://b/none | count'
	[ "$output" = 0 ]
}

@test "what goes wrong on the way is tried again, and each element is there once" {
	serve --faults busyput,cutput,lostend,badend
	run -0 run_spec "$large | save s3://b/p"
	logged 'PUT /b/p/data-.*partNumber=1&.* 503'
	logged 'POST /b/p/data-.*uploadId=.* 404' # the answer to the end was lost, and then there was no such upload
	run -0 run_spec 'load s3://b/p | reduce 0 s+.id'
	[ "$output" = 1124999250000 ]
	[ "$(uploads_left)" = 0 ]
}

@test "killed in the middle, a save has left nothing that can be seen, and the next one is whole" {
	serve --faults hold
	spawn save dsvc-run -q --seed 7 "$large | save s3://b/p"
	until_true 20s logged 'partNumber=3'
	kill -9 "${pid[save]}"
	fails 66 'holds nothing that was saved' 'load s3://b/p'
	fails 66 'no object matches' 'load s3://b/p partial=true'
	[ "$(uploads_left)" = 1 ]
	touch "$objects/go"
	run -0 run_spec --seed 7 "$large | save s3://b/p"
	[ "$(uploads_left)" = 0 ]
	run -0 run_spec 'load s3://b/p | reduce 0 s+.id'
	[ "$output" = 1124999250000 ]
}

@test "a save that is stopped cancels its upload; one that fails says why" {
	serve --faults hold
	spawn save dsvc-run -q "$large | save s3://b/p"
	until_true 20s logged 'partNumber=2'
	stop save
	[ "$(uploads_left)" = 0 ]
	touch "$objects/go"
	fails 65 'that one' "$large | map x.id == 900000 ? fail(\"that one\") : x | save s3://b/q"
	logged 'POST /b/q/data-.*uploads='
	[ "$(uploads_left)" = 0 ]
	fails 65 "the save to 's3://b/q' has failed: operator 3" 'load s3://b/q'
	run -0 run_spec --seed 3 'range 7 | save s3://b/q overwrite=true'
	run -0 run_spec 'load s3://b/q | count'
	[ "$output" = 7 ]
	[ ! -e "$objects/b/q/SNAPSHOT.failed" ]
	fails 65 's3://b/q holds what another pass saved' 'range 8 | save s3://b/q'
	run -0 run_spec 'load s3://b/q | count'
	[ "$output" = 7 ]
}

@test "a store that is away for a while is waited for, if that is wanted" {
	serve
	touch "$objects/down"
	fails 74 'after 6 tries: the server answers 503' 'range 5 | save s3://b/p'
	spawn save dsvc-run -q 'range 5 | save s3://b/p on_full=wait'
	until_true 30s eval '(($(grep -c "PUT /b/p/.dsvc-save - 503" "$log") > 13))'
	rm "$objects/down"
	reap save
	((status == 0))
	run -0 run_spec 'load s3://b/p | count'
	[ "$output" = 5 ]
}

@test "workers save streams side by side, and whoever comes after one that was killed goes on with its uploads" {
	serve --faults hold
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	start one dsvc-work -j 2 --restart-interval 100ms
	spawn reader dsvc-read --shards 2 --order stable -e "range 5000000 | map {id: x, t: \"some words that fill a part\"} | save s3://b/p" -o "$BATS_TEST_TMPDIR/said"
	until_true 60s eval '(($(grep -c "partNumber=8.* 200" "$log") == 2))'
	stop one KILL || true
	fails 66 'holds nothing that was saved' 'load s3://b/p'
	touch "$objects/go"
	start two dsvc-work -j 2
	reap reader
	((status == 0))
	run -0 run_spec 'load s3://b/p | reduce 0 s+.id'
	[ "$output" = 12499997500000 ]
	[ "$(uploads_left)" = 0 ]
	[ "$(find "$objects/b/p" -name 'data-*' | wc -l)" = 2 ]
	run -0 within 40s dsvc-read -t count -e 'load s3://b/p'
	[ "$output" = 5000000 ]
}

@test "what cannot be saved there or loaded from there is said" {
	serve
	fails 65 'a web server takes no uploads that appear whole' 'range 3 | save "https://h/x?sig=secret"'
	[[ $stderr == *"saved to 'https://h/x'"* ]]
	fails 65 'addresses with gs are not read' 'range 3 | save gs://b/x'
	fails 65 'format=npy are not saved to s3://' 'range 3 | save s3://b/x format=npy'
	fails 65 'file_time needs a folder' 'range 3 | save s3://b/x file_time=1s'
	fails 65 'at most 64 shards' 'range 3 | save s3://b/x shards=65'
	fails 74 'NoSuchBucket' 'range 3 | save s3://nobody/x'
	fails 65 'nobody can list what a web server has' "load $AWS_ENDPOINT_URL_S3/x"
	fails 65 'wait=true follows the list of a folder' 'load s3://b/x wait=true'
	AWS_SECRET_ACCESS_KEY=wrong fails 77 'cannot read s3://b/x/.dsvc-save: the server does not allow it (403, SignatureDoesNotMatch)' \
		'range 3 | save s3://b/x'
	run -0 run_spec 'range 9 | save s3://b/x file_size=3'
	printf x >>"$objects/b/x/data-00000-000-00001.msgpack"
	fails 65 'has 4 bytes, and SNAPSHOT says 3' 'load s3://b/x'
	printf abc >"$objects/b/x/data-00000-000-00001.msgpack"
	fails 65 "is damaged: its checksum is" 'load s3://b/x'
	rm "$objects/b/x/data-00000-000-00001.msgpack"
	fails 66 'is not complete: 2 of its 3 files are there' 'load s3://b/x'
	run -0 run_spec 'load s3://b/x partial=true | count'
	[ "$output" = 6 ]
}

@test "on TCP a worker writes to no address unless its owner says which" {
	serve
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start work dsvc-work --insecure --name b --allow-url s3://b/
	ask() { within 20s dsvc-read -q --timeout 15s --wait-workers 1/10s -e "$@"; }
	run -77 ask 'range 3 | save s3://b/p'
	[[ $output == *"cannot write to 's3://b/p'"*'--allow-write'* ]]
	stop work
	start work dsvc-work --insecure --name c --allow-write s3://b/p/
	run -0 ask 'range 3 | save s3://b/p/q'
	run -0 ask 'load s3://b/p/q' -t count
	[ "$output" = 3 ]
	for spec in 'range 3 | save s3://b/pp' 'load s3://b/q' "range 3 | save $BATS_TEST_TMPDIR/x"; do
		run -77 ask "$spec"
	done
	run -64 dsvc-work --insecure --allow-write https://h/
	[[ $output == *'--allow-write'* ]]
}

@test "dsvc-save saves to a store, whoever is killed meanwhile, and each element is there once" {
	serve
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	start one dsvc-work -j 2
	start two dsvc-work -j 2
	chunks() { [[ $(find "$objects/b/p" -name 'data-*' 2>/dev/null | wc -l) -ge $1 ]]; }
	save=(dsvc-save --chunk 20k -e 'range 600000 | map x | rate 60k' s3://b/p)
	spawn save "${save[@]}"
	until_true 20s chunks 4
	run -66 dsvc-run 'load s3://b/p'
	[[ $output == *'is not finished'* ]]
	stop one KILL || true
	start three dsvc-work -j 2
	until_true 20s chunks 12
	stop dispatch KILL || true
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	until_true 20s chunks 20
	stop save KILL || true
	stop two KILL || true
	start four dsvc-work -j 2
	within 90s "${save[@]}" --if-missing
	dsvc-run 'load s3://b/p | sort' | cmp - <(seq 0 599999)
	[[ ! -e $objects/b/p/.dsvc-position && $(uploads_left) == 0 ]]
	run -65 "${save[@]}"
	[[ $output == *'s3://b/p is saved already'* ]]
	run -0 "${save[@]}" --if-missing
	run -65 within 20s dsvc-save -e 'range 5' s3://b/p
	[[ $output == *'s3://b/p holds another snapshot: range 600000'* ]]
	within 20s dsvc-save --overwrite -e 'range 5' s3://b/p/
	run -0 dsvc-run 'load s3://b/p | sort'
	[ "$output" = $'0\n1\n2\n3\n4' ]
	run -64 dsvc-save --chunk-time 3s -e 'range 5' s3://b/t
	run -65 dsvc-save -e 'range 5' https://h/t
	[[ $output == *'a web server takes no uploads'* ]]
	AWS_SECRET_ACCESS_KEY=wrong run -77 dsvc-save -e 'range 5' s3://b/t
	[[ $output == *'403, SignatureDoesNotMatch'* ]]
	run -74 dsvc-save -e 'range 5' s3://nobody/t
	run -65 within 20s dsvc-save -q -e 'range 3 | map 1 / (x - x)' s3://b/f
	run -65 dsvc-save -q -e 'range 3 | map 1 / (x - x)' s3://b/f
	[[ $output == *'the save to s3://b/f has failed'*'division by zero'* ]]
}

@test "dsvc-save is no lost reader while a store takes its time, and a stop does not wait for it" {
	serve --faults slow --slow 3
	start dispatch dsvc-dispatch --loss 1s
	start one dsvc-work
	run -0 --separate-stderr within 60s dsvc-save -q -e 'range 50' s3://b/p
	[[ $stderr != *lost* ]]
	run -0 run_spec 'load s3://b/p | count'
	[ "$output" = 50 ]
	stop objects
	rm "$objects/slow"
	serve --faults slow --slow 1000
	spawn save dsvc-save -e 'range 50' s3://b/q
	until_true 20s test -e "$objects/slow"
	stop save
	((status == 143))
	[[ $(<"$BATS_TEST_TMPDIR/save.err") == *'the save to s3://b/q goes on'* ]]
}
