# SPDX-License-Identifier: MIT
# Images beside the libraries that trainers use, on one core, with files in memory. IMAGE_PYTHON names a python that has
# numpy, Pillow, and perhaps OpenCV and TensorFlow; without, they are installed for this run. Rows of what it has not
# are left out.
# shellcheck shell=bash disable=SC2154,SC2034

# image_row WAY MODULE NAME WANTED SPEC: ours is the whole process, so there are enough images to make little of its
# start, which theirs leave out.
image_row() {
	local way=$1 module=$2 name=$3 wanted=$4 spec=$5 times=18
	"$image_python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$module'))" ||
		{ printf '%-44s there is no %s here\n' "$name" "$module"; return; }
	ours() { seconds "${calmly[@]}" taskset -c 0 "$bin/dsvc-run" -t count "whole '$image_files/*.jpg' | cache | repeat $times | $spec"; }
	theirs() { own "${calmly[@]}" taskset -c 0 "$image_python" "$here/images.py" "$way" $times "$image_files"; }
	row "$name" "$wanted" $((times * 200)) 'img/s' ours theirs
}

row_images() {
	local image_python=${IMAGE_PYTHON-} image_files=$data/images-500
	image_python=${image_python:-$(bench_python numpy Pillow opencv-python-headless tensorflow-cpu)}
	local whole='map resize(decode_image(x, 3), [224, 224])'
	local part='map resize(decode_image(x, random_box(image_size(x)), 3), [224, 224])'
	"$image_python" -c 'import numpy, PIL' 2> "$work/err" || { echo 'images: IMAGE_PYTHON names no python that has numpy and Pillow'; return; }
	[ -s "$image_files/199.jpg" ] || "$image_python" "$here/images.py" make "$image_files" 200
	image_row pillow PIL 'jpeg 500x375 to 224x224, one core; Pillow' 2.5 "$whole"
	image_row opencv cv2 '  the same; OpenCV' 1 "$whole"
	image_row tensorflow tensorflow '  the same; tf.data, decode_jpeg, resize' 1.15 "$whole"
	image_row pillow-crop PIL 'random resized crop of it; Pillow' 2.5 "$part"
	image_row tensorflow-crop tensorflow '  the same; tf.data, decode_and_crop_jpeg' 1.3 "$part"
}
