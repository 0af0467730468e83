#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An image without any program for images: `load lib/image`, after lib/cluster.
#
#	image_unpack TAR FOLDER      the root of the image in it; its config is FOLDER.json
#	contain MACHINE ROOT ARG...  runs there what the image says, as its user, with processes, names and mounts of its own;
#	                             only /tmp, /run/dsvc and /var/lib/dsvc can be written to, which is $cluster/volume

# Digests and sizes are those that are told. The files of a later layer lie upon those of an earlier one.
image_unpack() { # TAR FOLDER
	local lay=$2.layout manifest layer
	mkdir -p "$lay" "$2"
	tar -C "$lay" -xf "$1"
	(cd "$lay/blobs/sha256" && printf '%s\n' * | sed 's/.*/&  &/' | sha256sum -c --quiet)
	manifest=$(jq -r '.manifests | if length == 1 then .[0].digest else error end' "$lay/index.json")
	jq -r '.. | objects | select(.digest) | "\(.digest) \(.size)"' "$lay/index.json" "$lay/blobs/${manifest/://}" |
		while read -r layer size; do
			[[ $(stat -c %s "$lay/blobs/${layer/://}") == "$size" ]] || { echo "$layer: not of size $size"; return 1; }
		done
	cp "$lay/blobs/$(jq -r '.config.digest | sub(":"; "/")' "$lay/blobs/${manifest/://}")" "$2.json"
	for layer in $(jq -r '.layers[].digest' "$lay/blobs/${manifest/://}"); do
		tar -C "$2" --numeric-owner -xpzf "$lay/blobs/${layer/://}"
		[[ " $(jq -r '.rootfs.diff_ids | join(" ")' "$2.json") " == *" sha256:$(gzip -dc "$lay/blobs/${layer/://}" | sha256sum | cut -d' ' -f1) "* ]]
	done
}

contain() { # MACHINE ROOT ARG...
	local machine=$1 root=$2 words
	shift 2
	mapfile -t words < <(jq -r '.config | .User, .Env[]' "$root.json")
	# shellcheck disable=SC2016
	in_net "$machine" unshare -m -u -i -p -f --kill-child --propagation private bash -ec '
		root=$1 user=$2 machine=$3 cluster=$4
		shift 4
		mount --bind "$root" "$root"
		mount -t proc -o nosuid,nodev,noexec none "$root/proc"
		touch "$root/etc/hosts"
		mount --bind "$cluster/hosts" "$root/etc/hosts"
		mount -o remount,ro,bind "$root"
		mount --bind "$cluster/volume" "$root/var/lib/dsvc"
		mount -t tmpfs -o mode=1777 none "$root/tmp"
		mount -t tmpfs -o "mode=0700,uid=${user%:*},gid=${user#*:}" none "$root/run/dsvc"
		hostname "$machine"
		exec env -i "$@"
	' - "$root" "${words[0]}" "$machine" "$cluster" "${words[@]:1}" \
		"$(type -P chroot)" --userspec="${words[0]}" --groups= "$root" "$@"
}
