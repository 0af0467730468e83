# SPDX-License-Identifier: MIT
"""Steps of a training loop beside what trainers use today.

usage: feed.py make FOLDER | feed.py WAY STEPS BYTES-or-FILE ARGUMENT...
Prints the seconds that STEPS steps took, from when the first had come; `memory` prints MiB."""
import os
import subprocess
import sys
import time


def make(folder):
    """Token rows as a tokenizer leaves them, and images, decoded."""
    import numpy as np
    rng = np.random.default_rng(1)
    np.save(folder + "/tokens.npy", rng.integers(0, 50000, (1000000, 128), dtype=np.int32))
    np.save(folder + "/pixels.npy", rng.integers(0, 256, (512, 224, 224, 3), dtype=np.uint8))


def ring(steps, spec, batch, prefetch="2", where="local"):
    import dsvc
    for _ in dsvc.feed(spec, batch=int(batch), prefetch=int(prefetch), local=where == "local", seed=1,
                       order="stable" if where == "local" else "any"):
        yield


def resume(steps, spec, file=""):
    """The first step from a service, from the start of the feed on; with a file, the one behind the position in it,
    which is made where there is none: behind so many steps."""
    import json
    import dsvc

    def state():
        with dsvc.feed(spec, batch=1, steps=steps, prefetch=64) as feed:
            for _ in feed:
                if feed.step == steps - 8:
                    return feed.state_dict()

    if file and not os.path.exists(file):
        with open(file, "w") as f:
            json.dump(state(), f)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        with dsvc.feed(spec, batch=1, steps=1) as feed:
            if file:
                with open(file) as f:
                    feed.load_state_dict(json.load(f))
            next(iter(feed))
            times.append(time.perf_counter() - begun)
    print(sorted(times)[2])


def memory(steps, spec, batch):
    """What both processes have grown by, in MiB, since the first steps."""
    import dsvc

    def resident():
        size = 0
        for pid in (os.getpid(), feed._link.pid):
            with open("/proc/%d/status" % pid) as f:
                fields = dict(line.split(":", 1) for line in f)
            size += int(fields["RssAnon"].split()[0])
        return size / 1024
    feed = dsvc.feed(spec, batch=int(batch), prefetch=16, local=True)
    for _ in feed:
        if feed.step == 1000:
            before = resident()
        if feed.step == steps:
            print(resident() - before)
            return


def pipe(steps, size):
    """Another process writes, and we read into the same array each time."""
    import numpy as np
    code = "import os\nb = bytes(%s)\nwhile True: os.write(1, b)" % size
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    a = np.empty(int(size), np.uint8)
    view = memoryview(a)
    try:
        while True:
            got = 0
            while got < a.nbytes:
                got += child.stdout.readinto(view[got:])
            yield
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def zmq(steps, size):
    """The same over ipc, without copies where pyzmq can do without."""
    import tempfile
    import numpy as np
    import zmq
    with tempfile.TemporaryDirectory() as folder:
        code = ("import sys, zmq\ns = zmq.Context().socket(zmq.PUSH)\ns.sndhwm = 4\ns.connect(sys.argv[1])\n"
                "b = bytes(%s)\nwhile True: s.send(b, copy=False)" % size)
        with zmq.Context() as context, context.socket(zmq.PULL) as s:
            s.rcvhwm, s.linger = 4, 0
            s.bind("ipc://%s/s" % folder)
            child = subprocess.Popen([sys.executable, "-c", code, "ipc://%s/s" % folder], stderr=subprocess.DEVNULL)
            try:
                while True:
                    np.frombuffer(s.recv(copy=False).buffer, np.uint8)
                    yield
            finally:
                child.kill()
                child.wait()


def memcpy(steps, size):
    """One copy of each step's bytes, over as much memory as the ring has."""
    import numpy as np
    source = np.ones((8, int(size)), np.uint8)
    to = np.ones((4, int(size)), np.uint8)
    k = 0
    while True:
        np.copyto(to[k % 4], source[k % 8])
        k += 1
        yield


def loader(steps, path, batch, workers):
    """A DataLoader over a mapped file."""
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset
    torch.set_num_threads(1)

    class Rows(Dataset):
        def __init__(self):
            self.rows = np.load(path, mmap_mode="r")

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, i):
            return torch.from_numpy(np.array(self.rows[i]))

    while True:
        yield from DataLoader(Rows(), batch_size=int(batch), num_workers=int(workers))


def photos(steps, folder, batch, workers):
    """A DataLoader over jpeg files, decoded and resized by Pillow."""
    import glob
    import numpy as np
    import torch
    from PIL import Image
    from torch.utils.data import DataLoader, Dataset
    torch.set_num_threads(1)

    class Photos(Dataset):
        def __init__(self):
            self.files = sorted(glob.glob(folder + "/*.jpg"))

        def __len__(self):
            return len(self.files) * 100

        def __getitem__(self, i):
            with Image.open(self.files[i % len(self.files)]) as f:
                image = f.convert("RGB").resize((224, 224), Image.BILINEAR)
            return torch.from_numpy(np.asarray(image, np.float32) / 255)

    yield from DataLoader(Photos(), batch_size=int(batch), num_workers=int(workers))


def small(steps, size):
    """A DataLoader with one worker that has its steps in memory."""
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Steps(IterableDataset):
        def __iter__(self):
            while True:
                yield torch.ones(int(size), dtype=torch.uint8)

    yield from DataLoader(Steps(), batch_size=None, num_workers=1)


def service(steps, path, batch):
    """Rows of a npy file by tf.data service, batched there."""
    import numpy as np
    import tensorflow as tf
    shape = np.load(path, mmap_mode="r").shape
    size = int(np.prod(shape[1:]))
    data = tf.data.FixedLengthRecordDataset(path, size, header_bytes=os.path.getsize(path) - size * shape[0])
    data = data.repeat().batch(int(batch))
    yield from served(data.map(lambda x: tf.reshape(tf.io.decode_raw(x, tf.uint8), (int(batch),) + shape[1:])))


def photos_service(steps, folder, batch):
    """jpeg files by tf.data service, decoded, resized and batched there."""
    import tensorflow as tf

    def image(path):
        return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [224, 224]) / 255

    files = tf.data.Dataset.list_files(folder + "/*.jpg").repeat()
    yield from served(files.map(image, num_parallel_calls=tf.data.AUTOTUNE).batch(int(batch)))


def served(data):
    """Elements of a dataset by tf.data service with two workers; each is a process, as ours are."""
    import peers
    import tensorflow as tf
    dispatcher, address = peers.server("d")
    workers = [peers.server("w", address)[0] for _ in range(2)]
    try:
        data = data.apply(tf.data.experimental.service.distribute("parallel_epochs", "grpc://" + address))
        for _ in data.as_numpy_iterator():
            yield
    finally:
        for p in [*workers, dispatcher]:
            p.kill()


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2])
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    way, steps, *arguments = sys.argv[1:]
    times = 50 if way == "small" else 1  # it is so slow that a part of the steps must do
    steps = int(steps) // times
    if way in ("memory", "resume"):
        globals()[way](steps, *arguments)
        return
    each = globals()[way](steps, *arguments)
    for _ in range(8):  # prefetched steps and first touches are not counted
        next(each)
    start = time.perf_counter()
    for _ in range(steps):
        next(each)
    print(times * (time.perf_counter() - start), flush=True)
    each.close()
    if "service" in way:
        os._exit(0)  # its threads look for the dispatcher for ever otherwise


if __name__ == "__main__":
    main()
