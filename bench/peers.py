# SPDX-License-Identifier: MIT
"""The first rows of `make bench` as a user of tf.data service or Ray Data writes them.

usage: peers.py tf squares|squares_batched|mib FILE_1MIB | peers.py ray FILE_1MIB
Prints lines `NAME RATE`, elements per second (or bytes per second for 1 MiB elements).
Dispatcher and worker are processes of their own, as ours are.
"""
import subprocess
import sys
import time

SERVER = """
import sys, tensorflow as tf
s = tf.data.experimental.service
if sys.argv[1] == "d":
    d = s.DispatchServer(s.DispatcherConfig(port=0))
    print(d.target.split("://")[1], flush=True)
    d.join()
else:
    w = s.WorkerServer(s.WorkerConfig(dispatcher_address=sys.argv[2], port=0))
    print("ready", flush=True)
    w.join()
"""


def server(*args):
    p = subprocess.Popen([sys.executable, "-c", SERVER, *args], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    return p, p.stdout.readline().strip()


def rate(dataset, n):
    """Elements per second over n of them, after the first has come."""
    it = iter(dataset)
    next(it)
    t0 = time.monotonic()
    seen = 0
    for _ in it:
        seen += 1
        if seen == n:
            break
    return seen / (time.monotonic() - t0)


def run_tf(what, one):
    import os
    import tensorflow as tf
    service = tf.data.experimental.service
    squares = tf.data.Dataset.range(50_000_000).map(lambda x: x * x)
    # dataset, elements to time, what one element stands for
    dataset, n, unit = {
        "squares": (squares, 10_000, 1),
        # the remedy that its users are given: batch first, then map whole batches
        "squares_batched": (tf.data.Dataset.range(50_000_000).batch(1000).map(lambda x: x * x), 3_000, 1000),
        "mib": (tf.data.Dataset.from_tensors(one).repeat(4000).map(tf.io.read_file), 1_000, 1 << 20),
    }[what]
    dispatcher, address = server("d")
    worker, _ = server("w", address)
    # With one worker this is every element once, and spares a request per split: its best.
    through = dataset.apply(service.distribute("parallel_epochs", "grpc://" + address))
    print("tf_" + what, unit * rate(through, n), flush=True)
    worker.kill()
    dispatcher.kill()
    os._exit(0)  # its threads look for the dispatcher for ever otherwise


def run_ray(one):
    import numpy as np
    import ray
    ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    n = 1_000_000
    ds = ray.data.range(n).map(lambda r: {"id": r["id"] * r["id"]})
    t0 = time.monotonic()
    count = sum(1 for _ in ds.iter_rows())
    print("ray_squares", count / (time.monotonic() - t0), flush=True)
    n = 20_000_000
    ds = ray.data.range(n).map_batches(lambda b: {"id": b["id"] * b["id"]})
    t0 = time.monotonic()
    count = sum(len(b["id"]) for b in ds.iter_batches(batch_size=1000))
    print("ray_squares_batched", count / (time.monotonic() - t0), flush=True)
    data = np.frombuffer(open(one, "rb").read(), np.uint8)
    ds = ray.data.range(500).map(lambda r: {"x": data})
    t0 = time.monotonic()
    count = sum(1 for _ in ds.iter_rows())
    print("ray_mib", count * (1 << 20) / (time.monotonic() - t0), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "ray":
        run_ray(sys.argv[2])
    else:
        run_tf(*sys.argv[2:])
