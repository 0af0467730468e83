#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# packaging/: the recipes are well formed, of this version, and need what tools/deps.sh installs.

load ../bats/lib/dsvc

top=$BATS_TEST_DIRNAME/../..
conda=$top/packaging/conda/recipe.yaml
brew=$top/packaging/homebrew/dsvc.rb

setup() {
	dsvc_setup
	type -P ruby >/dev/null || skip 'needs ruby'
}

# FILE: the Debian packages of its dependencies, by the comments beside them.
debian() { sed -nE 's/^ *(- |depends_on ).* # ([a-z0-9.+-]+)$/\2/p' "$1" | sort; }

@test "they are well formed, and of this version" {
	run -0 ruby -c "$brew"
	run -0 ruby -ryaml -e 'puts YAML.load_file(ARGV[0])["context"]["version"]' "$conda"
	[[ $output == "$(<"$top/VERSION")" ]]
	grep -q "^  version \"$(<"$top/VERSION")\"\$" "$brew"
	grep -q "/dsvc-$(<"$top/VERSION").tar.gz\"\$" "$brew"
}

@test "they need what tools/deps.sh installs, and what stands in debian/control" {
	local file libraries
	libraries=$(sed -n "/^\[\[ \$want \]\] ||/,/'\$/p" "$top/tools/deps.sh" | grep -oE '[a-z0-9.+|-]+-dev[a-z0-9.+|-]*' |
		sed 's/|.*//' | grep -v cmocka | sort)
	[[ $(wc -l <<<"$libraries") -ge 17 ]]
	for file in "$conda" "$brew"; do
		diff <(debian "$file" | grep -e -dev) - <<<"$libraries"
		grep -q '# pkg-config$' "$file"
	done
	# each of them once in the package's own list
	diff <(sed -n '/^Build-Depends/,/^[A-Z].*Version/p' "$top/debian/control" | tr -d '\n' | tr ',' '\n' |
		grep -oE '[a-z0-9.+-]+-dev' | sed 's/^libjpeg-dev/libjpeg62-turbo-dev/' |
		grep -vE 'cmocka|libmsgpack-c-dev|gnutls' | sort) - <<<"$libraries"
	# what is loaded late is there when the programs run
	for file in czmq libjpeg-turbo libpng libwebp-base libcurl libxml2; do
		sed -n '/^  run:/,/^[a-z]/p' "$conda" | grep -q -- "- $file\$"
	done
}

@test "where the archive is published, its address and its sum are told" {
	cd "$BATS_TEST_TMPDIR" || return
	local version sum
	version=$(<"$top/VERSION")
	mkdir -p build
	run -66 env B="$PWD/build" bash "$top/tools/recipes.sh" https://example.org/a
	echo archive >"build/dsvc-$version.tar.gz"
	sum=$(sha256sum <"build/dsvc-$version.tar.gz") sum=${sum%% *}
	run -0 env B="$PWD/build" bash "$top/tools/recipes.sh" "https://example.org/a&b/dsvc-$version.tar.gz"
	run -0 ruby -ryaml -e 's = YAML.load_file(ARGV[0])["source"]; puts s["url"], s["sha256"]' build/recipes/recipe.yaml
	[[ $output == "https://example.org/a&b/dsvc-$version.tar.gz"$'\n'"$sum" ]]
	run -0 ruby -c build/recipes/dsvc.rb
	grep -qF "sha256 \"$sum\"" build/recipes/dsvc.rb
}
