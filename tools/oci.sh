#!/bin/bash
# SPDX-License-Identifier: MIT
# An image from scratch as $B/dsvc-VERSION-ARCH.oci.tar, an OCI layout that skopeo, podman, containerd and docker read:
# the programs of the portable folder (tools/portable.sh comes first), its libraries, the C library, and the few files
# that they look for: users, resolver, time zones, certificates. No shell, nobody is root.
# The same files give the same bytes, whoever packs them and when.
set -eu
cd "$(dirname "$0")/.."
B=$(realpath "$B")
version=$(<VERSION)
arch=$(uname -m)
from=$B/dsvc-$version-$arch
to=$B/dsvc-$version-$arch.oci.tar
[[ -d $from ]] || { echo "oci.sh: there is no $from: make oci makes it" >&2; exit 1; }
case $arch in
x86_64) goarch=amd64 ;;
aarch64) goarch=arm64 ;;
*) goarch=$arch ;;
esac
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}
created=$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
mkdir -p "$work"/layout/blobs/sha256 "$work"/{base,libraries,programs}

# The folders of the image, and what changes seldom in layers below what changes often.
base=$work/base
mkdir -p "$base"/{etc/ssl/certs,dev,proc,sys,tmp,run/dsvc,var/lib/dsvc,usr/share}
printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'dsvc:x:65532:65532:dsvc:/var/lib/dsvc:/sbin/nologin' >"$base/etc/passwd"
printf '%s\n' 'root:x:0:' 'dsvc:x:65532:' >"$base/etc/group"
printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' 'services: files' >"$base/etc/nsswitch.conf"
if [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
	cp -L /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
else
	echo 'oci.sh: there is no /etc/ssl/certs/ca-certificates.crt: https: will need one to be mounted there' >&2
fi
if [[ -d /usr/share/zoneinfo ]]; then
	tar -C /usr/share --exclude=zoneinfo/{posix,right,posixrules,localtime} -c zoneinfo | tar -C "$base/usr/share" -x
fi
mkdir -p "$work"/libraries/usr/{lib,share/doc/dsvc} "$work"/programs/usr/{bin,share/doc/dsvc}
cp -P "$from"/lib/*.so* "$work/libraries/usr/lib/"
[[ ! -d $from/lib/dsvc ]] || cp -R "$from/lib/dsvc" "$work/libraries/usr/lib/"
[[ ! -d $from/share/doc/dsvc/libraries ]] || cp -R "$from/share/doc/dsvc/libraries" "$work/libraries/usr/share/doc/dsvc/"
cp "$from"/bin/* "$work/programs/usr/bin/"
cp "$from/share/doc/dsvc/LICENSE" "$work/programs/usr/share/doc/dsvc/"
cp -R "$from/share/dsvc" "$work/programs/usr/share/"
# The C library: what is asked for, and what it loads by itself to look names up. The loader is at the path that stands in
# each program.
loader=$(readelf -lW "$from/bin/dsvc" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
install -D -m 755 "$(realpath "$loader")" "$work/libraries$loader"
{
	find "$from/bin" "$from/lib" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec ldd {} + | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | grep -v "^$from/"
	read -ra cc <<<"${CC:-cc}"
	for name in libnss_files libnss_dns; do "${cc[@]}" -print-file-name=$name.so.2; done | grep ^/
} | sort -u | while read -r file; do
	install -m 755 "$(realpath "$file")" "$work/libraries/usr/lib/${file##*/}"
done

blob() { # FILE: becomes one; prints its descriptor, without a type
	local sum size
	sum=$(sha256sum <"$1") sum=${sum%% *} size=$(stat -c %s "$1")
	mv "$1" "$work/layout/blobs/sha256/$sum"
	printf '{"digest":"sha256:%s","size":%d}' "$sum" "$size"
}
pack() { # FOLDER: as a tar file; its own folder is root's and readable, some have another owner or mode
	local own=(--owner=0 --group=0)
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort) >"$work/names"
	{
		grep -vxE './(var/lib/dsvc|run/dsvc|tmp)' "$work/names" >"$work/plain" || :
		grep -xE './(var/lib/dsvc|run/dsvc)' "$work/names" >"$work/ours" || :
		grep -xE './tmp' "$work/names" >"$work/open" || :
	}
	rm -f "$work/tar"
	tar -C "$1" "${fixed[@]}" "${own[@]}" --mode='u=rwX,go=rX' -T "$work/plain" -cf "$work/tar"
	tar -C "$1" "${fixed[@]}" --owner=65532 --group=65532 --mode=0700 -T "$work/ours" -rf "$work/tar"
	tar -C "$1" "${fixed[@]}" "${own[@]}" --mode=1777 -T "$work/open" -rf "$work/tar"
}
fixed=(--no-recursion --format=ustar --numeric-owner "--mtime=@$time" --transform 's,^\./,,')
layers=() diffs=()
for part in base libraries programs; do
	pack "$work/$part"
	diffs+=("sha256:$(sha256sum <"$work/tar" | cut -d' ' -f1)")
	gzip -n <"$work/tar" >"$work/packed"
	layers+=("$(blob "$work/packed")")
done

labels=$(jq -n --arg version "$version" --arg created "$created" '{
	"org.opencontainers.image.title": "dsvc",
	"org.opencontainers.image.description": "moves data preparation onto workers, from the shell",
	"org.opencontainers.image.version": $version,
	"org.opencontainers.image.created": $created,
	"org.opencontainers.image.licenses": "MIT"}')
jq -cn --arg arch "$goarch" --arg created "$created" --argjson labels "$labels" '{
	created: $created, architecture: $arch, os: "linux",
	config: {
		User: "65532:65532", Entrypoint: ["dsvc"], Cmd: ["--help"], WorkingDir: "/var/lib/dsvc", StopSignal: "SIGTERM",
		Env: ["PATH=/usr/bin", "HOME=/var/lib/dsvc", "XDG_RUNTIME_DIR=/run/dsvc"], Labels: $labels},
	rootfs: {type: "layers", diff_ids: $ARGS.positional},
	history: [$ARGS.positional[] | {created: $created, created_by: "tools/oci.sh"}]}' --args "${diffs[@]}" >"$work/config"
config=$(blob "$work/config")
printf '%s\n' "${layers[@]}" | jq -cs --argjson config "$config" --argjson labels "$labels" '{
	schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
	config: ({mediaType: "application/vnd.oci.image.config.v1+json"} + $config),
	layers: map({mediaType: "application/vnd.oci.image.layer.v1.tar+gzip"} + .), annotations: $labels}' >"$work/manifest"
manifest=$(blob "$work/manifest")
# The name that engines/kubernetes has, for those who import it without a registry.
jq -cn --arg version "$version" --arg arch "$goarch" --argjson manifest "$manifest" '{
	schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
	manifests: [{mediaType: "application/vnd.oci.image.manifest.v1+json"} + $manifest + {
		platform: {architecture: $arch, os: "linux"},
		annotations: {"org.opencontainers.image.ref.name": $version, "io.containerd.image.name": "localhost/dsvc:\($version)"}}]}' \
	>"$work/layout/index.json"
echo '{"imageLayoutVersion":"1.0.0"}' >"$work/layout/oci-layout"
(cd "$work/layout" && find . -mindepth 1 | LC_ALL=C sort) |
	tar -C "$work/layout" "${fixed[@]}" --owner=0 --group=0 --mode='u=rwX,go=rX' -T - -cf "$to.new"
mv "$to.new" "$to"
(cd "$B" && sha256sum "${to##*/}" | tee "${to##*/}.sha256")
