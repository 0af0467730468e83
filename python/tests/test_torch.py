# SPDX-License-Identifier: MIT
"""What dsvc is to torch: tensors, DataLoader, StatefulDataLoader, accelerate. Left out where these are not there."""
import importlib.util
import json
import os
import unittest
import warnings
from unittest import mock

import dsvc

HAS = {name: importlib.util.find_spec(name) is not None for name in ("torch", "numpy", "torchdata", "accelerate")}


def numbers(batches):
    return [b["x"].tolist() for b in batches]


@unittest.skipUnless(HAS["torch"] and HAS["numpy"], "there is no torch")
class Torch(unittest.TestCase):
    SPEC = "range 10 | map {x: x}"

    def setUp(self):
        global torch, DataLoader, FeedDataset
        import torch
        from torch.utils.data import DataLoader
        from dsvc.torch import FeedDataset
        warnings.simplefilter("ignore")

    def refused(self, text, help, work):
        with self.assertRaises(dsvc.SpecError) as e:
            work()
        self.assertIn(text, str(e.exception))
        self.assertIn(help, str(e.exception))

    def test_columns_are_tensors_of_their_dtype_in_the_memory_of_steps(self):
        spec = 'range 4 | map {i: x, f: tensor([x, 0.5], "f32"), b: cast(tensor([x]), "bf16"), s: str(x)}'
        got = [(b["i"].tolist(), b["f"].dtype, b["f"].shape, b["b"].dtype, b["b"].tolist(), list(b["s"]), b["f"].data_ptr() % 64)
               for b in dsvc.feed(spec, batch=2, local=True, as_torch=True)]
        self.assertEqual(got[1], ([2, 3], torch.float32, (2, 2), torch.bfloat16, [[2], [3]], ["2", "3"], 0))

    def test_memory_that_is_for_all_cores_is_copied_before_it_may_be_written(self):
        for t in dsvc.feed("range 2 | batch 2", element="copy", local=True, as_torch=True):
            t += 1
            self.assertEqual(t.tolist(), [1, 2])

    def test_copies_are_tensors_too(self):
        kept = list(dsvc.feed(self.SPEC, batch=5, local=True, as_torch=True, copy=True))
        self.assertEqual([b["x"].add_(1).sum().item() for b in kept], [15, 40])

    def test_a_loader_iterates_over_a_feed_and_keeps_its_batches(self):
        loader = DataLoader(dsvc.feed(self.SPEC, batch=4, local=True, as_torch=True), batch_size=None)
        got = [(b.valid, b["x"].tolist()) for b in loader]
        self.assertEqual(got, [(4, [0, 1, 2, 3]), (4, [4, 5, 6, 7]), (2, [8, 9])])

    def test_a_loader_that_pins_keeps_them_too(self):
        from torch.utils.data._utils.pin_memory import pin_memory
        with mock.patch.object(torch.Tensor, "pin_memory", lambda t, *_: t.clone()):  # pinning needs a GPU
            got = [pin_memory(b) for b in dsvc.feed(self.SPEC, batch=4, local=True, tail="pad", as_torch=True)]
        self.assertEqual([(type(b), b.step, b.valid, b["x"].tolist()) for b in got],
                         [(dsvc.Batch, 0, 4, [0, 1, 2, 3]), (dsvc.Batch, 1, 4, [4, 5, 6, 7]), (dsvc.Batch, 2, 2, [8, 9, 0, 0])])

    def test_a_slice_of_a_tensor_keeps_its_step(self):
        kept = [b["x"][1:2] for b in dsvc.feed("range 3000 | map {x: x}", batch=3, local=True, as_torch=True)]
        self.assertEqual([t.item() for t in kept], list(range(1, 3000, 3)))

    def test_each_iteration_over_a_loader_is_an_epoch(self):
        loader = DataLoader(FeedDataset(self.SPEC, batch=5, local=True, epochs=2), batch_size=None)
        once = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
        self.assertEqual([numbers(loader) for _ in range(3)], [once, once, []])

    def test_workers_of_a_loader_are_refused_however_they_start(self):
        for how in ("fork", "spawn"):
            for data in (FeedDataset(self.SPEC, batch=5, local=True), dsvc.feed(self.SPEC, batch=5, local=True)):
                self.refused("", "use num_workers=0", lambda: list(DataLoader(
                    data, batch_size=None, num_workers=1, multiprocessing_context=how)))

    def test_batches_of_batches_are_refused(self):
        self.refused("batches of batches", "batch_size=None", lambda: list(DataLoader(FeedDataset(self.SPEC, batch=5, local=True))))

    @unittest.skipUnless(HAS["accelerate"], "there is no accelerate")
    def test_a_feed_that_was_given_to_accelerate_is_refused(self):
        import accelerate
        prepare = accelerate.Accelerator(cpu=True).prepare
        for data in (FeedDataset(self.SPEC, batch=5, local=True), dsvc.feed(self.SPEC, batch=5, local=True)):
            self.refused("second time", "prepare the model", lambda: list(prepare(DataLoader(data, batch_size=None))))

    @unittest.skipUnless(HAS["torchdata"], "there is no torchdata")
    def test_a_stateful_loader_goes_on_where_it_was(self):
        from torchdata.stateful_dataloader import StatefulDataLoader

        def loader():
            return StatefulDataLoader(FeedDataset("range 10 | shuffle 5 seed=1 | map {x: x}", batch=2, local=True, epochs=2),
                                      batch_size=None)
        first = loader()
        whole, states = [], [first.state_dict()]
        for _ in range(2):
            for b in first:
                whole.append(b["x"].tolist())
                states.append(first.state_dict())
        for k in (0, 3, 5, 8):
            again = loader()
            again.load_state_dict(json.loads(json.dumps(states[k])))
            self.assertEqual(numbers(again) + numbers(again), whole[k:], k)

    def test_a_state_goes_into_a_checkpoint_of_torch(self):
        feed = dsvc.feed(self.SPEC, batch=2, local=True, as_torch=True)
        for b in feed:
            if feed.step == 2:
                break
        with open(os.devnull, "wb") as f:
            torch.save(feed.state_dict(), f)
        feed.close()

    def test_pinning_needs_a_gpu(self):
        if torch.cuda.is_available():
            got = [b["x"].to("cuda", non_blocking=True).tolist() for b in dsvc.feed(self.SPEC, batch=5, local=True, pin=True)
                   if b["x"].is_pinned()]
            self.assertEqual(got, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
        else:
            self.refused("there is no GPU", "is_available()", lambda: dsvc.feed(self.SPEC, batch=5, local=True, pin=True))


class Pinning(unittest.TestCase):
    """With a torch of our own making, which notes what it is asked for."""

    def test_slots_are_pinned_once_and_given_back_after_the_work_with_them(self):
        import subprocess
        import sys
        here = os.path.dirname(os.path.abspath(__file__))
        path = os.pathsep.join([os.path.join(here, "stub"), os.path.dirname(here)])
        code = ("import dsvc, torch\n"
                "for b in dsvc.feed('range 60 | map {s: str(x)}', batch=2, local=True, pin=True): pass\n"
                "del b\n"
                "print(torch.said())")
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=60,
                              env=dict(os.environ, PYTHONPATH=path))
        said = done.stdout.split()
        self.assertEqual((said.count("wait"), said[-1]), (30, "pinned:0"), done.stdout)
        self.assertGreaterEqual(said.count("pin"), 2)
        self.assertEqual(said.count("pin"), said.count("unpin"))
        self.assertLess(said.index("begin"), said.index("wait"))
        self.assertEqual(said[said.index("wait") - 1], "begin", "the work of a step is awaited one step later")


if __name__ == "__main__":
    unittest.main()
