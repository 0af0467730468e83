# SPDX-License-Identifier: MIT
"""Images against Pillow: files of many kinds decoded, boxes of them, orientations, other sizes,
and files that are damaged."""
import io

import arrays
import mp
from harness import check

FILES = 40
METHODS = {"bilinear": 2, "bicubic": 3, "area": 4, "nearest": 0}  # Pillow's numbers


def pixels(r, np, h, w, channels):
    """Patches of colour and some noise: what codecs and filters have to do with."""
    rng = np.random.default_rng(r.getrandbits(32))
    coarse = rng.integers(0, 256, (h // 7 + 1, w // 5 + 1, channels))
    a = np.kron(coarse, np.ones((7, 5, 1), int))[:h, :w] + rng.integers(-30, 31, (h, w, channels))
    return a.clip(0, 255).astype("uint8")


def a_picture(r, np, mode=None, most=90):
    from PIL import Image
    mode = mode or r.choice(("L", "RGB", "RGB", "RGBA", "P", "1", "CMYK"))
    h, w = r.randint(1, most), r.randint(1, most)
    source = {"P": "RGB", "1": "L"}.get(mode, mode)
    a = pixels(r, np, h, w, {"L": 1, "RGB": 3}.get(source, 4))
    return Image.fromarray(a[:, :, 0] if a.shape[2] == 1 else a, source).convert(mode)


def a_file(r, im, exif=None):
    """The bytes of a picture in a format that can hold it."""
    formats = {"CMYK": ["JPEG"], "RGBA": ["PNG", "WEBP"], "P": ["PNG"], "1": ["PNG"]}
    form = r.choice(formats.get(im.mode, ["JPEG", "JPEG", "PNG", "WEBP"]))
    options = {}
    if form == "JPEG":
        options = {"quality": r.choice((30, 75, 90, 100)), "progressive": r.random() < 0.3, "subsampling": r.choice((0, 1, 2))}
    if form == "WEBP":
        options = {"quality": r.choice((50, 90)), "lossless": r.random() < 0.3}
    out = io.BytesIO()
    im.save(out, form, **options, **({"exif": exif} if exif else {}))
    return out.getvalue()


def opened(np, data, mode="RGB"):
    from PIL import Image
    im = Image.open(io.BytesIO(data))
    if mode == "L":
        im.draft("L", im.size)  # the grey that is in a jpeg, not one made of its colours
    a = np.asarray(im.convert(mode))
    return a[:, :, None] if a.ndim == 2 else a


def ask(t, np, spec, records):
    return [x if x is None else arrays.as_array(np, x) for x in t.values("stdin msgpack | map " + spec, b"".join(mp.pack(x) for x in records))]


def near(t, np, got, want, most, what):
    """Pixels that differ by `most` at most."""
    t.same(len(got), len(want), what)
    for i, (g, w) in enumerate(zip(got, want)):
        if g is None or g.shape != w.shape:
            t.same([f"{i}: {None if g is None else g.shape}"], [f"{i}: {w.shape}"], what)
        off = int(np.abs(g.astype(int) - w).max())
        if off > most:
            at = np.unravel_index(np.abs(g.astype(int) - w).argmax(), w.shape)
            t.same([f"{i}: {w.shape} at {at}: {g[at]}"], [f"{i}: {w.shape} at {at}: {w[at]}"], what)
    t.compared += len(got)


@check("numpy", "PIL")
def images_decoded(t):
    import numpy as np
    files = [a_file(t.rng, a_picture(t.rng, np)) for _ in range(FILES)]
    near(t, np, ask(t, np, "decode_image(x, 3)", files), [opened(np, f) for f in files], 1, "decode_image")
    sizes = t.values("stdin msgpack | map image_size(x)[:2]", b"".join(mp.pack(f) for f in files))
    t.same(sizes, [list(opened(np, f).shape[:2]) for f in files], "image_size")
    clear = [a_file(t.rng, a_picture(t.rng, np, t.rng.choice(("RGBA", "RGB", "L")))) for _ in range(FILES)]
    near(t, np, ask(t, np, "decode_image(x, 4)", clear), [opened(np, f, "RGBA") for f in clear], 1, "with alpha")
    grey = [a_file(t.rng, a_picture(t.rng, np, t.rng.choice(("L", "RGB")))) for _ in range(FILES)]
    near(t, np, ask(t, np, "decode_image(x, 1)", grey), [opened(np, f, "L") for f in grey], 2, "grey")


@check("numpy", "PIL")
def images_boxes(t):
    import numpy as np
    files = [a_file(t.rng, a_picture(t.rng, np, most=200)) for _ in range(FILES)]
    records, want = [], []
    for f in files:
        whole = opened(np, f)
        h, w = (t.rng.randint(1, n) for n in whole.shape[:2])
        y, x = t.rng.randint(0, whole.shape[0] - h), t.rng.randint(0, whole.shape[1] - w)
        records.append({"x": f, "b": [y, x, h, w]})
        want.append(whole[y:y + h, x:x + w])
    near(t, np, ask(t, np, "decode_image(.x, .b, 3)", records), want, 1, "boxes")
    whole = ask(t, np, "crop(decode_image(.x, 3), .b)", records)
    near(t, np, ask(t, np, "decode_image(.x, .b, 3)", records), whole, 0, "boxes of the whole")


@check("numpy", "PIL")
def images_upright(t):
    import numpy as np
    from PIL import Image, ImageOps
    records, want = [], []
    for i in range(FILES):
        exif = Image.Exif()
        exif[0x0112] = i % 8 + 1
        f = a_file(t.rng, a_picture(t.rng, np, "RGB"), exif.tobytes())
        up = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(f))).convert("RGB"))
        h, w = (t.rng.randint(1, n) for n in up.shape[:2])
        y, x = t.rng.randint(0, up.shape[0] - h), t.rng.randint(0, up.shape[1] - w)
        records.append({"x": f, "b": [y, x, h, w]})
        want.append(up)
    near(t, np, ask(t, np, 'decode_image(.x, 3, "upright")', records), want, 1, "upright")
    near(t, np, ask(t, np, 'decode_image(.x, .b, 3, "upright")', records),
         [a[y:y + h, x:x + w] for a, (y, x, h, w) in ((a, r["b"]) for a, r in zip(want, records))], 1, "boxes of upright ones")


@check("numpy", "PIL")
def images_resized(t):
    import numpy as np
    from PIL import Image
    for method, number in METHODS.items():
        records, want = [], []
        for _ in range(FILES):
            r = t.rng
            a = pixels(r, np, r.randint(1, 120), r.randint(1, 120), r.choice((1, 3, 4)))
            size = [r.choice((r.randint(1, 40), r.randint(1, 300), n)) for n in a.shape[:2]]
            bands = [np.asarray(Image.fromarray(a[:, :, c]).resize(size[::-1], number)) for c in range(a.shape[2])]
            records.append({"t": a, "size": size})
            want.append(np.stack(bands, 2))
        packed = b"".join(b"\x82" + mp.pack("t") + arrays.tensor(x["t"]) + mp.pack("size") + mp.pack(x["size"]) for x in records)
        got = t.values(f'stdin msgpack | map resize(.t, .size, "{method}")', packed)
        near(t, np, [arrays.as_array(np, g) for g in got], want, 0, method)


@check("numpy", "PIL")
def images_of_numbers_resized(t):
    import numpy as np
    from PIL import Image
    for method, number in METHODS.items():
        for dtype in "float32", "int32":
            records, want = [], []
            for _ in range(FILES // 2):
                r = t.rng
                a = (pixels(r, np, r.randint(1, 90), r.randint(1, 90), 1)[:, :, 0].astype(dtype) * 37 - 4000)
                size = [r.randint(1, 120), r.randint(1, 120)]
                records.append({"t": a, "size": size})
                want.append(np.asarray(Image.fromarray(a).resize(size[::-1], number)))
            packed = b"".join(b"\x82" + mp.pack("t") + arrays.tensor(x["t"]) + mp.pack("size") + mp.pack(x["size"]) for x in records)
            got = t.values(f'stdin msgpack | map resize(.t, .size, "{method}")', packed)
            near(t, np, [arrays.as_array(np, g) for g in got], want, 1, method + " " + dtype)


@check("numpy", "PIL")
def images_encoded(t):
    import numpy as np
    tensors = [pixels(t.rng, np, t.rng.randint(1, 60), t.rng.randint(1, 60), t.rng.choice((1, 3, 4))) for _ in range(FILES)]
    packed = b"".join(arrays.tensor(a) for a in tensors)
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    for form, loss in (("png", 0), ("webp", 255), ("jpeg", 255)):
        files = t.values(f'stdin msgpack | map encode_image(x, "{form}") ?? null', packed)
        for f, a in zip(files, tensors):
            t.same(f is None, form == "jpeg" and a.shape[2] == 4, form)
            if f is not None:
                near(t, np, [opened(np, f, modes[a.shape[2]])], [a], loss, form)


@check("numpy", "PIL")
def images_damaged(t):
    """Cut files are errors, and bytes that changed are errors or another image."""
    import numpy as np
    cut, changed = [], []
    for _ in range(FILES):
        f = a_file(t.rng, a_picture(t.rng, np))
        cut.append(f[:t.rng.randint(0, len(f) * 3 // 4)])
        g = bytearray(f)
        for _ in range(t.rng.randint(1, 5)):
            g[t.rng.randrange(len(g))] = t.rng.getrandbits(8)
        changed.append(bytes(g))
    t.same(t.values("stdin msgpack | map decode_image(x, 3) ?? null", b"".join(mp.pack(f) for f in cut)), [None] * FILES, "cut off")
    got = t.values("stdin msgpack | map shape(decode_image(x, 3))[2] ?? 3", b"".join(mp.pack(f) for f in changed))
    t.same(got, [3] * FILES, "changed")
    t.same(t.values("stdin msgpack | map len(image_size(x)) ?? 3", b"".join(mp.pack(f) for f in changed)), [3] * FILES, "changed: sizes")
