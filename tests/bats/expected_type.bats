#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What a reader expects of the elements: --type, and type= of `dataset`.

load lib/dsvc

@test "--type is checked before anything runs, and may be wider" {
	service 1
	cd "$BATS_TEST_TMPDIR"
	local type
	dsvc-register --id pairs 'range 3 | map {id: x, name: str(x)}'
	for type in any '{id: int, name: text}' '{id: int, ...}' '{id: any, name: text?}?'; do
		run -0 dsvc-read -q --order source --type "$type" -t ndjson pairs
		[[ ${lines[2]} == '{"id":2,"name":"2"}' ]]
		run -0 dsvc-read -q --order source -e "dataset pairs type='$type' | map str(x)"
		[[ ${#lines[@]} == 3 ]]
	done
	for type in int '{id: text, ...}' '{id: int}' '[any]'; do
		run -65 dsvc-read --type "$type" -o out pairs
		[[ $output == *"--type $type, but the elements are {id: int, name: text}"*"any fits all"* && ! -e out ]]
		run -65 dsvc-read -e "dataset pairs type='$type'"
		[[ $output == *"type=$type, but the elements are {id: int, name: text}"* ]]
	done
	run -65 dsvc-read --type 'int' -e 'range 3 | distribute | map x / 2'
	[[ $output == *"but the elements are float"* ]]
	run -0 dsvc-read --type text -e 'dataset pairs type={id:int,...} | map str(x.id)'
	run -64 dsvc-read --type nothing pairs
	[[ $output == *"--type: a type expected at 'nothing'"* ]]
	run -65 dsvc-read -e 'dataset pairs type=nothing'
	# No job was made for the one that was refused.
	run -0 dsvc-read -q -J late --type any pairs
	run -65 dsvc-read -J never --type int pairs
	run -0 dsvc-status --json
	[[ $output == *'"late"'* && $output != *'"never"'* ]]
}

@test "type= of dataset is the type where there is no service to ask" {
	run -65 dsvc-register --check 'dataset far type=text | map x + 1'
	[[ $output == *text* ]]
}
