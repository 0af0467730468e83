# SPDX-License-Identifier: MIT
"""Elements as Python values, as they are used in a notebook: ends, interruptions, forks, threads. The programs are found
on PATH."""
import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import warnings

import dsvc

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


ALONE = """
import dsvc, gc, os, signal, sys

def alone():
    gc.collect()
    try:
        os.waitpid(-1, os.WNOHANG)
        return False
    except ChildProcessError:
        return True
"""


def start(text, *arguments):
    """A script in a process group of its own, as a terminal starts one. It has alone(): no process is left."""
    return subprocess.Popen([sys.executable, "-c", ALONE + textwrap.dedent(text), *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True, env=dict(os.environ, PYTHONPATH=HERE))


@contextlib.contextmanager
def programs(folder):
    """The programs are looked for in this folder."""
    before = os.environ.get("DSVC_BIN")
    os.environ["DSVC_BIN"] = folder
    try:
        yield
    finally:
        del os.environ["DSVC_BIN"]
        if before is not None:
            os.environ["DSVC_BIN"] = before


class Reading(unittest.TestCase):
    def ended(self, process, out):
        said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (0, (out, "")))

    def test_a_program_ends_with_its_block_its_loop_and_its_last_name(self):
        self.ended(start("""
            with dsvc.run("counter") as values:
                print(next(values), next(values), not alone())
            print(alone(), list(values))
            for x in dsvc.run("counter"):
                if x == 3:
                    break
            print(alone())
            values = dsvc.run("counter")
            print(next(values), not alone())
            del values
            print(alone())
            kept = dsvc.run("counter")  # until the process ends
            next(kept)
            feed = dsvc.feed("range 1_000_000_000", batch=2, local=True)
            batches = iter(feed)
            next(batches)
            """), "0 1 True\nTrue []\nTrue\n0 True\nTrue\n")

    def test_values_come_when_they_are_there_and_ctrl_c_ends_the_wait_for_more(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe")
            os.mkfifo(path)
            keep = os.open(path, os.O_RDWR)
            self.addCleanup(os.close, keep)
            os.write(keep, b"1\n")
            process = start("""
                try:
                    for x in dsvc.run("lines " + sys.argv[1] + ' | map [x, zeros([150000], "u8")]'):
                        print(x[0], len(x[1]), flush=True)
                except KeyboardInterrupt:
                    print(alone())
                """, path)
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            self.ended(process, "True\n")
            self.assertEqual(first, "1 150000\n")

    def test_ctrl_c_leaves_a_feed_as_it_is(self):
        self.ended(start("""
            feed = dsvc.feed("range 1_000_000", batch=2, local=True)
            try:
                for batch in feed:
                    if feed.step == 3:
                        os.killpg(0, signal.SIGINT)
            except KeyboardInterrupt:
                print(feed.state_dict()["step"], next(iter(feed)).tolist())
            feed.close()
            print(alone())
            """), "3 [6, 7]\nTrue\n")

    def test_what_a_program_says_is_shown_though_all_is_well(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(list(dsvc.run("range 3 | map 6 // x on_error=skip")), [6, 3])
            list(dsvc.feed("range 3 | map 6 // x on_error=skip", batch=2, local=True))
        self.assertIn("1 element failed and was skipped", said.getvalue())
        self.assertIn("dsvc-feed: 1 element failed", said.getvalue())

    def test_options_are_those_of_the_program(self):
        self.assertEqual(list(dsvc.run("range 9", n=2, q=True)), [0, 1])
        self.assertEqual(list(dsvc.run("range @n | map x + @k", set=["n=2", "k=7"])), [7, 8])
        self.assertEqual(list(dsvc.run("range @n | map x + @k", params={"n": 2, "k": 7})), [7, 8])
        with self.assertRaisesRegex(dsvc.SpecError, "elements are Python values"):
            dsvc.run("range 9", to="csv")
        with self.assertRaisesRegex(dsvc.SpecError, "unknown option `--bad`"):
            list(dsvc.run("range 9", bad=1))

    def test_a_single_word_is_a_pipeline_where_nothing_is_registered(self):
        with dsvc.run("counter") as values:
            self.assertEqual(next(values), 0)
        with dsvc.feed("counter", batch=2, local=True) as feed:
            self.assertEqual(next(iter(feed)).tolist(), [0, 1])
        with self.assertRaisesRegex(dsvc.SpecError, "the name of an operator is expected"):
            list(dsvc.run("--help"))

    def test_a_program_that_is_not_there_is_not_found(self):
        for work in (lambda: list(dsvc.run("range 1")), lambda: list(dsvc.feed("range 1", batch=1, local=True)),
                     lambda: dsvc.register("range 1"), dsvc.status):
            with self.assertRaises(dsvc.NotFound) as e, programs("/nonexistent"):
                work()
            self.assertIn("DSVC_BIN", e.exception.help)

    def test_a_program_that_is_killed_or_stops_in_the_middle_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, error, code, said in (("kill -9 $$", dsvc.Error, 137, "dsvc-run was killed by signal 9"),
                                            ("printf '\\1\\222\\1'", dsvc.Lost, 75, "the last element is not whole")):
                with open(os.path.join(folder, "dsvc-run"), "w") as f:
                    f.write("#!/bin/sh\n" + text)
                os.chmod(f.name, 0o700)
                with self.assertRaises(error) as e, programs(folder):
                    list(dsvc.run("range 1"))
                self.assertEqual((e.exception.code, str(e.exception)), (code, said))

    def test_errors_can_be_sent_to_other_processes(self):
        with self.assertRaises(dsvc.SpecError) as e:
            list(dsvc.run("range 3 | bad"))
        again = pickle.loads(pickle.dumps(e.exception))
        self.assertEqual((type(again), str(again), vars(again)), (type(e.exception), str(e.exception), vars(e.exception)))

    def test_elements_and_feeds_are_not_sent_to_other_processes(self):
        feed = dsvc.feed("range 3", batch=1, local=True)
        for what in dsvc.run("range 3"), feed:
            with self.assertRaises(dsvc.SpecError) as e:
                pickle.dumps(what)
            self.assertIn("cannot be sent to another process", str(e.exception))

    def test_after_a_fork_the_elements_are_the_parents(self):
        values = dsvc.run("range 300000")
        next(values)
        child = os.fork()
        if not child:
            try:
                list(values)
            except dsvc.SpecError as e:
                os._exit(0 if "after the fork" in e.help else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(sum(1 for _ in values), 299999)

    def test_threads_may_share_a_feed(self):
        feed = dsvc.feed("range 20000", batch=10, local=True)
        got = []

        def work():
            try:
                for batch in feed:
                    got.extend(batch.tolist())
                    if feed.rank:
                        feed.state_dict()
            except dsvc.Error as e:
                got.append(e)
        threads = [threading.Thread(target=work) for _ in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(sorted(got), list(range(20000)))

    def test_large_tensors_lie_where_they_were_read(self):
        for spec in ('range 3 | map zeros([1000, 500], "f32") + x', 'range 3 | map {x: x, t: zeros([200000], "u8") + x}'):
            for k, value in enumerate(dsvc.run(spec)):
                t = value["t"] if isinstance(value, dict) else value
                if hasattr(t, "flags"):
                    self.assertEqual((t.flags.owndata, t.flags.aligned, t.flags.writeable), (False, True, True))
                view = memoryview(t)
                self.assertFalse(view.readonly)
                self.assertEqual(view.cast("B").cast(view.format)[view.nbytes // view.itemsize - 1], k)
        small = list(dsvc.run('range 3 | map zeros([10], "u8") + x'))
        self.assertEqual([v.tolist()[9] for v in small], [0, 1, 2])
        if hasattr(small[0], "flags"):
            self.assertTrue(all(v.flags.owndata for v in small), "small ones would keep what they were read with")


if __name__ == "__main__":
    unittest.main()
