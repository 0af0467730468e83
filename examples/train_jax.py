#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same as train.py with JAX: one process a host, whose devices share the host's rows of a step.

    dsvc-feed --local --batch 64 --tail drop --epochs 3 --seed 1 -e "$(cat SPEC)" -- train_jax.py

Nothing of dsvc is needed for it: an array of a batch is what JAX wants of each process."""
import dsvc
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


@jax.jit
def step(model, x, y):
    def loss(model):
        score = x @ model[:2] + model[2]
        return jnp.mean(jnp.logaddexp(0, score) - y * score), jnp.mean((score > 0) == y)
    slope, right = jax.grad(loss, has_aux=True)(model)
    return model - 4 * slope, right


def main():
    rows = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
    model, right = jnp.zeros(3), []
    for epoch in dsvc.feed().epochs():
        for batch in epoch:
            # A device of the CPU may take the memory of an array as its own; that of a step is lent.
            x, y = (jax.make_array_from_process_local_data(rows, np.array(batch[name])) for name in ("x", "y"))
            model, ok = step(model, x, y)
            right.append(ok)
    print("%.1f%% right, model %s" % (100 * float(np.mean(right)), np.asarray(model).tolist()))


if __name__ == "__main__":
    main()
