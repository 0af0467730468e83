#!/bin/bash
# SPDX-License-Identifier: MIT
# overlay.sh FOLDER: a kustomization of engines/kubernetes with hpa and data-volume in it, for small nodes, and for a test
# that does not wait for minutes. The volumes are FOLDER/state and FOLDER/data, which all nodes have.
set -eu
cd "$(dirname "$0")/../../../engines/kubernetes"
files=$(realpath --relative-to="$1" .)
volume() { # NAME MODE CLAIM
	cat <<-END
		---
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: dsvc-$1}
		spec:
		  capacity: {storage: 1Gi}
		  accessModes: [$2]
		  hostPath: {path: "$to/$1"}
		  claimRef: {namespace: dsvc, name: $3}
	END
}
to=$1
mkdir -p "$to"/{state,data}
chown 65532:65532 "$to/state"
{
	volume state ReadWriteOnce state-dsvc-dispatch-0
	volume data ReadOnlyMany data
	cat <<-END
		---
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: data}
		spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}
	END
} >"$to/volumes.yaml"
cat >"$to/kustomization.yaml" <<-END
	apiVersion: kustomize.config.k8s.io/v1beta1
	kind: Kustomization
	namespace: dsvc
	resources: [$files/base, volumes.yaml]
	components: [$files/hpa/part, $files/data-volume/part]
	patches:
	  - target: {kind: Deployment, name: dsvc-work}
	    patch: |-
	      - {op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 50m}
	      - {op: replace, path: /spec/template/spec/containers/0/resources/requests/memory, value: 64Mi}
	  - target: {kind: HorizontalPodAutoscaler, name: dsvc-work}
	    patch: |-
	      - {op: replace, path: /spec/minReplicas, value: 2}
	      - {op: replace, path: /spec/maxReplicas, value: 5}
	      - {op: replace, path: /spec/behavior/scaleDown/stabilizationWindowSeconds, value: 5}
	      - {op: replace, path: /spec/behavior/scaleDown/policies/0/periodSeconds, value: 5}
END
