# SPDX-License-Identifier: MIT
"""Training scripts (folder examples): they learn, and a run that is killed and begun again ends as if nothing had been."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(os.path.dirname(HERE), "examples")
SPEC = """range 1200 | map {x: tensor([rand(), rand()], "f32")} | map {x, y: int(.x[0] + 2 * .x[1] > 1.4)}
          | shuffle 300"""

# Runs a script in which rank 1 is killed when it has done so many steps.
DYING = """
import dsvc, os, runpy, sys
next = dsvc.Feed._next
def dying(self):
    if self._done == %d and self.rank == 1:
        os.kill(os.getpid(), 9)
    return next(self)
dsvc.Feed._next = dying
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

# Runs a script three times under a dsvc-feed that ranks find at its socket: whole; until rank 1 is killed when it has
# done so many steps; on from there. What the ranks say of each run is a line of JSON. The ranks are forks of a process
# that has torch already: to import it takes longer than all that they do, and there are six of them.
FORKS = """
import json, multiprocessing, os, runpy, subprocess, sys, tempfile
import torch._dynamo
script, folder, dies, *command = sys.argv[1:]
start = multiprocessing.get_context("fork").Process

def rank(n, checkpoint, dies, said):
    import dsvc
    next = dsvc.Feed._next
    def dying(self):
        if self._done == dies and self.rank == 1:
            os.kill(os.getpid(), 9)
        return next(self)
    dsvc.Feed._next = dying
    os.environ["LOCAL_RANK"] = str(n)
    os.dup2(said, 1)
    sys.argv = [script, checkpoint]
    runpy.run_path(script, run_name="__main__")

def run(checkpoint, dies):
    os.environ["DSVC_FEED"] = os.path.join(folder, "feed")
    ready, tell = os.pipe()
    feed = subprocess.Popen([*command, "--listen", os.environ["DSVC_FEED"], "--ready-fd", str(tell)], pass_fds=[tell])
    os.close(tell)
    os.read(ready, 1)
    with tempfile.TemporaryFile("w+") as said:
        ranks = [start(target=rank, args=(n, os.path.join(folder, checkpoint), dies, said.fileno())) for n in range(2)]
        for r in ranks:
            r.start()
        for r in ranks:
            r.join()
        said.seek(0)
        print(json.dumps([feed.wait(), [r.exitcode for r in ranks], said.read()]), flush=True)

for how in ("whole", None), ("c", int(dies)), ("c", None):
    one = start(target=run, args=how)  # ranks meet at a file that is named after their parent
    one.start()
    one.join()
"""


def needs(*names):
    return unittest.skipUnless(all(importlib.util.find_spec(n) for n in names), "there is no " + " or ".join(names))


class Training(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def command(self, ranks, *options):
        return ["dsvc-feed", "--local", "-n", str(ranks), "--batch", "72", "--epochs", "2", "--seed", "1", *options, "-e", SPEC]

    def python(self, command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                              env=dict(os.environ, PYTHONPATH=HERE, OMP_NUM_THREADS="1"))

    def train(self, name, ranks=2, dies=None, checkpoint="c", options=("--loop", "5")):
        how = [] if dies is None else ["-c", DYING % dies]
        done = self.python([*self.command(ranks, *options), "--", sys.executable, *how, os.path.join(EXAMPLES, name),
                            os.path.join(self.folder.name, checkpoint)])
        if dies is None:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def right(self, said):
        self.assertGreater(float(re.search(r"([0-9.]+)% right", said)[1]), 75, said)

    @needs("numpy")
    def test_a_killed_run_goes_on_and_ends_as_an_undisturbed_one(self):
        whole = self.train("train.py", checkpoint="whole").stdout
        self.right(whole)
        self.assertTrue(whole.startswith("2400 rows, "), whole)
        died = self.train("train.py", dies=13)
        self.assertEqual(died.returncode, 128 + 9, died.stderr)
        self.assertRegex(died.stderr, r"core 1 \(rank 1, pid \d+\) was killed by signal 9")
        with open(os.path.join(self.folder.name, "c")) as f:
            text = f.read()
        self.assertEqual(json.loads(text)["feed"]["step"], 10)
        self.assertEqual(self.train("train.py").stdout, whole)
        # With another number of ranks the sums are those of the same rows, rounded elsewhere.
        with open(os.path.join(self.folder.name, "three"), "w") as f:
            f.write(text)
        three = self.train("train.py", ranks=3, checkpoint="three").stdout
        self.assertEqual(three.split(", ")[:2], whole.split(", ")[:2])
        for a, b in zip(*(json.loads(said[said.index("["):]) for said in (three, whole))):
            self.assertAlmostEqual(a, b, places=6)

    @needs("torch", "numpy")
    def test_so_does_one_with_torch(self):
        done = self.python([sys.executable, "-c", FORKS, os.path.join(EXAMPLES, "train_torch.py"), self.folder.name, "13",
                            *self.command(2, "--loop", "5")])
        whole, died, again = map(json.loads, done.stdout.splitlines())
        self.assertEqual((whole[:2], died[1][1], again[:2]), ([0, [0, 0]], -9, [0, [0, 0]]), done.stderr)
        self.assertNotEqual(died[0], 0)
        self.right(whole[2])
        self.assertEqual(again[2].split("model")[1], whole[2].split("model")[1])

    @needs("jax", "numpy")
    def test_one_with_jax_learns(self):
        self.right(self.train("train_jax.py", ranks=1, options=("--tail", "drop")).stdout)


if __name__ == "__main__":
    unittest.main()
