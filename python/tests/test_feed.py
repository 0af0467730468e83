# SPDX-License-Identifier: MIT
"""The module against the programs; they are found on PATH. With and without numpy."""
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings
from unittest import mock

import dsvc

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What those who start trainers say of a process.
PLACES = ("DSVC_CORE", "DSVC_CORES", "DSVC_RANK", "DSVC_RANKS", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
          "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE")


def plain(v):
    """Arrays, memoryviews and ragged rows as lists."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return plain(v.tolist()) if hasattr(v, "tolist") else [plain(x) for x in v] if isinstance(v, (list, tuple)) else v


def script(text, *options, env={}):
    """Cores that run a Python script, under a dsvc-feed with these options."""
    path = dict(os.environ, PYTHONPATH=HERE, **env)
    return subprocess.run(["dsvc-feed", "--local", *options, "--", sys.executable, "-c", textwrap.dedent(text)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=path, timeout=60)


class Values(unittest.TestCase):
    def test_elements_are_python_values(self):
        got = list(dsvc.run('range 3 | map {a: x, b: str(x), c: [x, 0.5], d: {e: x == 1}, f: bytes("z")}'))
        self.assertEqual(got[1], {"a": 1, "b": "1", "c": [1, 0.5], "d": {"e": True}, "f": b"z"})

    def test_tensors_are_arrays(self):
        (a,) = dsvc.run("elements [1] | map tensor([[1, 2], [3, 4]])")
        self.assertEqual(plain(a), [[1, 2], [3, 4]])

    def test_large_elements_and_many_of_them_arrive_whole(self):
        self.assertEqual(sum(dsvc.run("range 100000")), 99999 * 50000)
        (a,) = dsvc.run("range 300000 | batch 300000")
        self.assertEqual(a[-1], 299999)

    def test_mistakes_are_exceptions_with_code_and_help(self):
        with self.assertRaises(dsvc.SpecError) as e:
            list(dsvc.run("range 3 | bad"))
        self.assertEqual(e.exception.code, 65)
        self.assertIsInstance(e.exception, ValueError)
        self.assertIn("lists the operators", e.exception.help)
        self.assertIn("range 3 | bad\n    |           ^^^", str(e.exception))
        with self.assertRaises(dsvc.StructureError) as s:
            list(dsvc.run("range 3 | map 1 // (x - 1)"))
        self.assertIsInstance(s.exception, TypeError)
        with self.assertRaises(dsvc.NotFound) as n:
            list(dsvc.run("lines /nonexistent"))
        self.assertIsInstance(n.exception, LookupError)
        with self.assertRaises(dsvc.Unavailable):
            dsvc.status(dispatcher="ipc:///nonexistent/socket")

    def test_a_reader_that_stops_early_leaves_no_process(self):
        for x in dsvc.run("range 100000000"):
            if x == 5:
                break


class Feeding(unittest.TestCase):
    def test_batches_are_records_of_rows(self):
        got = []
        for b in dsvc.feed("range 5 | map {i: x, s: str(x), r: {t: tensor([x, 7])}, l: [x]}", batch=2, local=True):
            got.append(plain(b))
            self.assertEqual(len(b["s"]), b.rows)
        self.assertEqual(got[2], {"i": [4], "s": ["4"], "r": {"t": [[4, 7]]}, "l": [[4]]})
        self.assertEqual([len(g["i"]) for g in got], [2, 2, 1])

    def test_bare_values_are_bare_arrays_and_columns_are_tuples(self):
        self.assertEqual([plain(b) for b in dsvc.feed("range 4", batch=2, local=True)], [[0, 1], [2, 3]])
        feed = dsvc.feed("range 2 | map {a: x, b: -x}", batch=2, local=True, columns=("b", "a"))
        self.assertEqual([plain(list(b)) for b in feed], [[[0, -1], [0, 1]]])

    def test_elements_that_are_batches_and_single_ones(self):
        feed = dsvc.feed("range 5 | batch 2", local=True)
        self.assertEqual([plain(b) for b in feed], [[0, 1], [2, 3], [4]])
        feed = dsvc.feed("range 2 | map {a: x, s: str(x)}", local=True)
        self.assertEqual([plain(b) for b in feed], [{"a": 0, "s": "0"}, {"a": 1, "s": "1"}])

    def test_epochs_and_loops(self):
        feed = dsvc.feed("range 3", batch=2, local=True, epochs=2)
        self.assertEqual([[plain(b) for b in e] for e in feed.epochs()], [[[0, 1], [2]], [[0, 1], [2]]])
        self.assertEqual((feed.why, feed.step), ("data", 4))
        feed = dsvc.feed("range 10", batch=2, local=True, loop=2)
        self.assertEqual([[plain(b)[0] for b in e] for e in feed.loops()], [[0, 2], [4, 6], [8]])
        feed = dsvc.feed("range 3", batch=2, local=True, epochs=2)
        self.assertEqual(([plain(b) for b in feed], [plain(b) for b in feed], list(feed)), ([[0, 1], [2]], [[0, 1], [2]], []))

    def test_the_last_batch_says_what_is_real(self):
        feed = dsvc.feed("range 3", batch=2, local=True, tail="pad")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            dsvc.Batch._seen = False
            for _ in feed:
                pass
        self.assertTrue(any("neither .valid nor .mask" in str(w.message) for w in seen))
        valid = [(feed.batch.valid, plain(feed.batch.mask)) for feed in [dsvc.feed("range 3", batch=2, local=True, tail="pad")]
                 for _ in feed]
        self.assertEqual(valid, [(2, [True, True]), (1, [True, False])])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dsvc.Batch._seen = False
            masks = [plain(b["m"]) for b in dsvc.feed("range 3 | map {x: x}", batch=2, local=True, tail="pad", mask="m")]
        self.assertEqual(masks, [[True, True], [True, False]])
        self.assertEqual(len(list(dsvc.feed("range 3", batch=2, local=True, drop_last=True))), 1)
        padded = [plain(b) for feed in [dsvc.feed("range 1 4", batch=2, local=True, tail="pad", pad="last")]
                  for b in feed if feed.batch.valid]
        self.assertEqual(padded, [[1, 2], [3, 3]])

    def test_batches_that_are_kept_stay_what_they_are(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            kept = list(dsvc.feed("range 3000 | map {i: x, s: str(x)}", batch=3, local=True))
        self.assertEqual([w.message.args[0][:16] for w in seen], ["batches are kept"])
        gc.collect()
        self.assertEqual([v for b in kept for v in plain(b["i"])], list(range(3000)))
        self.assertEqual([v for b in kept for v in b["s"]], [str(v) for v in range(3000)])

    def test_a_batch_says_which_it_is(self):
        feed = dsvc.feed("range 5 | map {x: x}", batch=2, local=True, tail="pad", epochs=2, loop=2)
        self.assertEqual((feed.step, feed.rows, feed.rank, feed.world, feed.spec, feed.why), (0, 2, 0, 1, "{x: int}", ""))
        told = [(b.step, b.epoch, b.rows, b.valid, b.last_of_loop, b.last, feed.step, feed.epoch)
                for loop in feed.loops() for b in loop]
        self.assertEqual(told, [(s, s // 3 + 1, 2, 1 if s % 3 == 2 else 2, s % 2 == 1, s == 5, s + 1, s // 3 + 1) for s in range(6)])

    def test_a_pipeline_may_be_a_file_with_parameters(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.dsvc")
            path.write_text("range @n | map x + @k")
            got = [plain(b) for b in dsvc.feed(path, params={"n": 4, "k": 10}, batch=2, local=True)]
        self.assertEqual(got, [[10, 11], [12, 13]])

    def test_columns_are_views_that_may_be_written(self):
        for b in dsvc.feed('range 4 | map {x: x, t: tensor([[x, 1, 2], [3, 4, 5]], "f32")}', batch=2, local=True):
            for name, shape, item in ("x", (2,), 8), ("t", (2, 2, 3), 4):
                view = memoryview(b[name])
                self.assertEqual((view.shape, view.itemsize, view.readonly), (shape, item, False))
                at = ctypes.addressof(ctypes.c_char.from_buffer(view.cast("B")))
                self.assertEqual(at % 64, 0)
                del view
            b["x"][1] = 7
            self.assertEqual(b["x"][1], 7)

    def test_the_memory_of_a_step_is_neither_cut_off_nor_lengthened(self):
        feed = dsvc.feed("range 4", batch=2, local=True)
        next(iter(feed))
        for size in 0, 1 << 30:
            with self.assertRaises(PermissionError):
                os.truncate(feed._ring.fd, size)
        feed.close()

    def test_a_part_of_a_batch_keeps_its_step(self):
        spec = 'range 3000 | map {i: x, t: [x, x + 1], u: tensor([x, -x])}'
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = [(b["i"][1:2], b["t"][2], b["u"][1:]) for b in dsvc.feed(spec, batch=3, local=True)]
        gc.collect()
        self.assertEqual([plain(k) for k in kept[::100]],
                         [[[x + 1], [x + 2, x + 3], [[x + 1, -x - 1], [x + 2, -x - 2]]] for x in range(0, 3000, 300)])

    def test_a_copy_takes_no_steps_memory(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kept = [b.copy() for b in dsvc.feed("range 300 | map {i: x, s: str(x)}", batch=3, local=True)]
            bare = list(dsvc.feed("range 300", batch=3, local=True, copy=True))
        self.assertEqual([(b.step, b.rows, plain(b)) for b in kept[::10]],
                         [(s, 3, {"i": [3 * s, 3 * s + 1, 3 * s + 2], "s": [str(3 * s + k) for k in range(3)]})
                          for s in range(0, 100, 10)])
        self.assertEqual([v for b in bare for v in plain(b)], list(range(300)))

    def test_rows_of_any_length_come_whole(self):
        with dsvc.feed("range 0 20000 500 | map {x: x, s: pad(x, x), l: range(x)}", batch=2, local=True) as feed:
            for b in feed:
                for x, s, l in zip(plain(b["x"]), b["s"], b["l"]):
                    self.assertEqual((len(s), s.strip(), len(l), sum(plain(l))), (max(x, 1), str(x), x, x * (x - 1) // 2))

    def test_a_state_is_good_with_another_batch_and_the_same_steps_follow(self):
        spec = "range 60 | shuffle 30 seed=4"
        whole = [plain(b) for b in dsvc.feed(spec, batch=6, local=True)]
        feed = dsvc.feed(spec, batch=6, local=True)
        for b in feed:
            if feed.step == 4:
                state = json.loads(json.dumps(feed.state_dict()))
                break
        feed.close()
        self.assertEqual(state["step"], 4)
        again = dsvc.feed(spec, batch=6, local=True)
        again.load_state_dict(state)
        self.assertEqual([plain(b) for b in again], whole[4:])
        other = dsvc.feed(spec, batch=9, local=True)
        other.load_state_dict(state)
        self.assertEqual(sum((plain(b) for b in other), []), sum(whole[4:], []))
        self.assertEqual(again.state_dict()["step"], 10)
        with self.assertRaises(dsvc.StructureError):
            wrong = dsvc.feed("range 9", batch=3, local=True)
            wrong.load_state_dict(state)
            list(wrong)

    def test_a_state_of_shuffled_elements_is_one_of_each_pass(self):
        options = {"batch": 6, "local": True, "epochs": 2, "seed": 7}
        spec = "range 60 | shuffle all reshuffle=true | map x * 2"
        states, whole = {}, []
        feed = dsvc.feed(spec, **options)
        for epoch in feed.epochs():
            for b in epoch:
                whole.append(plain(b))
                states[feed.step] = feed.state_dict()
        self.assertEqual((sorted(sum(whole[:10], [])), len(whole)), (list(range(0, 120, 2)), 20))
        for step in 4, 10, 13, 20:
            again = dsvc.feed(spec, **options)
            again.load_state_dict(states[step])
            self.assertEqual([plain(b) for epoch in again.epochs() for b in epoch], whole[step:], step)

    def test_words_of_a_loader_are_understood_or_answered(self):
        spec = "range 7"
        self.assertEqual([plain(b) for b in dsvc.feed(spec, batch_size=3, drop_last=True, prefetch_factor=1, local=True)],
                         [[0, 1, 2], [3, 4, 5]])
        for wrong, help in ({"shuffle": True}, "shuffle all"), ({"batch": 2, "batch_size": 2}, "one of them"), \
                ({"prefetch": 2, "prefetch_factor": 2}, "one of them"), ({"tail": "pad", "drop_last": True}, "one of them"), \
                ({"rank": 1, "world": 4}, "dsvc-feed -n 4"), ({"rank": 1, "world": 4}, "job=NAME"), \
                ({"world": 4, "job": "a"}, "rank=3"):
            with self.assertRaises(dsvc.SpecError) as e:
                dsvc.feed(spec, local=True, **wrong)
            self.assertIn(help, e.exception.help)

    def test_the_number_of_steps_of_an_epoch_is_known_where_that_of_elements_is(self):
        def steps(spec, **options):
            feed = dsvc.feed(spec, local=True, epochs=2, **options)
            try:
                n = len(feed)
                self.assertEqual([len(list(e)) for e in feed.epochs()], [n, n])
                return n
            except TypeError:
                return None
            finally:
                feed.close()
        self.assertEqual(steps("range 7", batch=2), 4)
        self.assertEqual(steps("range 7", batch=2, tail="drop"), 3)
        self.assertEqual(steps("range 7 | batch 2"), 4)
        self.assertEqual(steps("range 7 | batch 2", element="copy"), 4)
        with dsvc.feed("range 0", batch=2, local=True) as feed:
            self.assertEqual(len(feed), 0)
        self.assertIsNone(steps("range 7 | filter x > 2", batch=2))
        self.assertIsNone(steps("range 7 | map 1 // (x - 3) on_error=skip", batch=2))
        self.assertIsNone(steps("range 7 | repeat", batch=2))
        self.assertTrue(dsvc.feed("range 7 | repeat", batch=2, local=True))

    def test_after_a_fork_the_feed_is_the_parents(self):
        feed = dsvc.feed("range 100000", batch=2, local=True)
        batches = iter(feed)
        next(batches)
        sock = feed._link._sock.fileno()
        child = os.fork()
        if not child:
            try:
                next(batches)
                os._exit(1)
            except dsvc.SpecError as e:
                with open(os.devnull) as f:  # the connection is closed here: its number is free
                    os._exit(0 if "num_workers=0" in e.help and f.fileno() <= sock else 2)
            os._exit(3)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(plain(next(batches)), [2, 3])
        feed.close()

    def test_errors_of_the_feed_are_exceptions(self):
        with self.assertRaises(dsvc.StructureError) as e:
            list(dsvc.feed("elements [1, 2, 0.5]", batch=1, local=True))
        self.assertIn("was int from the start", str(e.exception))
        with self.assertRaises(dsvc.SpecError):
            dsvc.feed()
        for wrong in {"element": "copy"}, {"expect": "{x: f3"}, {"tail": "half"}:
            with self.assertRaises(dsvc.SpecError):
                list(dsvc.feed("range 3", batch=2, local=True, **wrong))
        with self.assertRaises(dsvc.SpecError) as w:
            list(dsvc.feed("range 3 | map .x.", batch=2, local=True))
        self.assertEqual((w.exception.code, "^" in str(w.exception)), (65, True))
        with self.assertRaises(dsvc.NotFound):
            list(dsvc.feed("lines /nonexistent", batch=2, local=True))
        with self.assertRaises(dsvc.Unavailable):
            list(dsvc.feed("range 3", batch=2, dispatcher="ipc:///nonexistent/socket"))
        with self.assertRaisesRegex(dsvc.Timeout, "^nothing came within 0.2 s$"):
            list(dsvc.feed("range 3 | exec sleep 60", batch=2, local=True, timeout=0.2))

    def test_each_exit_code_has_its_exception(self):
        kinds = {64: ValueError, 65: TypeError, 66: LookupError, 69: ConnectionError, 75: ConnectionError,
                 76: ConnectionError, 78: ValueError, 124: TimeoutError, 70: RuntimeError, 74: RuntimeError, 77: RuntimeError,
                 137: RuntimeError}
        for code, kind in kinds.items():
            e = dsvc._wire.error(code, "text", "help", 1)
            self.assertEqual((e.code, e.help, e.core, str(e), isinstance(e, kind)), (code, "help", 1, "text\n  help: help", True))

    def test_a_state_must_be_one(self):
        for wrong in {}, {"dsvc": 2}, {"dsvc": 1, "step": "x"}, {"dsvc": 1, "step": 1, "position": "?"}, None:
            with self.assertRaises(dsvc.StructureError):
                dsvc.feed("range 4", batch=2, local=True).load_state_dict(wrong)

    def test_a_column_that_is_not_there_is_said(self):
        for spec in "range 4 | map {x: x}", "range 4":
            with self.assertRaisesRegex(dsvc.SpecError, "columns=\\('x', 'z'\\): the elements are .*int"):
                list(dsvc.feed(spec, batch=2, local=True, columns=("x", "z")))


class Cores(unittest.TestCase):
    def test_ranks_get_their_parts_and_results_come_in_order(self):
        done = script("""
            import dsvc
            feed = dsvc.feed()
            for b in feed:
                feed.put({"y": [10 * v for v in b["x"].tolist()]})
            """, "-n", "3", "--batch", "6", "--results", "rows", "-t", "ndjson", "-e", "range 10 | map {x: x}")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ['{"y":%d}' % (10 * i) for i in range(10)]), done.stderr)
        self.assertNotIn("neither .valid nor", done.stderr)

    def test_one_result_a_step_may_count_padding_and_is_warned_of(self):
        done = script("""
            import dsvc
            feed = dsvc.feed()
            for b in feed:
                feed.put(sum(b.tolist()))
            """, "-n", "2", "--batch", "4", "--results", "step", "-e", "range 1 6")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("neither .valid nor", done.stderr)

    def test_a_column_of_the_batch_may_be_the_result(self):
        done = script("""
            import dsvc
            feed = dsvc.feed()
            for b in feed:
                feed.put({"i": b["i"], "s": b["s"], "t": b["t"]})
            """, "-n", "2", "--batch", "4", "--results", "rows", "-t", "ndjson",
            "-e", "range 4 | map {i: x, s: str(x), t: tensor([x])}")
        want = ['{"i":%d,"s":"%d","t":[%d]}' % (i, i, i) for i in range(4)]
        self.assertEqual((done.returncode, done.stdout.split()), (0, want), done.stderr)

    def test_an_exception_is_the_cause_and_the_others_are_told(self):
        done = script("""
            import dsvc, os
            with dsvc.feed() as feed:
                for b in feed:
                    if feed.rank == 1 and feed.step == 3:
                        raise ValueError("bad luck")
            """, "-n", "3", "--batch", "3", "-e", "range 100000000")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"dsvc-feed: core 1 \(rank 1, pid \d+\): ValueError: bad luck")

    def test_an_uncaught_exception_is_told_before_the_process_ends(self):
        done = script("""
            import dsvc
            feed = dsvc.feed()
            for b in feed:
                1 / (2 - feed.step)
            """, "-n", "2", "--batch", "2", "-e", "range 100000000")
        self.assertRegex(done.stderr, r"dsvc-feed: core \d \(rank \d, pid \d+\): ZeroDivisionError: division by zero")

    def test_a_core_that_leaves_early_is_a_failure_and_stop_is_not(self):
        leave = """
            import dsvc, os
            with dsvc.feed() as feed:
                for b in feed:
                    if feed.rank == 0 and feed.step == 3:
                        %s
            os.write(1, b"%%d " %% feed.step)
            """
        options = ("-n", "2", "--batch", "2", "-e", "range 100000000")
        done = script(leave % "break", *options)
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("left after step 3, while others go on", done.stderr)
        done = script(leave % "feed.stop('enough')", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(set(done.stdout.split())), 1)

    def test_what_is_asked_of_a_feed_must_be_what_it_has(self):
        ask = "import dsvc, os; os.write(1, b'%%d\\n' %% sum(len(b) for b in dsvc.feed(%s)))"
        options = ("-n", "2", "--batch", "4", "--steps", "9", "-e", "range 8")
        done = script(ask % "batch=4, world=2, until=9, batch_size=None, tail='pad'", *options)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["4", "4"]), done.stderr)
        done = script(ask % "batch=6", *options)
        self.assertEqual(done.returncode, 64)
        self.assertIn("batch=6 was asked for", done.stderr)
        self.assertIn("dsvc-feed at fd:", done.stderr)
        for said, option in ("order='any'", "--order"), ("params={'n': 2}", "--set"):
            done = script(ask % said, *options)
            self.assertIn(option, done.stderr)
        done = script(ask % "prefetch=2, results='none', rank=int(os.environ['RANK'])", *options)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["4", "4"]), done.stderr)
        for wrong, has in ("prefetch=3", 2), ("results='rows'", "none"), ("rank=1 - int(os.environ['RANK'])", r"[01]"):
            done = script(ask % wrong, *options)
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertRegex(done.stderr, f"the dsvc-feed at fd:3 has {has}")

    def test_states_of_all_ranks_are_equal(self):
        done = script("""
            import dsvc, os
            feed = dsvc.feed()
            for b in feed:
                if feed.step == 5:
                    os.write(1, (str(feed.state_dict()) + '\\n').encode())
            """, "-n", "3", "--batch", "6", "-e", "range 100")
        self.assertEqual((done.returncode, len(done.stdout.splitlines()), len(set(done.stdout.splitlines()))), (0, 3, 1), done.stderr)

    def test_an_answer_is_for_the_batch_in_hand_and_there_is_one(self):
        done = script("""
            import dsvc, os
            feed = dsvc.feed()
            def refused(*result):
                try:
                    feed.put(*result)
                except dsvc.SpecError as e:
                    os.write(1, b"refused\\n")
            refused(0)
            for b in feed:
                feed.put(feed.step)
                feed.saved(feed.step)
                refused(1)
            """, "--batch", "2", "--results", "step", "-e", "range 4")
        # The program and dsvc-feed write to one output, in no particular order.
        lines = done.stdout.split()
        self.assertEqual((done.returncode, lines.count("refused"), [line for line in lines if line != "refused"]), (0, 3, [
            '{"step":%d,"core":0,"result":%d}' % (s, s + 1) for s in range(2)]), done.stderr)

    def test_whoever_goes_down_is_named_to_the_others(self):
        done = script("""
            import dsvc, os
            try:
                with dsvc.feed() as feed:
                    for b in feed:
                        if feed.rank == 1 and feed.step == 3:
                            raise ValueError("bad luck")
            except dsvc.Error as e:
                os.write(1, str((e.core, "ValueError: bad luck" in e.text)).encode())
            """, "-n", "2", "--batch", "2", "-e", "range 100000000")
        self.assertEqual((done.returncode, done.stdout), (1, "(1, True)"), done.stderr)

    def test_states_of_different_steps_are_refused(self):
        spec, states = "range 60 | shuffle 30", []
        feed = dsvc.feed(spec, batch=6, local=True, seed=1)
        for _ in feed:
            states.append(feed.state_dict())
        load = "import dsvc, json, os; f = dsvc.feed(); f.load_state_dict(json.loads(os.environ['STATES'])[%s])"
        load += "\nos.write(1, b'%%d ' %% sum(1 for _ in f))"
        for which, code in ("int(os.environ['RANK'])", 65), ("3", 0):
            done = script(load % which, "-n", "2", "--batch", "6", "-e", spec, env={"STATES": json.dumps(states)})
            self.assertEqual(done.returncode, code, done.stderr)
            if code:
                self.assertRegex(done.stderr, "brings the position of step [12], and another one that of step [12]")
            else:
                self.assertEqual(done.stdout.split(), ["6", "6"])

    def test_broadcast_memory_is_read_only(self):
        done = script("""
            import dsvc, os
            for b in dsvc.feed():
                try:
                    b[0] = 7
                except (TypeError, ValueError):
                    os.write(1, b"no ")
            """, "-n", "2", "--element", "copy", "-e", "range 2 | batch 2")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["no", "no"]), done.stderr)

    def test_processes_join_by_themselves(self):
        self.joins("", lambda i: {"LOCAL_RANK": str(i)})

    def test_which_core_of_a_host_a_rank_is_follows_from_the_ranks_of_a_host(self):
        self.joins("rank=int(os.environ['RANK'])", lambda i: {"RANK": str(i), "LOCAL_WORLD_SIZE": "2"})

    def test_which_core_a_process_is_follows_from_what_started_it(self):
        for where in lambda i: {"DSVC_CORE": str(i), "LOCAL_RANK": str(1 - i)}, \
                lambda i: {"LOCAL_RANK": str(i), "SLURM_LOCALID": str(1 - i)}, \
                lambda i: {"SLURM_LOCALID": str(i), "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, \
                lambda i: {"RANK": str(i), "WORLD_SIZE": "2"}, \
                lambda i: {"SLURM_PROCID": str(2 + i), "SLURM_NTASKS": "4", "SLURM_NTASKS_PER_NODE": "2"}:
            with self.subTest(where(1)):
                self.joins("", where)

    def test_rank_and_world_are_said_together(self):
        said = {}
        with mock.patch.dict(os.environ, {k: v for k, v in os.environ.items() if k not in PLACES}, clear=True):
            def place(rank=None, world=None, **more):
                with mock.patch.dict(os.environ, more):
                    return dsvc._place(rank, world)
            self.assertEqual(place(), (None, None))
            for rank, world in ("SLURM_PROCID", "SLURM_NTASKS"), ("RANK", "WORLD_SIZE"), ("DSVC_RANK", "DSVC_RANKS"):
                said.update({rank: str(len(said)), world: str(7 + len(said))})
                self.assertEqual(place(**said), (len(said) - 2, 7 + len(said) - 2))
            self.assertEqual(place(RANK="1", SLURM_PROCID="2", SLURM_NTASKS="4"), (2, 4))
            self.assertEqual(place(SLURM_NTASKS="4"), (None, None))  # a shell of the job, and none of its tasks
            self.assertEqual(place(WORLD_SIZE="4"), (None, 4))
            self.assertEqual(place(RANK="x", WORLD_SIZE="4"), (None, 4))
            self.assertEqual(place(rank=3, **said), (3, 11))
            self.assertEqual(place(world=3, **said), (4, 3))

    def test_a_feed_of_its_own_in_one_of_many_ranks_is_refused(self):
        for rank, world in ("DSVC_RANK", "DSVC_RANKS"), ("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"):
            with mock.patch.dict(os.environ, {rank: "1", world: "4"}):
                with self.assertRaisesRegex(dsvc.SpecError, "this is rank 1 of 4") as e:
                    dsvc.feed("range 3", batch=1, local=True)
                self.assertIn("job=NAME", e.exception.help)
                self.assertEqual(sum(1 for _ in dsvc.feed("range 3", batch=1, local=True, world=1)), 3)
        with mock.patch.dict(os.environ, {"WORLD_SIZE": "4"}):
            with self.assertRaisesRegex(dsvc.SpecError, "which rank this is was not said"):
                dsvc.feed("range 3", batch=1, job="a")

    def joins(self, said, where):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "feed")
            read, write = os.pipe()
            feed = subprocess.Popen(["dsvc-feed", "--local", "-n", "2", "--batch", "2", "--listen", path, "--ready-fd",
                                     str(write), "-e", "range 8"], pass_fds=(write,))
            os.close(write)
            os.read(read, 1)
            os.close(read)
            bare = {k: v for k, v in os.environ.items() if k not in PLACES}
            code = "import dsvc, os; print([x for b in dsvc.feed(%s) for x in b.tolist()])" % said
            cores = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                                      env=dict(bare, DSVC_FEED=path, PYTHONPATH=HERE, **where(i)))
                     for i in range(2)]
            said = [c.communicate(timeout=60)[0].strip() for c in cores]
            self.assertEqual((said, feed.wait(timeout=60)), (["[0, 2, 4, 6]", "[1, 3, 5, 7]"], 0))
            self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
