# SPDX-License-Identifier: MIT
# The yardsticks of the image rows: what trainers decode, cut and resize images with, on one
# core. Files are read before the clock runs.
# usage: images.py make FOLDER COUNT | images.py WAY TIMES FOLDER; prints its seconds.
import glob
import io
import math
import os
import random
import sys
import time

import numpy as np


def make(folder, count):
    """Photographs have edges, soft areas and noise; so have these, and about as many bytes."""
    from PIL import Image
    rng = np.random.default_rng(1)
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8))
        a = np.asarray(coarse.resize((500, 375), Image.BICUBIC)).astype(int) + rng.integers(-6, 7, (375, 500, 3))
        Image.fromarray(a.clip(0, 255).astype("uint8")).save(f"{folder}/{i:03}.jpg", quality=90)


def a_box(h, w):
    for _ in range(10):
        area, ratio = h * w * random.uniform(0.08, 1), math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        bw, bh = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if bw <= w and bh <= h:
            return random.randint(0, h - bh), random.randint(0, w - bw), bh, bw
    return 0, 0, h, w


def pillow(files, crop):
    from PIL import Image
    for f in files:
        im = Image.open(io.BytesIO(f)).convert("RGB")
        if crop:
            y, x, h, w = a_box(im.height, im.width)
            im = im.crop((x, y, x + w, y + h))
        np.asarray(im.resize((224, 224), Image.BILINEAR))


def opencv(files, _):
    import cv2
    cv2.setNumThreads(1)
    for f in files:
        im = cv2.imdecode(np.frombuffer(f, np.uint8), cv2.IMREAD_COLOR)
        cv2.resize(cv2.cvtColor(im, cv2.COLOR_BGR2RGB), (224, 224))


def tensorflow(files, crop):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    def whole(f):
        return tf.image.resize(tf.io.decode_jpeg(f, channels=3), [224, 224])

    def part(f):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(f), tf.zeros([1, 0, 4]), area_range=(0.08, 1), use_image_if_no_bounding_boxes=True)
        box = tf.stack([begin[0], begin[1], size[0], size[1]])
        return tf.image.resize(tf.io.decode_and_crop_jpeg(f, box, channels=3), [224, 224])

    data = tf.data.Dataset.from_tensor_slices(files).map(part if crop else whole)
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    for _ in data.with_options(options):
        pass


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
        return
    way, times, folder = sys.argv[1:]
    name, _, crop = way.partition("-")
    work = {"pillow": pillow, "opencv": opencv, "tensorflow": tensorflow}[name]
    files = []
    for path in sorted(glob.glob(folder + "/*.jpg")):
        with open(path, "rb") as f:
            files.append(f.read())
    work(files[:2], crop)  # imports and first traces are not counted
    start = time.perf_counter()
    work(files * int(times), crop)
    print(time.perf_counter() - start)


main()
