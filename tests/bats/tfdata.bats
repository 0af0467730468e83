#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The table of dsvc-tfdata(7) is complete, names what there is, and each of its rows has
# an example that is run: in tests/cases/tfdata.case, or here under the same kind of
# comment, `# tf.data: NAMES`.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

root=$BATS_TEST_DIRNAME/../..

# The rows as `names|what says the same`.
table() {
	sed -n '/^\.Bl -column/,/^\.El/p' "$root/man/dsvc-tfdata.7" |
		sed -n '/Sy tf.data/d; s/^\.It \(.*\) Ta \(.*\)/\1|\2/p' | sed 's/\\&//g; s/\\(dq/"/g'
}

@test "no operator of tf.data is left out" {
	names=$(table | cut -d'|' -f1 | tr -d ' ' | tr , '\n')
	local name
	for name in Dataset.range counter random from_tensors from_tensor_slices from_list from_generator \
		list_files TextLineDataset TFRecordDataset FixedLengthRecordDataset CsvDataset SqlDataset load \
		map filter flat_map interleave parallel_interleave scan reduce group_by_window \
		bucket_by_sequence_length batch padded_batch ragged_batch dense_to_sparse_batch unbatch rebatch \
		window take skip take_while repeat shuffle global_shuffle shard enumerate unique zip concatenate \
		sample_from_datasets choose_from_datasets rejection_resample prefetch cache snapshot save \
		ignore_errors assert_cardinality options apply; do
		grep -qx "$name" <<<"$names" || { echo "$name is not in the table" >&2; false; }
	done
}

@test "each row has its example" {
	local row
	while IFS='|' read -r row _; do
		grep -qxF "# tf.data: $row" "$root/tests/cases/tfdata.case" "$BATS_TEST_FILENAME" ||
			{ echo "no example for: $row" >&2; false; }
	done < <(table)
}

@test "operators and parameters of the table exist" {
	local what words word op key first checked=0
	while IFS='|' read -r _ what; do
		op='' first=1
		read -ra words <<<"${what//[;,]/ ; }"
		for word in "${words[@]}"; do
			if [[ $word == ';' ]]; then
				first=1
				continue
			elif [[ $word =~ ^([a-z_]+)= ]]; then
				key=${BASH_REMATCH[1]}
				# Of every operator, of no operator, and names of the user's choice.
				[[ $key == on_error || $op == options || ! $op || "$op $key" == zip\ [ab] ]] && continue
				dsvc-run --help-op "$op" | grep "^  $key " >/dev/null || { echo "$op has no $key" >&2; false; }
				((++checked))
			elif ((first)) && [[ $word =~ ^[a-z_]+$ ]] && dsvc-run --help-op "$word" >/dev/null 2>&1; then
				op=$word
			fi
			first=0
		done
	done < <(table)
	((checked > 20))
}

# tf.data: snapshot, save
# tf.data: apply
# tf.data: options
# tf.data: cardinality, element_spec
# tf.data: get_single_element
# tf.data: as_numpy_iterator
@test "rows that need folders and options" {
	cd "$BATS_TEST_TMPDIR"
	run -0 dsvc-run 'range 3 | save out'
	run -0 dsvc-run 'load out'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-run 'range 3 | snapshot snap'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-run 'range 3 | snapshot snap'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-run 'range 3 | cache cached | repeat 2'
	[[ $output == $'0\n1\n2\n0\n1\n2' ]]
	printf '%s\n' 'let f = | filter x < 5' 'range 100 | f' >apply.dsvc
	run -0 dsvc-run -f apply.dsvc
	[[ $output == $'0\n1\n2\n3\n4' ]]
	printf '%s\n' 'options seed=3' 'range 100 | shuffle all' >options.dsvc
	[[ $(dsvc-run -f options.dsvc) == "$(dsvc-run --seed 3 'range 100 | shuffle all')" ]]
	run -0 dsvc-run --explain 'range 7 | batch 2'
	[[ $output == *"[int]  4 elements"* ]]
	run -0 dsvc-run --print=plan 'range 7 | map {a: x}'
	[[ $output == *"{a: int}"* ]]
	run -0 dsvc-run -n 1 'range 7'
	[[ $output == 0 ]]
	dsvc-run -t npy 'range 3' >three.npy
	run -0 dsvc-run 'npy three.npy'
	[[ $output == $'0\n1\n2' ]]
}

# tf.data: distributed_save
@test "a dataset saved by the workers" {
	cd "$BATS_TEST_TMPDIR"
	service 1
	within 20s dsvc-save out "$(dsvc-register 'range 3')"
	run -0 dsvc-run 'load out wait=true | sort'
	[[ $output == $'0\n1\n2' ]]
}

# tf.data: distribute, register_dataset, from_dataset_id
# tf.data: cross_trainer_cache, CrossTrainerCache, trainer_id
@test "trainers that share what is made" {
	service
	for trainer in a b; do
		spawn "$trainer" dsvc-read -J feats --share lossless --group "$trainer" --wait-workers 2 -o "$BATS_TEST_TMPDIR/$trainer" \
			-e 'range 100'
	done
	until_true 10s bash -c '[[ $(dsvc-status --json | jq ".readers | length") == 2 ]]'
	start second dsvc-work
	for trainer in a b; do
		reap "$trainer"
		((status == 0))
		cmp <(sort -n "$BATS_TEST_TMPDIR/$trainer") <(seq 0 99)
	done
}

# tf.data: job_name
# tf.data: ShardingPolicy OFF, DYNAMIC
# tf.data: ShardingPolicy FILE, DATA, FILE_OR_DATA, HINT
# tf.data: max_outstanding_requests
# tf.data: element_spec of from_dataset_id
# tf.data: consumer_index, num_consumers
# tf.data: data_transfer_protocol
# tf.data: compression
# tf.data: target_workers
# tf.data: job_gc_check_interval_ms
# tf.data: job_gc_timeout_ms
# tf.data: gc_dynamic_sharding_jobs
# tf.data: client_timeout_ms, worker_timeout_ms
@test "rows that need a service" {
	start dispatch dsvc-dispatch --job-gc 1m --job-gc-unfinished never --loss 7s --beat 1s
	start one dsvc-work
	start two dsvc-work
	run -0 dsvc-run 'range 5 | map x * x | distribute | map x + 1 | sort'
	[[ $output == $'1\n2\n5\n10\n17' ]]
	id=$(dsvc-register 'range 3')
	[[ $(dsvc-register 'range 3') == "$id" ]]
	[[ $(dsvc-read "$id" | sort) == $'0\n1\n2' ]]
	[[ $(dsvc-read --transfer copy -t count "$id") == 3 ]]
	[[ $(dsvc-read --compression snappy -t count "$id") == 3 ]]
	[[ $(dsvc-read --target local -t count "$id") == 3 && $(dsvc-read --target any -t count "$id") == 3 ]]
	[[ $(dsvc-read --type int -t count "$id") == 3 ]]
	run -65 dsvc-read --type text "$id"
	[[ $(dsvc-read --sharding data --shards 2 --shard 1 "$id") == 1 ]]
	[[ $(dsvc-read --sharding file_or_data --shards 2 "$id" | sort) == $'0\n1\n2' ]]
	[[ $(dsvc-read --sharding hint --shards 2 -e 'range 3 | shard auto auto' | sort) == $'0\n1\n2' ]]
	printf 'a\n' >"$BATS_TEST_TMPDIR/f1" && printf 'b\n' >"$BATS_TEST_TMPDIR/f2"
	[[ $(dsvc-read --sharding file --shards 2 --shard 1 -e "lines $BATS_TEST_TMPDIR/f[12]") == b ]]
	run -0 dsvc-run "dataset $id | sort"
	[[ $output == $'0\n1\n2' ]]
	dsvc-read -J mine --window 4 "$id" >"$BATS_TEST_TMPDIR/out"
	[[ $(sort "$BATS_TEST_TMPDIR/out") == $'0\n1\n2' ]]
	run -0 dsvc-run 'range 3 | distribute job=shared | count'
	[[ $output == 3 ]]
	[[ $(dsvc-read --wait-workers 2 --sharding parallel_epochs -t count "$id") == 6 ]]
	[[ $(dsvc-read --wait-workers 2 --sharding distributed_epoch -t count "$id") == 3 ]]
}

# tf.data: processing_mode
# tf.data: dataset_id
# tf.data: task_refresh_interval_hint_ms
# tf.data: DispatcherConfig port, service, dispatcher_address
# tf.data: protocol
# tf.data: work_dir, fault_tolerant_mode
# tf.data: worker_addresses
# tf.data: deployment_mode
# tf.data: WorkerConfig port, data_transfer_port
# tf.data: worker_address, data_transfer_address
# tf.data: worker_tags
# tf.data: heartbeat_interval_ms
# tf.data: dispatcher_timeout_ms
# tf.data: cross_trainer_cache_size_bytes
# tf.data: worker_max_concurrent_snapshots
# tf.data: snapshot_max_chunk_size_bytes
# tf.data: shutdown_quiet_period_ms
@test "rows of its servers" {
	start dispatch dsvc-dispatch --insecure --bind 'tcp://127.0.0.1:*' --state "$BATS_TEST_TMPDIR/state" --beat 1s --loss 7s
	export DSVC_DISPATCHER=$ready
	start one dsvc-work --insecure --bind 'tcp://127.0.0.1:*' --advertise 'tcp://localhost:*' --tag gpu --slots 2 \
		--memory 16M --give-up 1m --drain-timeout 1s --allow-write "$BATS_TEST_TMPDIR"
	[[ $(dsvc-register --id mine 'range 3') == mine ]]
	[[ $(dsvc-read -d "$DSVC_DISPATCHER" --where gpu --target any --sharding dynamic -t count mine) == 3 ]]
	[[ $(dsvc-read -J shared --share window --group a --share-window 1M -t count mine) == 3 ]]
	dsvc-save -q --shards 2 --chunk 1M --chunk-time 1m "$BATS_TEST_TMPDIR/saved" mine
	run -0 dsvc-run "load $BATS_TEST_TMPDIR/saved | count"
	[[ $output == 3 ]]
}

# tf.data: reader_func of load
# tf.data: snapshot_streams, snapshot_task_progresses
# tf.data: optimal_number_of_workers
# tf.data: num_workers, num_tasks, state export
# tf.data: disable_compression_at_runtime
@test "rows about what a service tells" {
	service 2
	[[ $(dsvc-status --wanted=workers) =~ ^[0-9]+$ && $(dsvc-status --metrics) == *dsvc_workers_wanted* ]]
	dsvc-save -q -n 3000 --chunk 2k -e counter "$BATS_TEST_TMPDIR/out"
	[[ $(dsvc-run "load $BATS_TEST_TMPDIR/out | shuffle 10 seed=1 | sort | tail 1") == 2999 ]]
	run -0 dsvc-status --json
	[[ $(jq -r '.jobs[0].iterations[0] | [.chunks > 1, .saved, .bytes > 5000] | join(" ")' <<<"$output") == 'true 3000 true' ]]
	[[ $(jq '[.workers[] | .slots > 0 and .streams >= 0] | length' <<<"$output") == 2 ]]
	[[ $(dsvc-read --compression auto -t count -e 'range 100') == 100 ]]
}

# tf.data: PER_SHARD_V1, PER_HOST_V2
# tf.data: PER_HOST_V1, SLICED
# tf.data: BROADCAST
# tf.data: batch_axis
# tf.data: steps, max_steps, iterations_per_loop
# tf.data: padding_mask
# tf.data: outfeed, host_call
@test "rows that a training loop needs" {
	local core=(sh -c 'while IFS= read -r b; do printf "%s\n" "$b"; done') how
	fed() { dsvc-feed -q --local --as ndjson "$@"; }
	run -0 fed -n 2 --results step -e 'range 4 | batch 2' -- "${core[@]}"
	[[ $output == $'{"step":0,"core":0,"result":[0,1]}\n{"step":0,"core":1,"result":[2,3]}' ]]
	for how in host step; do
		run -0 fed -n 2 --element $how --results step -e 'range 4 | batch 4' -- "${core[@]}"
		[[ $output == $'{"step":0,"core":0,"result":[0,1]}\n{"step":0,"core":1,"result":[2,3]}' ]]
	done
	run -0 fed -n 2 --element copy --results step -e 'range 2 | batch 2' -- "${core[@]}"
	[[ $output == $'{"step":0,"core":0,"result":[0,1]}\n{"step":0,"core":1,"result":[0,1]}' ]]
	run -0 fed -n 2 --element host --axis 1 --results step -e 'elements [[[0, 1], [2, 3]]] | map tensor(x)' -- "${core[@]}"
	[[ $output == $'{"step":0,"core":0,"result":[[0],[2]]}\n{"step":0,"core":1,"result":[[1],[3]]}' ]]
	run -0 fed --batch 2 --steps 2 --loop 1 -e 'range 9' -- cat
	[[ $output == $'[0,1]\n[2,3]' ]]
	run -0 fed --batch 2 --from 1 --until 2 -e 'range 9' -- cat
	[[ $output == '[2,3]' ]]
	run -0 fed --batch 2 --tail pad --mask real -e 'range 1 | map {x: x}' -- cat
	[[ $output == '{"x":[0,0],"real":[true,false]}' ]]
	run -0 fed -n 2 --batch 4 --tail pad --results rows -e 'range 3' -- "${core[@]}"
	[[ $output == $'0\n1\n2' ]]
}
