# SPDX-License-Identifier: MIT
# dsvc-feed and the Python module beside what trainers use. FEED_PYTHON names a python that has numpy, and
# perhaps pyzmq, torch and TensorFlow (or TF_PYTHON one for that); without, they are installed for this run. Rows of
# what it has not are left out.
# shellcheck shell=bash disable=SC2154,SC2034

# feed_way PYTHON WAY STEPS ARGUMENT...: the seconds of so many steps.
feed_way() { local python=$1; shift; DSVC_BIN=$bin PYTHONPATH=$here/../python own "$python" "$here/feed.py" "$@"; }

# feed_row NAME WANTED MODULE AMOUNT UNIT OURS THEIRS: the last two are lists of words for feed_way, one each.
feed_row() {
	local name=$1 wanted=$2 module=$3 amount=$4 unit=$5 mine=$6 yours=$7 python=$feed_python
	[[ $module == tensorflow ]] && python=${TF_PYTHON:-$python}
	"$python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$module'))" ||
		{ printf '%-44s there is no %s here\n' "$name" "$module"; return; }
	IFS='~' read -ra mine <<<"$mine"
	IFS='~' read -ra yours <<<"$yours"
	ours() { feed_way "$feed_python" "${mine[@]}"; }
	theirs() { feed_way "$python" "${yours[@]}"; }
	row "$name" "$wanted" "$amount" "$unit" ours theirs
}

# row_photos FOLDER: jpeg files to batches in a trainer, while a service of two workers is there.
row_photos() {
	local photos="whole '$1/*.jpg' | repeat | map cast(resize(decode_image(x, 3), [224, 224]), \"f32\") / 255.0"
	"$feed_python" -c 'import PIL' 2> "$work/err" || { echo 'jpeg files: there is no PIL here'; return; }
	[ -s "$1/199.jpg" ] || "$feed_python" "$here/images.py" make "$1" 200
	feed_row 'jpeg files, 2 workers; DataLoader, Pillow, 2' 3 torch 1280 'img/s' \
		"ring~40~$photos~32~2~service" "photos~40~$1~32~2"
	feed_row '  the same; tf.data service, 2 workers' 1.3 tensorflow 1280 'img/s' \
		"ring~40~$photos~32~2~service" "photos_service~40~$1~32"
}

# cores_row NAME WANTED TIMES OPTION...: what four cores get together, each step TIMES, beside what one core gets. The
# cores are in C: four Pythons and the feed would measure how they share fewer processors than any host of four ranks has.
cores_row() {
	local name=$1 wanted=$2 times=$3
	shift 3
	local options=("$@")
	cores() { own "${calmly[@]}" "$bin/dsvc-feed" -q --local -n "$1" --steps 2008 "${options[@]}" -- "$yard/cores"; }
	ours() { cores 4 && S=$(awk -v s="$S" -v t="$times" 'BEGIN { print s / t }'); }
	theirs() { cores 1; }
	row "$name" "$wanted" 9633.8 MB/s ours theirs
}

row_feed() {
	local feed_python=${FEED_PYTHON-} files=$data/feed n
	feed_python=${feed_python:-$(bench_python numpy pyzmq Pillow torch tensorflow-cpu)}
	"$feed_python" -c 'import numpy' 2> "$work/err" || { echo 'feed: FEED_PYTHON names no python that has numpy'; return; }
	[ -s "$files/pixels.npy" ] || { mkdir -p "$files" && "$feed_python" "$here/feed.py" make "$files"; }
	local images="npy $files/pixels.npy" tokens="npy $files/tokens.npy"
	local big="ring~1000~$images | take 64 | cache | repeat~32" little="ring~50000~$tokens | take 65536 | cache | repeat~64~16"
	feed_row 'steps of 4.8 MB, ring to numpy; pipe' 3 numpy 4816.9 MB/s "$big" 'pipe~1000~4816896'
	feed_row '  the same; pyzmq, ipc' 1.6 zmq 4816.9 MB/s "$big" 'zmq~1000~4816896'
	feed_row '  the same; one memcpy' 0.85 numpy 4816.9 MB/s "$big" 'memcpy~1000~4816896'
	feed_row 'steps of 32 KiB, --prefetch 16; pipe' 1.3 numpy 50 'k/s' "$little" 'pipe~50000~32768'
	feed_row '  the same; DataLoader, 1 worker' 40 torch 50 'k/s' "$little" 'small~50000~32768'
	ours() { feed_way "$feed_python" ring 50000 "$tokens | take 65536 | cache | repeat" 64 16; }
	floor_row '  the same, floor: 15 us each' 66 50 'k/s' ours
	feed_row 'npy images, batch 32; DataLoader, 0 workers' 1.6 torch 400 steps/s \
		"ring~400~$images | repeat~32" "loader~400~$files/pixels.npy~32~0"
	feed_row '  the same; DataLoader, 2 workers' 4 torch 400 steps/s \
		"ring~400~$images | repeat~32" "loader~400~$files/pixels.npy~32~2"
	feed_row 'npy tokens, batch 64; DataLoader, 0 workers' 12 torch 10 k/s \
		"ring~10000~$tokens | repeat~64~16" "loader~10000~$files/tokens.npy~64~0"
	feed_row '  the same; DataLoader, 2 workers' 50 torch 10 k/s \
		"ring~10000~$tokens | repeat~64~16" "loader~10000~$files/tokens.npy~64~2"
	up 2 1
	feed_row 'npy images, 2 workers; tf.data service' 3 tensorflow 200 steps/s \
		"ring~200~$images | repeat~32~2~service" "service~200~$files/pixels.npy~32"
	row_photos "$data/images-500"
	feed_row 'resume at step 10^6; the first step' 0.5 numpy 1 /s "resume~1000000~$tokens~$work/state" "resume~1000000~$tokens"
	down
	cores_row 'bytes to 4 cores of one host; to one core' 0.9 1 --batch 32 -e "$images | take 64 | cache | repeat"
	cores_row '  the same, all of them to each' 3 4 --element copy -e "$images | take 64 | batch 32 | cache | repeat"
	ours() { seconds "$bin/dsvc-feed" -q --local -n 4 --batch 4 --as ndjson -e 'range 1' -- cat; }
	theirs() { seconds bash -c 'for i in 1 2 3 4; do cat <<< "[0]" & done; wait'; }
	extra 'start to end of 4 cores, beyond 4 processes' 10 ours theirs
	at_most 'memory: 10^6 steps beside 10^3' 4 \
		"$(DSVC_BIN=$bin PYTHONPATH=$here/../python "$feed_python" "$here/feed.py" memory 1000000 "$tokens | take 4096 | cache | repeat" 1)" MiB
}
