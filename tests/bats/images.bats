#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Images from files to batches: the stock pipelines over every source, through workers, and
# what a broken file says.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

root=$BATS_TEST_DIRNAME/../..
photos="$root/pipelines/data/train/*/*.jpg"

here() { cd "$BATS_TEST_TMPDIR" || return; }

# train FILE: the stock pipeline, with the source that one of its comments shows.
train() {
	sed "s/^files @images\$/$1/; /interleave/d; /^  | shuffle/d; /^  | repeat/d; /^  | prefetch/d" \
		"$root/pipelines/imagenet-train.dsvc" | sed '/^# test/,$d'
}

@test "the stock pipeline trains from files, tar and TFRecord" {
	here
	dsvc-run "whole $photos | enumerate | map {__key__: str(x[0]), jpg: x[1], cls: \"3\"}" -t tar >a.tar
	dsvc-run "whole $photos | map {\"image/encoded\": x, \"image/class/label\": 3}" -t tfrecord >a.tfrecord
	sources=$(sed -n 's/^#	//p' "$root/pipelines/imagenet-train.dsvc")
	[[ $(wc -l <<<"$sources") == 2 ]]
	while read -r source; do
		train "${source//\//\\/}" >t.dsvc
		dsvc-run -f t.dsvc --set images=a."$(cut -d' ' -f1 <<<"$source")" --set size=6 --set batch=4 -t msgpack >got
		run -0 dsvc-run 'msgpack got | map [dtype(.image), shape(.image), len(.label)]'
		[[ $output == '["f32",[4,6,6,3],4]' ]]
	done <<<"$sources"
}

@test "the same seed makes the same batches, here and on workers" {
	here
	spec="whole $photos | map resize(decode_image(x, random_box(image_size(x)), 3), [8, 8]) | map rand() < 0.5 ? flip(x, 1) : x"
	one=$(dsvc-run --seed 7 "$spec")
	[[ $(wc -l <<<"$one") == 4 ]]
	[[ $(dsvc-run --seed 7 "$spec") == "$one" ]]
	[[ $(dsvc-run --seed 8 "$spec") != "$one" ]]
	service 2
	run -0 dsvc-read -t count -e "$spec"
	[[ $output == 4 ]]
}

@test "a broken image is an error of its element, which names the file" {
	here
	set -- $photos
	head -c 500 "$1" >cut.jpg
	printf 'no image' >text.jpg
	run -65 dsvc-run 'whole cut.jpg | map decode_image(x)'
	[[ $output == *'cut.jpg: decode_image(): the jpeg is cut off' ]]
	run -65 dsvc-run 'whole text.jpg | map decode_image(x)'
	[[ $output == *'text.jpg: decode_image(): these bytes are not a jpeg, png or webp' ]]
	# its head says 60000 by 60000 pixels
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\352\140\0\0\352\140\010\002\0\0\0\0\0\0\0' >huge.png
	run -65 dsvc-run 'whole huge.png | map decode_image(x)'
	[[ $output == *'huge.png: decode_image(): an image 60000 high and 60000 wide takes too long to decode' ]]
	run -0 --separate-stderr dsvc-run "whole cut.jpg text.jpg $1 | map shape(decode_image(x)) on_error=skip"
	[[ $output == '[36,48,3]' ]]
}

@test "a broken image in an archive is told by its place there, and by its name while that is known" {
	here
	dsvc-run "whole $photos | enumerate | map {__key__: \"p/\" ++ str(x[0]), jpg: x[0] == 2 ? slice(x[1], 0, 300) : x[1], cls: \"3\"}" -t tar >a.tar
	run -65 dsvc-run 'tar a.tar | map decode_image(.jpg)'
	[[ $output == *'a.tar:5: operator 2 `map decode_image(.jpg)`: member p/2: decode_image(): the jpeg is cut off' ]]
	run -65 dsvc-run 'tar a.tar | map {image: .jpg} | map decode_image(.image)'
	[[ $output == *'a.tar:5: operator 3 `map decode_image(.image)`: decode_image(): the jpeg is cut off' ]]
	run -65 dsvc-run 'tar a.tar group=false | filter !contains(.name, "cls") | map decode_image(.data)'
	[[ $output == *'a.tar:5: operator 3 '* ]]
}

@test "tensors go into a pipe as their bytes, or as arrays" {
	[[ $(dsvc-run -t raw 'range 3 | map tensor([x, 256], "u16")' | od -An -tx1 | tr -d ' \n') == 000000010100000102000001 ]]
	[[ $(dsvc-run -t raw 'elements ["a", [1], 2]') == 'a[1]2' ]]
	PYTHON=${PYTHON:-python3}
	"$PYTHON" -c 'import numpy' 2>/dev/null || PYTHON=/usr/bin/python3
	run -0 bash -c "dsvc-run -t npy 'range 2 | map tensor([x, 7], \"u8\")' | $PYTHON -c '
import io, sys, numpy as np
b = io.BytesIO(sys.stdin.buffer.read())
print(np.load(b).tolist(), np.load(b).tolist())'"
	[[ $output == '[0, 7] [1, 7]' ]]
}

@test "a program that decodes nothing loads no library of images" {
	run -0 env LD_DEBUG=files dsvc-run 'range 1'
	[[ $output != *libjpeg* && $output != *libpng* && $output != *libwebp* ]]
	run -0 env LD_DEBUG=files dsvc-run "whole $photos | map image_size(x)"
	[[ $output != *libjpeg* ]]
	run -0 env LD_DEBUG=files dsvc-run "whole $photos | map shape(decode_image(x))"
	[[ $output == *libjpeg* && $output != *libpng* ]]
}
