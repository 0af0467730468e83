#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# engines/kubernetes on a real cluster of two nodes (cluster.bash): the base with hpa and data-volume, the image, the keys
# of keys.sh, and the job that reads. Whatever happens to pods, a pass comes out whole, each element once. The autoscaler
# is at work in all tests. `make check-k8s` runs it: $K8S_BIN has the programs of build.sh, $K8S_IMAGE is the image.

load ../../bats/lib/dsvc
load cluster

files=$BATS_TEST_DIRNAME/../../../engines/kubernetes

setup_file() {
	local lacks
	dsvc_setup
	[[ $B == /* ]] && PATH=$B/bin:$PATH
	lacks=$(k8s_needs) || { echo "check-k8s needs $lacks" >&2; return 1; }
	dir=$(mktemp -d "${TMPDIR:-/tmp}/dsvc-kXXXXXX")
	export dir
	service_up || { dump; return 1; }
}
service_up() {
	k8s_up "$dir" 2 &&
		k8s_image "$K8S_IMAGE" "$(sed -n 's/.*newName: \([^,]*\), newTag: \(.*\)}/\1:\2/p' "$files/base/kustomization.yaml")" &&
		mkdir "$dir/overlay" && bash "$BATS_TEST_DIRNAME/overlay.sh" "$dir/overlay" &&
		seq 0 2999 | split -n r/6 -d --additional-suffix=.txt - "$dir/overlay/data/part" &&
		kube apply -f "$files/base/namespace.yaml" &&
		DSVC_KEYS=$dir/keys bash "$files/keys.sh" | kube apply -f - &&
		"$K8S_BIN/kubectl" kustomize "$dir/overlay" | kube apply -f - &&
		kube apply -f "$BATS_TEST_DIRNAME/metrics.yaml" &&
		soon 120 dispatcher_ready none &&
		launch_on node1 adapter python3 "$BATS_TEST_DIRNAME/adapter.py" 10.88.0.11 6444 "$dir/pki/front.crt" "$dir/pki/front.key" \
			"http://$(in_ns get service dsvc-export -o 'jsonpath={.spec.clusterIP}'):9464/v1/scale" &&
		soon 120 workers_are 2 2
}
teardown_file() {
	home=$dir
	group=$(<"$dir/group")
	k8s_down
}
setup() {
	dsvc_setup
	home=$dir
	until_idle
}
teardown() {
	[[ ${BATS_TEST_COMPLETED-} ]] || dump
	dsvc_teardown
}
dump() {
	local log pod
	KUBE_TIME=10
	in_ns get pods,jobs,hpa -o wide || :
	in_ns get events --sort-by=.lastTimestamp | tail -n 20 || :
	in_ns describe hpa | sed -n '/^Conditions/,$p' || :
	for pod in $(in_ns get pods -o name); do
		echo "--- $pod"
		in_ns logs --all-containers --prefix --tail=8 "$pod" || :
	done
	for log in "$dir"/log/*; do
		echo "--- ${log##*/}"
		tail -n 4 "$log" | cut -c 1-300
	done
}

in_ns() { kube -n dsvc "$@"; }
workers_are() { # LEAST MOST: pods that are there and ready, and none that is about to go
	local n
	n=$(in_ns get pods -l app.kubernetes.io/name=dsvc-work -o json |
		jq '[.items[] | if .metadata.deletionTimestamp then 1000
			elif any(.status.conditions[]?; .type == "Ready" and .status == "True") then 1 else 1000 end] | add // 0')
	((n >= $1 && n <= $2))
}
until_idle() { soon 150 workers_are 2 2; }
asked() { in_ns exec dsvc-dispatch-0 -c dispatch -- "$@"; }
say() { echo "# $(printf '%(%T)T') $*" >&3; }

# The job of engines/kubernetes, with another name and pipeline, and the volume; goes on when the first of its elements
# are there.
pass() { # NAME PIPELINE LEAST
	"$K8S_BIN/kubectl" patch --local -f "$files/read-job.yaml" -o yaml --type=json -p "[
		{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"$1\"},
		{\"op\": \"replace\", \"path\": \"/spec/template/spec/containers/0/command\", \"value\":
		 [\"dsvc-read\", \"--connect-timeout\", \"1m\", \"--stats\", \"--job\", \"$1\", \"--to\", \"text\", \"--expression\", \"$2\"]},
		{\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/volumeMounts/-\", \"value\":
		 {\"name\": \"data\", \"mountPath\": \"/data\", \"readOnly\": true}},
		{\"op\": \"add\", \"path\": \"/spec/template/spec/volumes/-\", \"value\":
		 {\"name\": \"data\", \"persistentVolumeClaim\": {\"claimName\": \"data\", \"readOnly\": true}}}]" | in_ns apply -f -
	soon 100 begun "$1" "$3"
}
begun() { # NAME LEAST
	goes_on "$1" || { in_ns logs "job/$1"; return 0; }
	acknowledged "$@"
}
acknowledged() { # NAME LEAST
	(($(asked dsvc-status --json 2>/dev/null | jq --arg job "$1" '[.jobs[] | select(.name == $job) | .iterations[].acknowledged] | add // 0') >= $2))
}
goes_on() { # NAME
	[[ ! $(in_ns get job "$1" -o 'jsonpath={.status.succeeded}{.status.failed}') ]]
}
ended() { # NAME
	[[ $(in_ns get job "$1" -o 'jsonpath={.status.succeeded}{.status.failed}') ]]
}
# Every element once, by the first pod, and the books of the dispatcher say so, too.
whole() { # NAME N
	soon 300 ended "$1"
	[[ $(in_ns get job "$1" -o 'jsonpath={.status.succeeded}/{.status.failed}') == 1/ ]]
	in_ns logs "job/$1" >"$BATS_TEST_TMPDIR/log"
	grep -v '^[0-9]*$' "$BATS_TEST_TMPDIR/log" || :
	cmp <(grep '^[0-9]*$' "$BATS_TEST_TMPDIR/log" | sort -n) <(seq 0 "$(($2 - 1))")
	run -0 asked dsvc-status --audit "$1"
	echo "$output"
	[[ $output == *balanced* ]]
	in_ns delete job "$1"
}
workers() { in_ns get pods -l app.kubernetes.io/name=dsvc-work -o name; }
none_of() { # PODS
	[[ ! $(comm -12 <(sort <<<"$1") <(workers | sort)) ]]
}
dispatcher_ready() { # UID: another one than that
	local now
	now=$(in_ns get pod dsvc-dispatch-0 -o \
		'jsonpath={.metadata.uid} {.metadata.deletionTimestamp}{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)
	[[ $now == *' True' && $now != "$1 "* ]]
}

@test "a pass over the files of a volume is whole" {
	pass files 'lines /data/*.txt' 0
	whole files 3000
}

@test "the autoscaler follows dsvc_workers_wanted up and down while a pass goes on" {
	pass scaled 'range 40000 | sleep 4ms' 100
	say "the pass goes on with $(workers | wc -l) workers"
	soon 150 workers_are 4 5
	say "$(workers | wc -l) workers"
	goes_on scaled
	whole scaled 40000
	say 'the pass has ended'
	until_idle
	say '2 workers'
	# And it says why.
	run -0 in_ns get events --field-selector reason=SuccessfulRescale
	[[ $output == *'above target'* && $output == *'below target'* ]] || { echo "$output"; false; }
}

@test "a pass is whole whose workers are killed, one, and then all" {
	local were
	pass killed 'range 40000 | sleep 4ms' 500
	in_ns delete --force --grace-period=0 "$(workers | head -n 1)"
	soon 100 workers_are 2 5
	were=$(workers)
	in_ns delete --force --grace-period=0 pods -l app.kubernetes.io/name=dsvc-work
	soon 100 none_of "$were"
	soon 100 workers_are 2 5
	goes_on killed
	whole killed 40000
}

@test "a pass is whole whose workers are rolled out anew" {
	local were
	pass rolled 'range 40000 | sleep 4ms' 500
	were=$(workers)
	in_ns rollout restart deployment dsvc-work
	KUBE_TIME=150 in_ns rollout status deployment dsvc-work --timeout=140s
	soon 100 none_of "$were"
	goes_on rolled
	whole rolled 40000
}

@test "a pass is whole whose dispatcher is moved to another node, and comes back" {
	local was uid round
	pass moved 'range 60000 | sleep 4ms' 500
	for round in 1 2; do
		was=$(in_ns get pod dsvc-dispatch-0 -o 'jsonpath={.spec.nodeName}')
		uid=$(in_ns get pod dsvc-dispatch-0 -o 'jsonpath={.metadata.uid}')
		kube cordon "$was"
		in_ns delete pod dsvc-dispatch-0 --wait=false
		soon 150 dispatcher_ready "$uid"
		kube uncordon "$was"
		[[ $(in_ns get pod dsvc-dispatch-0 -o 'jsonpath={.spec.nodeName}') != "$was" ]]
		say "the dispatcher is on $(in_ns get pod dsvc-dispatch-0 -o 'jsonpath={.spec.nodeName}')"
		goes_on moved
		soon 100 acknowledged moved "$((5000 * round))"
	done
	goes_on moved
	whole moved 60000
}
