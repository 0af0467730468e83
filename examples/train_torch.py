#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same as train.py with torch: DistributedDataParallel, on any number of ranks.

    dsvc-feed --local -n 2 --batch 64 --epochs 3 --seed 1 --loop 10 -e "$(cat SPEC)" -- train_torch.py CHECKPOINT

torchrun starts ranks just as well, with DSVC_FEED naming the socket of a dsvc-feed (--listen)."""
import os
import sys

import dsvc
import torch
import torch.distributed as dist


def main(path):
    feed = dsvc.feed(as_torch=True, pin=torch.cuda.is_available())
    device = "cuda:%s" % os.environ["LOCAL_RANK"] if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=4)
    if os.path.exists(path):
        saved = torch.load(path, map_location=device)
        model.load_state_dict(saved["model"])
        feed.load_state_dict(saved["feed"])
    if "MASTER_ADDR" not in os.environ:  # not under torchrun: the ranks meet at a file, and all are on this host
        where = "file://%s.%d" % (os.path.abspath(path), os.getppid())
        dist.init_process_group("gloo", where, rank=feed.rank, world_size=feed.world)
    else:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    train = torch.nn.parallel.DistributedDataParallel(model)
    right = rows = 0
    for loop in feed.loops():
        for batch in loop:
            x, y = (batch[name].to(device, non_blocking=True) for name in ("x", "y"))
            real = torch.arange(batch.rows, device=device) < batch.valid
            score = train(x)[:, 0]
            n = torch.tensor(float(batch.valid))
            dist.all_reduce(n)  # the padding of the last step counts for nothing
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, y.float(), reduction="none")
            optimizer.zero_grad()
            ((loss * real).sum() * feed.world / n.to(device)).backward()
            optimizer.step()
            right += int((((score > 0) == y.bool()) & real).sum())
            rows += batch.valid
        if feed.rank == 0:
            torch.save({"model": model.state_dict(), "feed": feed.state_dict()}, path + ".new")
            os.replace(path + ".new", path)
    if feed.rank == 0:
        print("%.1f%% right, model %s" % (100 * right / max(rows, 1), torch.nn.utils.parameters_to_vector(model.parameters()).tolist()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
