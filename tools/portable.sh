#!/bin/bash
# SPDX-License-Identifier: MIT
# portable.sh PROGRAM...: $B/dsvc-VERSION-ARCH, and the same as .tar.gz. The folder has all that `make install` puts there
# and the libraries that the programs need, those among them that are loaded late. It runs wherever it is copied to,
# without root, on every system whose C library is as new as its README says: the C library itself is the system's.
# The same programs and libraries give the same bytes, whoever packs them and when.
set -eu
cd "$(dirname "$0")/.."
read -ra cc <<<"${CC:-cc}"
for tool in patchelf strip strings readelf "${cc[0]}"; do
	type -P "$tool" >/dev/null || { echo "portable.sh: needs $tool: DEPS='binutils patchelf' tools/deps.sh" >&2; exit 1; }
done
B=$(realpath "$B")
version=$(<VERSION)
name=dsvc-$version-$(uname -m)
to=$B/$name
umask 022
rm -rf "$to"
mkdir -p "$to"
DESTDIR=$B prefix=/$name bash tools/install.sh install "$@"
# Units are an administrator's, who has packages; engines/ has them, too.
rm -r "${to:?}"/lib/{systemd,sysusers.d,tmpfiles.d}
# shellcheck disable=SC2016 # pkg-config's own variable
sed -i 's,^\(prefix\|libdir\|includedir\)=.*/'"$name"',\1=${pcfiledir}/../..,' "$to/lib/pkgconfig/dsvc-feed.pc"

# Parts of the C library, which must fit one another and the kernel.
is_system() { [[ ${1##*/} == @(ld-*|ld64*|libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libanl|libnsl|libnss_*).so* ]]; }
needs() { ldd "$@" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'; }
# Libraries that are loaded late stand in the programs by their names; of several that will do, the first comes first.
late() {
	local soname file
	local -A had=()
	for soname in $(strings -a "${@/#/$B/bin/}" | grep -E '^lib[A-Za-z0-9_+.-]+\.so\.[0-9]+$' | awk '!had[$0]++'); do
		file=$("${cc[@]}" -print-file-name="$soname")
		[[ $file == /* && ! ${had[${soname%%[.-]*}]-} ]] || continue
		had[${soname%%[.-]*}]=$file
		echo "$file"
	done
}
mapfile -t files < <(late "$@")
# The plugin has Arrow's libraries beside it, where they are not the system's.
mapfile -t plugins < <(find "$to/lib/dsvc" -name '*.so*' 2>/dev/null | LC_ALL=C sort)
mapfile -t files < <({ printf '%s\n' "${files[@]}"; needs "${@/#/$B/bin/}" "${files[@]}" "${plugins[@]}"; } | grep -v "^$to/" | sort -u)
for file in "${files[@]}"; do
	is_system "$file" || install -m 755 "$(realpath "$file")" "$to/lib/${file##*/}"
done

# RPATH and not RUNPATH: it counts for what libraries need in turn, and before LD_LIBRARY_PATH, which on clusters often
# leads to other versions of them. Without what differs by the folder in which the programs were compiled.
strip -R .note.gnu.build-id "${@/#/$to/bin/}"
strip -gD "$to/lib/libdsvcfeed.a"
[[ ! -e $to/lib/dsvc/libdsvc_arrow.so ]] || strip -R .note.gnu.build-id "$to/lib/dsvc/libdsvc_arrow.so"
# shellcheck disable=SC2016 # the loader's own variable
patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "${@/#/$to/bin/}"
# shellcheck disable=SC2016
patchelf --force-rpath --set-rpath '$ORIGIN' "$to"/lib/*.so*
# shellcheck disable=SC2016
for file in "${plugins[@]}"; do patchelf --force-rpath --set-rpath '$ORIGIN:$ORIGIN/..' "$file"; done

# What the libraries' licences ask for. Packages may know a file by its path before /lib became /usr/lib.
for file in "${files[@]}"; do is_system "$file" || realpath "$file"; done >"$B/portable.files"
{ xargs dpkg-query -S <"$B/portable.files" || :; sed 's,^/usr,,' "$B/portable.files" | xargs dpkg-query -S || :; } 2>/dev/null |
	sed 's/[:,].*//' | sort -u | while read -r package; do
		[[ ! -e /usr/share/doc/$package/copyright ]] ||
			install -D -m 644 "/usr/share/doc/$package/copyright" "$to/share/doc/dsvc/libraries/$package"
	done
rm "$B/portable.files"
for file in "${ARROW_DIR:-/nowhere}"/pyarrow-*/licenses/*; do
	[[ ! -e $file || ! ${plugins[*]} == *libarrow* ]] || install -D -m 644 "$file" "$to/share/doc/dsvc/libraries/arrow/${file##*/}"
done
glibc=$(readelf -VW "$to"/bin/* "$to"/lib/*.so* "${plugins[@]}" 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
cat >"$to/README" <<END
dsvc $version for $(uname -m), with its libraries. It needs Linux and glibc ${glibc#GLIBC_} or newer (\`ldd --version\` says which).

Copy this folder to where all machines see it, and put it first on the path:

    export PATH=FOLDER/bin:\$PATH MANPATH=FOLDER/share/man:

Completions are in share/bash-completion, share/zsh and share/fish, pipelines and files for Slurm, ssh and other engines
in share/dsvc, documents in share/doc/dsvc, and there in libraries/ the licences of the libraries.
Certificates for https: are the system's, or those of the file that SSL_CERT_FILE names.
END

LC_ALL=C find "$to" -print0 | LC_ALL=C sort -z | sed -z "s,^$B/,," |
	tar -C "$B" --null --no-recursion -T - -c --format=ustar --owner=0 --group=0 --numeric-owner \
		--mode='u=rwX,go=rX' --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}" |
	gzip -n >"$to.tar.gz.new"
mv "$to.tar.gz.new" "$to.tar.gz"
(cd "$B" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
