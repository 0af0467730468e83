#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh: the programs of a Kubernetes cluster, from Go modules, in $XDG_CACHE_HOME/dsvc/k8s (~/.cache/dsvc/k8s), whose
# path is printed. Programs that were built from the same files are not built again. The first time takes 20 minutes of
# a processor, with the lowest priority, and 5 GB in the caches of Go, which `go clean -cache -modcache` empties.
set -eu
cd "$(dirname "$0")"
to=${XDG_CACHE_HOME:-$HOME/.cache}/dsvc/k8s
programs=(k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl,kubelet,kube-proxy}
	./names ./pause)
version=$(sed -n 's,.*k8s.io/kubernetes \(v[0-9.]*\)$,\1,p' go.mod)
from=$(cat go.mod go.sum names/main.go pause/main.go | sha256sum)
flags="-s -w -X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1"
flags+=" -X k8s.io/component-base/version.gitMinor=$(cut -d. -f2 <<<"$version")"

# Go itself says when it is too old for go.mod.
mkdir -p "$to"
exec 9>"$to/lock"
flock 9
for program in "${programs[@]}"; do
	name=${program##*/}
	[[ -x $to/$name && $(cat "$to/$name.from" 2>/dev/null) == "$from" ]] && continue
	type -P go >/dev/null || { echo "build.sh: $name is not in $to yet, and building it needs go $(sed -n 's/^go //p' go.mod)" >&2; exit 69; }
	echo "build.sh: builds $name in $to" >&2
	CGO_ENABLED=0 nice -n 19 go build -p "${JOBS:-1}" -mod=readonly -trimpath -buildvcs=false -ldflags "$flags" \
		-o "$to/$name.new" "$program" >&2 9>&-
	mv "$to/$name.new" "$to/$name"
	echo "$from" >"$to/$name.from"
done
echo "$to"
