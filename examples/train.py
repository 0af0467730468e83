#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small model with numpy, on any number of ranks, and goes on where it was after being killed.

    dsvc-feed --local -n 2 --batch 64 --epochs 3 --seed 1 --loop 10 -e "$(cat SPEC)" -- train.py CHECKPOINT

SPEC gives records {x, y}: a tensor of numbers, and 0 or 1. Each rank computes the gradient of its rows of a step;
the sum of all is the step. The checkpoint holds the model and the position in the data, so that each row counts
once, whenever a rank is killed and with however many ranks it is begun again."""
import json
import os
import sys
import time
from multiprocessing.connection import Client, Listener

import dsvc
import numpy as np


class Ranks:
    """Sums over all ranks, by way of rank 0. Frameworks have their own."""

    def __init__(self, rank, world, path):
        if rank == 0:
            if os.path.exists(path):
                os.unlink(path)  # of a run that was killed
            with Listener(path, backlog=world) as door:
                self.links = sorted((door.accept() for _ in range(world - 1)), key=lambda link: link.recv())
        else:
            self.links = [self.come(path)]
            self.links[0].send(rank)
        self.first = rank == 0

    @staticmethod
    def come(path):
        while True:
            try:
                return Client(path)
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.01)  # rank 0 is not yet so far

    def sum(self, a):
        if self.first:
            for link in self.links:
                a = a + link.recv()
        for link in self.links:
            link.send(a)
        return a if self.first else self.links[0].recv()


def gradient(model, batch):
    """Of the real rows: its sum, their number, and how many the model has right."""
    x = np.hstack([batch["x"], np.ones((batch.rows, 1))])[:batch.valid]
    y = batch["y"][:batch.valid]
    p = 1 / (1 + np.exp(-x @ model))
    return np.concatenate([x.T @ (p - y), [len(y), ((p > 0.5) == y).sum()]])


def main(path):
    feed = dsvc.feed()
    model, right, rows = None, 0, 0
    if os.path.exists(path):
        with open(path) as f:
            saved = json.load(f)
        feed.load_state_dict(saved["feed"])
        model, right, rows = np.array(saved["model"]), saved["right"], saved["rows"]
    ranks = Ranks(feed.rank, feed.world, path + ".socket")
    for loop in feed.loops():
        for batch in loop:
            if model is None:
                model = np.zeros(batch["x"].shape[1] + 1)
            *slope, n, ok = ranks.sum(gradient(model, batch))
            model, right, rows = model - 4 * np.array(slope) / n, right + int(ok), rows + int(n)
        if feed.rank == 0:
            with open(path + ".new", "w") as f:
                json.dump({"model": model.tolist(), "right": right, "rows": rows, "feed": feed.state_dict()}, f)
            os.replace(path + ".new", path)
    if feed.rank == 0:
        print("%d rows, %.1f%% right, model %s" % (rows, 100 * right / rows, np.round(model, 9).tolist()))


if __name__ == "__main__":
    main(sys.argv[1])
