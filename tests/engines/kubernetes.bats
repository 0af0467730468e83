#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# engines/kubernetes without a cluster: what kustomize makes of it, by the schemas of Kubernetes; and the command lines
# of the pods, run as they would be, with the keys of keys.sh, by a user who is not root. Needs root for the latter.

load lib/cluster

files=$BATS_TEST_DIRNAME/../../engines/kubernetes
overlays=(base hpa keda prometheus-operator data-volume)

# The schemas come with a package of Python, which is kept in the build folder.
setup_file() {
	export PYTHONPATH=$B/kubernetes-validate PYTHONDONTWRITEBYTECODE=1
	python3 -c 'import kubernetes_validate' 2>/dev/null && return
	rm -rf "$PYTHONPATH"
	timeout 300 python3 -m pip install -q --no-compile --target "$PYTHONPATH" kubernetes-validate==1.37.0 \
		>"$BATS_FILE_TMPDIR/pip.log" 2>&1 || :
}
setup() {
	dsvc_setup
	[[ $B == /* ]] && PATH=$B/bin:$PATH
	made=$BATS_TEST_TMPDIR/made
	mkdir -p "$made"
}
teardown() {
	dsvc_teardown
	cluster_down
}

build() { # OVERLAY
	if type -P kustomize >/dev/null; then
		kustomize build "$files/$1"
	elif type -P kubectl >/dev/null && kubectl kustomize --help >/dev/null 2>&1; then
		kubectl kustomize "$files/$1"
	else
		skip 'there is neither kustomize nor kubectl'
	fi >"$made/$1.yaml"
}
looked() { python3 "$BATS_TEST_DIRNAME/lib/manifests.py" "$@"; }

@test "what kustomize makes is by the schemas of Kubernetes, in all that they say" {
	local o version
	python3 -c 'import kubernetes_validate' 2>/dev/null || skip 'kubernetes-validate cannot be had from PyPI'
	for o in "${overlays[@]}"; do build "$o"; done
	cp "$files/read-job.yaml" "$made"
	keys >"$made/keys.yaml"
	for version in 1.30 1.34; do
		# Kinds of KEDA and of the Prometheus Operator are not among them.
		run -0 python3 -m kubernetes_validate --strict --quiet -k "$version" "$made"/*.yaml
		[[ ! $(grep -v "Couldn't find schema for kind \(ScaledObject\|ServiceMonitor\|PrometheusRule\)" <<<"$output") ]]
	done
}

keys() { DSVC_KEYS=$BATS_TEST_TMPDIR/keys bash "$files/keys.sh"; }

@test "pods are restricted, have probes, and select themselves; alerts are those of the rules" {
	local o
	python3 -c 'import yaml' 2>/dev/null || skip 'needs python3-yaml'
	for o in "${overlays[@]}"; do
		build "$o"
		looked check "$made/$o.yaml"
	done
	looked check "$files/read-job.yaml"
	looked rules "$made/prometheus-operator.yaml" "$files/../prometheus/rules.yml"
	# The autoscalers say how many there are.
	grep -q '^  replicas:' "$made/base.yaml"
	for o in hpa keda; do [[ ! $(sed -n '/^kind: Deployment/,/^---/p' "$made/$o.yaml" | grep '^  replicas:') ]]; done
	grep -q -- '- /data$' "$made/data-volume.yaml"
	# One version everywhere.
	[[ $(grep -rhoE 'localhost/dsvc:[0-9.]+|newTag: [0-9.]+' "$files" | grep -oE '[0-9.]+$' | sort -u) == \
		$(<"$BATS_TEST_DIRNAME/../../VERSION") ]]
}

@test "what the folders beside the base add can be taken together, as the manual does" {
	cp -R "$files" "$BATS_TEST_TMPDIR/files"
	sed -n '/^apiVersion: kustomize/,/^images:/p' "$BATS_TEST_DIRNAME/../../man/dsvc-engines.7" \
		>"$BATS_TEST_TMPDIR/files/kustomization.yaml"
	files=$BATS_TEST_TMPDIR/files build .
	mv "$made/..yaml" "$made/together.yaml"
	grep -q '^kind: HorizontalPodAutoscaler$' "$made/together.yaml"
	grep -q -- '- /data$' "$made/together.yaml"
	[[ $(grep -c 'image: REGISTRY/dsvc:' "$made/together.yaml") == 3 ]]
	[[ ! $(sed -n '/^kind: Deployment/,/^---/p' "$made/together.yaml" | grep '^  replicas:') ]]
}

# pod MACHINE KIND CONTAINER FILE SECRET: runs what the manifest says, with the secret as the kubelet mounts it.
pod() {
	local words dir=$cluster/pod-$1 f
	mapfile -d '' -t words < <(looked command "$4" "$2" "$3")
	mkdir -p "$dir"/{keys/dsvc,state,run,tmp}
	chmod 755 "$dir" "$dir/keys" "$dir/keys/dsvc"
	looked secret "$BATS_TEST_TMPDIR/keys.yaml" "$5" "$dir/keys/dsvc"
	for f in "$dir"/keys/dsvc/*; do
		chown 0:65532 "$f"
		chmod 440 "$f"
	done
	chown 65532:65532 "$dir"/{state,run,tmp}
	words=("${words[@]//\/keys/$dir/keys}")
	words=("${words[@]//\/state/$dir/state}")
	words=("${words[@]//\/run\/dsvc/$dir/run}")
	on "$1" env -i PATH="$PATH" TMPDIR="$dir/tmp" HOME=/nowhere setpriv --reuid 65532 --regid 65532 --clear-groups \
		env "${words[@]}"
}
ready() { # MACHINE PATH
	on "$1" bash -c 'exec 3<>/dev/tcp/127.0.0.1/9464 && printf "GET $0 HTTP/1.0\r\n\r\n" >&3 && grep -q " 200 " <&3' "$2" 2>/dev/null
}

@test "the command lines of the pods work together, with their keys and without root" {
	cluster_needs k8s setpriv
	python3 -c 'import yaml' 2>/dev/null || skip 'needs python3-yaml'
	build base
	keys >"$BATS_TEST_TMPDIR/keys.yaml"
	cluster_up 3
	chmod 755 "$cluster"
	# The name that the headless service gives.
	echo '10.77.0.11 dsvc-dispatch-0.dsvc-dispatch' >>"$cluster/hosts"
	pod n2 Deployment work "$made/base.yaml" dsvc-work >"$cluster/work.log" 2>&1 3>&- &
	pod n1 StatefulSet dispatch "$made/base.yaml" dsvc-dispatch >"$cluster/dispatch.log" 2>&1 3>&- &
	pod n1 StatefulSet export "$made/base.yaml" dsvc-dispatch >"$cluster/export.log" 2>&1 3>&- &
	until_true 30s ready n1 /readyz
	run pod n3 Job read "$files/read-job.yaml" dsvc-read
	((status == 0)) || { tail "$cluster"/*.log; echo "$output"; false; }
	[[ $output == *100000* ]]
	# The worker's key is not one that reads.
	cp "$files/read-job.yaml" "$made/job.yaml"
	run -77 pod n3 Job read "$made/job.yaml" dsvc-work
}
