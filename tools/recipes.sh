#!/bin/bash
# SPDX-License-Identifier: MIT
# recipes.sh ADDRESS: the recipes of packaging/ in $B/recipes, for what make dist has packed and is published at ADDRESS.
set -eu
cd "$(dirname "$0")/.."
(($# == 1)) || { echo 'recipes.sh ADDRESS, where the archive of make dist is published' >&2; exit 64; }
archive=$B/dsvc-$(<VERSION).tar.gz
[[ -e $archive ]] || { echo "recipes.sh: there is no $archive: make dist makes it" >&2; exit 66; }
sum=$(sha256sum <"$archive")
mkdir -p "$B/recipes"
address=${1//&/\\&}
sed "s,^  path: .*,  url: ${address//,/%2C}\n  sha256: ${sum%% *}," packaging/conda/recipe.yaml >"$B/recipes/recipe.yaml"
sed "s,^  url .*,  url \"${address//,/%2C}\"\n  sha256 \"${sum%% *}\"," packaging/homebrew/dsvc.rb >"$B/recipes/dsvc.rb"
ls "$B"/recipes/*
