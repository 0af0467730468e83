#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The portable folder (tools/portable.sh) in a root that has nothing but a C library, and the image made of it
# (tools/oci.sh): as others read it, and a service whose programs all run in it. Needs root.

load lib/cluster
load lib/image

top=$BATS_TEST_DIRNAME/../..

setup_file() {
	local made=$BATS_FILE_TMPDIR/made
	type -P patchelf strip strings readelf cc >/dev/null || return 0
	pack "$made" >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
}
setup() {
	dsvc_setup
	cluster_needs oci jq
	type -P patchelf strip strings readelf cc >/dev/null || skip 'needs patchelf, binutils and a compiler'
	folder=$(echo "$BATS_FILE_TMPDIR"/made/dsvc-*/)
	folder=${folder%/}
	image=$folder.oci.tar
	root=$BATS_TEST_TMPDIR/root
}
teardown() {
	dsvc_teardown
	cluster_down
}

# What make portable oci does, with other folders.
pack() { # FOLDER
	local programs
	mkdir -p "$1"
	ln -sfn "$B/bin" "$1/bin"
	ln -sfn "$B/libdsvcfeed.a" "$1/libdsvcfeed.a"
	ln -sfn "$B/lib" "$1/lib"
	cd "$top" || return
	programs=(cmd/*/main.c)
	programs=("${programs[@]#cmd/}")
	B=$1 bash tools/portable.sh "${programs[@]%/main.c}"
	B=$1 bash tools/oci.sh
}

@test "both are the same bytes each time" {
	local again=$BATS_TEST_TMPDIR/again file
	TZ=Asia/Tokyo LC_ALL=C.UTF-8 umask 077
	pack "$again"
	umask 022
	for file in "$folder".tar.gz "$image"; do cmp "$file" "$again/${file##*/}"; done
	cd "${folder%/*}" && sha256sum -c --quiet ./*.sha256
}

# A system of another kind: a C library, a loader, and no more.
bare() { # FOLDER
	local file
	mkdir -p "$1"/{dev,proc,tmp}
	chmod 1777 "$1/tmp"
	mknod -m 666 "$1/dev/null" c 1 3
	for file in $(find "$folder/bin" "$folder/lib" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec ldd {} + |
		grep -oE '(=> )?/[^ ]+' | sed 's/^=> //' | grep -E '/(ld-|libc\.|libm\.|libpthread\.|libresolv\.|libdl\.|librt\.)' | sort -u); do
		install -D "$(realpath "$file")" "$1$file"
	done
	cp -R "$folder" "$1/opt"
}
elsewhere() {
	unshare -m -p -f --kill-child --propagation private bash -c 'mount -t proc none "$0/proc" &&
		exec env "PATH=/any place/bin" LD_LIBRARY_PATH=/wrong HOME=/tmp XDG_CONFIG_HOME=/tmp/config XDG_RUNTIME_DIR=/tmp \
			/usr/sbin/chroot --userspec=65532:65532 --groups= "$0" "$@"' "$root" "$@"
}

@test "the portable folder runs from any place, by anyone, where there is only a C library" {
	bare "$root"
	mv "$root/opt" "$root/any place"
	chmod 755 "$root"
	run -0 elsewhere dsvc run 'range 10 | map x*x | batch 4'
	[[ $output == '[0,1,4,9]'*'[64,81]' ]]
	# each program finds all that it is linked to
	for file in "$folder"/bin/*; do
		run -0 elsewhere "${file##*/}" --version
	done
	# and what it loads late: pictures, certificates, addresses
	cp "$top/pipelines/data/train/cat/1.jpg" "$top/pipelines/data/imgs/red.png" "$root/tmp"
	printf 'RIFF\x04\0\0\0WEBP' >"$root/tmp/bad.webp"
	run -0 elsewhere dsvc-run 'whole /tmp/*.jpg /tmp/*.png | map len(image_size(x))'
	[[ $output == $'3\n3' ]]
	run -65 elsewhere dsvc-run 'whole /tmp/bad.webp | map image_size(x)'
	[[ $output != *libwebp* ]]
	run -0 elsewhere dsvc-keygen
	run elsewhere dsvc-run --connect-timeout 1s 'lines http://127.0.0.1:9/x'
	[[ $status != 0 && $output == *127.0.0.1* && $output != *libcurl* ]]
	if [[ -e $folder/lib/dsvc/libdsvc_arrow.so ]]; then
		cp "$top/tests/docs/trips.parquet" "$root/tmp"
		run -0 elsewhere dsvc-run -t count 'parquet /tmp/trips.parquet'
		[[ $output -gt 0 ]]
	fi
	for file in czmq curl jpeg png16 webp xml2; do compgen -G "$folder/lib/lib$file.so.*"; done
	# nothing is looked up where it was made
	for file in "$folder"/bin/* "$folder"/lib/*.so* $(find "$folder/lib/dsvc" -name '*.so*' 2>/dev/null); do
		[[ $(patchelf --print-rpath "$file") == @('$ORIGIN/../lib'|'$ORIGIN'|'$ORIGIN:$ORIGIN/..') ]] || { echo "$file"; false; }
	done
	[[ ! $(grep -rl "$B" "$folder") ]]
}

@test "the image is as others want it, and a runtime of containers runs it" {
	local lay=$BATS_TEST_TMPDIR/layout version
	version=$(<"$top/VERSION")
	# the name that the manifests have
	[[ $(tar -xOf "$image" index.json | jq -r '.manifests[0].annotations["io.containerd.image.name"]') == \
		"$(sed -n 's/.*newName: \([^,]*\), newTag: \(.*\)}/\1:\2/p' "$top/engines/kubernetes/base/kustomization.yaml")" ]]
	grep -q "image: localhost/dsvc:$version\$" "$top/engines/kubernetes/read-job.yaml"
	for program in skopeo umoci runc; do type -P "$program" >/dev/null || skip "needs $program"; done
	# which reads every blob, and holds it against its digest
	run -0 skopeo --tmpdir "$BATS_TEST_TMPDIR" copy -q --insecure-policy "oci-archive:$image:$version" "oci:$lay:$version"
	run -0 skopeo inspect --config "oci:$lay:$version"
	[[ $(jq -c '[.config.User, .config.Entrypoint, .os]' <<<"$output") == '["65532:65532",["dsvc"],"linux"]' ]]
	[[ $(jq -r '.config.Labels["org.opencontainers.image.version"]' <<<"$output") == "$version" ]]
	umoci unpack --image "$lay:$version" "$BATS_TEST_TMPDIR/bundle" >/dev/null 2>&1
	cd "$BATS_TEST_TMPDIR/bundle" || return
	# What a kubelet does under the level `restricted`.
	jq '.process += {terminal: false, noNewPrivileges: true, capabilities: {}, args: ["dsvc", "run", "range 3 | map parse_time(\"2026-07-01\", \"%F\", \"Europe/Paris\") + x"]}
		| .root.readonly = true' config.json >../config && mv ../config config.json
	runc --root "$BATS_TEST_TMPDIR/runc" run "none-$$" </dev/null >/dev/null 2>&1 3>&- ||
		[[ $(runc --root "$BATS_TEST_TMPDIR/runc" run "again-$$" 2>&1 </dev/null 3>&-) != *cgroup* ]] ||
		skip 'runc cannot make a container here'
	run -0 runc --root "$BATS_TEST_TMPDIR/runc" run "dsvc-$$" </dev/null 3>&-
	[[ ${#lines[@]} == 3 ]]
}

@test "a dispatcher, two workers and a reader in it, each on a machine of its own" {
	local i
	cluster_up 4
	image_unpack "$image" "$cluster/root"
	install -d -m 700 -o 65532 -g 65532 "$cluster/volume"
	chmod 755 "$cluster"
	contain n1 "$cluster/root" dsvc dispatch -q -b 'tcp://eth0:*' --ready-file /var/lib/dsvc/up >"$cluster/dispatch.log" 2>&1 3>&- &
	for i in 2 3; do
		contain "n$i" "$cluster/root" dsvc work -q -d @/var/lib/dsvc/up --connect-timeout 0 -b 'tcp://eth0:*' \
			>"$cluster/work$i.log" 2>&1 3>&- &
	done
	run contain n4 "$cluster/root" dsvc read -d @/var/lib/dsvc/up --connect-timeout 60s --wait-workers 2/60s -t count \
		-e 'range 20000 | map x*x'
	[[ $status == 0 && $output == 20000 ]] || { echo "$output"; tail "$cluster"/*.log; false; }
	# nobody is root there, and nothing can be written
	run -0 contain n4 "$cluster/root" dsvc-run -t text 'lines /proc/self/status | filter x ~ "^(Uid|CapEff)"'
	[[ $output == *65532*0000000000000000* ]]
	run contain n4 "$cluster/root" dsvc-run -o /usr/x 'range 3'
	[[ $status != 0 && $output == *'ead-only'* ]]
}
