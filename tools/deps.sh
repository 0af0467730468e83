#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing, and gets Arrow. Says nothing and asks nobody
# when all are there, so that it works without a network.
set -u
# a|b: either will do; the first that the system's lists know is installed. DEPS: others than usual.
want=${DEPS-}
[[ $want ]] || want='g++ pkg-config|pkgconf libzmq3-dev libczmq-dev libmsgpack-dev|libmsgpack-c-dev
libsnappy-dev libsqlite3-dev libsimdjson-dev libpcre2-dev libarchive-dev libisal-dev
libsodium-dev nettle-dev libmicrohttpd-dev libjpeg62-turbo-dev|libjpeg-turbo8-dev libpng-dev libwebp-dev
libcurl4-openssl-dev|libcurl4-gnutls-dev libxml2-dev
libcmocka-dev bats mandoc shellcheck jq
python3 python3-msgpack python3-numpy python3-pil miller imagemagick
tmux zsh fish bash-completion tzdata'

say() { printf 'deps: %s\n' "$1" >&2; }

# Debian has no package of Arrow's C++ libraries; the wheel of pyarrow has them, with their headers, and the tests use
# pyarrow itself. It goes into a folder of its own (ARROW_DIR), which the Makefile looks into. Without it dsvc is built
# without Parquet, so that a failure here is said and is none.
arrow() {
	local dir=${ARROW_DIR:-${XDG_CACHE_HOME:-${HOME-}/.cache}/dsvc/arrow}
	[[ ${ARROW-} == no || ${DEPS-} ]] && return
	PYTHONPATH=$dir PYTHONDONTWRITEBYTECODE=1 python3 -c 'import pyarrow.parquet' 2>/dev/null && return
	python3 -m pip --version >/dev/null 2>&1 ||
		{ [[ $(id -u) == 0 ]] && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3-pip; } </dev/null >/dev/null 2>&1
	say "getting pyarrow into $dir"
	mkdir -p "$dir" && python3 -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: --upgrade \
		--target "$dir" 'pyarrow>=21' 2>&1 | grep -v '^WARNING: Running pip as' >&2
	[[ -e $dir/pyarrow/include ]] || say 'pyarrow could not be had: Parquet is left out (ARROW=no leaves it out in silence)'
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	pkg-config --exists libzmq libczmq snappy sqlite3 simdjson libpcre2-8 \
		libarchive libisal libsodium nettle libmicrohttpd libjpeg libpng libwebp libcurl libxml-2.0 cmocka 2>/dev/null && { arrow; exit 0; }
	say "this is no Debian system: install what these packages hold: ${want//$'\n'/ }"
	exit 1
fi

# One call for all of them; names that dpkg does not know are simply absent.
# shellcheck disable=SC2086
have=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' ${want//|/ } 2>/dev/null) "
missing=()
for group in $want; do
	found=
	for name in ${group//|/ }; do
		[[ $have == *" $name:installed "* ]] && found=$name
	done
	[[ $found ]] || missing+=("$group")
done
((${#missing[@]})) || { arrow; exit 0; }

if [[ $(id -u) == 0 ]]; then
	root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
	root=(sudo)
else
	say "missing packages, and neither root nor sudo to install them: ${missing[*]}"
	say "ask someone who may: apt-get install ${missing[*]%%|*}"
	exit 1
fi

say "installing: ${missing[*]}"
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }
apt update || say 'the package lists could not be brought up to date, trying with those there are'
names=()
for group in "${missing[@]}"; do
	pick=${group%%|*}
	for name in ${group//|/ }; do
		apt-cache show "$name" >/dev/null 2>&1 && { pick=$name; break; }
	done
	names+=("$pick")
done
apt install -y --no-install-recommends "${names[@]}" >/dev/null || {
	say "cannot install: ${names[*]}"
	exit 1
}
arrow
