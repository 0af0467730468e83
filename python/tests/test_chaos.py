# SPDX-License-Identifier: MIT
"""Consumers that end in other ways than they should, and what is left of them."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def start(command, **more):
    return subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=HERE), text=True, **more)


def state(pid):
    """The letter that the kernel has for what the process does: S sleeps; Z has ended, also where it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


def gone(pid):
    """Whether the process has ended; one that has not been waited for has, too."""
    return state(pid) == "Z"


class Chaos(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def script(self, text, *arguments):
        with open(self.path("script.py"), "w") as f:
            f.write(textwrap.dedent(text))
        return [sys.executable, self.path("script.py"), *arguments]

    def test_an_exception_is_told_when_it_leaves_the_block_and_not_when_the_process_ends(self):
        core = self.script("""
            import dsvc, signal
            try:
                with dsvc.feed() as feed:
                    for b in feed:
                        if feed.rank == 1 and feed.step == 3:
                            raise ValueError("bad luck")
            except ValueError:
                signal.pause()  # a framework that takes its time to end
            """)
        with start(["dsvc-feed", "--local", "-n", "2", "--batch", "2", "--grace", "50ms", "-e", "range 100000000", "--", *core],
                   stderr=subprocess.PIPE) as feed:
            said = feed.communicate(timeout=60)[1]
        self.assertEqual(feed.returncode, 1, said)
        self.assertRegex(said, r"core 1 \(rank 1, pid \d+\): ValueError: bad luck")

    def test_ctrl_c_ends_a_wait_for_data_and_leaves_nothing(self):
        os.mkfifo(self.path("pipe"))
        keep = os.open(self.path("pipe"), os.O_RDWR)
        self.addCleanup(os.close, keep)
        os.write(keep, b"1\n2\n")
        core = self.script("""
            import dsvc, sys
            with dsvc.feed("lines " + sys.argv[1], batch=1, local=True) as feed:
                for b in feed:
                    print(feed._link.pid, flush=True)
            """, self.path("pipe"))
        with start(core, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            pid = int(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertTrue(gone(pid))

    def interrupted(self, asked, **env):
        """Ctrl-C while a core waits to be welcomed; gives the pid of its own dsvc-feed, 0 where it has none."""
        core = self.script("""
            import dsvc, dsvc._link, sys
            before = dsvc._link.Link._messages
            def messages(link):
                print(link.pid or 0, bool(feed._welcome), flush=True)
                return before(link)
            dsvc._link.Link._messages = messages
            feed = dsvc.feed(*eval(sys.argv[1])[0], **eval(sys.argv[1])[1])
            for b in feed:
                print("a batch")
            """, repr(asked))
        with start(["env", *(f"{k}={v}" for k, v in env.items()), *core], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE) as process:
            pid, joined = process.stdout.readline().split()
            while state(process.pid) not in "SZ":
                pass
            process.send_signal(signal.SIGINT)
            rest, said = process.communicate(timeout=60)
        self.assertEqual((joined, rest), ("False", ""), said)
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        return int(pid)

    def test_ctrl_c_ends_a_wait_for_the_other_cores_and_the_feed_says_why(self):
        read, write = os.pipe()
        with start(["dsvc-feed", "--local", "-n", "2", "--batch", "2", "--listen", self.path("feed"), "--ready-fd",
                    str(write), "-e", "range 8"], stderr=subprocess.PIPE, pass_fds=(write,)) as feed:
            os.close(write)
            os.read(read, 1)
            os.close(read)
            self.interrupted(((), {}), DSVC_FEED=self.path("feed"), DSVC_CORE="1")
            said = feed.communicate(timeout=60)[1]
        self.assertEqual(feed.returncode, 130, said)
        self.assertRegex(said, r"core 1 \(rank 1, pid \d+\): KeyboardInterrupt")
        self.assertFalse(os.path.exists(self.path("feed")))

    def test_ctrl_c_ends_a_wait_for_a_service_that_does_not_answer_and_leaves_nothing(self):
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.bind(self.path("d"))
            deaf.listen()
            pid = self.interrupted((("range 8",), {"batch": 2, "dispatcher": "ipc://" + self.path("d")}))
            self.assertTrue(gone(pid))

    def test_what_is_sent_at_ctrl_c_while_joining(self):
        with socket.socket(socket.AF_UNIX) as feed:
            feed.bind(self.path("feed"))
            feed.listen()
            self.interrupted(((), {}), DSVC_FEED=self.path("feed"))
            conn = feed.accept()[0]
            with conn, conn.makefile("rb") as f:
                sent = f.read()
        self.assertTrue(sent[4:6] == b"\x98\x01" and b"\x95\x07\xcf" + 7 * b"\0" + b"\x82" in sent and b"KeyboardInterrupt" in sent, sent)

    def test_a_killed_consumer_takes_its_own_feed_along(self):
        core = self.script("""
            import dsvc, os, sys
            feed = dsvc.feed("range 100000000", batch=1, local=True)
            for b in feed:
                os.write(1, b"%d" % feed._link.pid)
                os.kill(os.getpid(), 9)
            """)
        with start(core, stdout=subprocess.PIPE) as process:
            pid = int(process.communicate(timeout=60)[0])
        while not gone(pid):
            pass

    def test_rows_of_runs_that_were_killed_are_those_of_an_undisturbed_one(self):
        core = self.script("""
            import dsvc, json, os, sys
            folder, dies = sys.argv[1], int(sys.argv[2])
            feed = dsvc.feed()
            saved = folder + "/state"
            if os.path.exists(saved):
                with open(saved) as f:
                    feed.load_state_dict(json.load(f))
            for b in feed:
                with open("%s/rows.%d.%03d" % (folder, feed.rank, feed.step), "w") as f:
                    f.write(" ".join(map(str, b["x"].tolist()[:b.valid])))
                if feed.rank == 0 and feed.step % 3 == 0:
                    with open(saved + ".new", "w") as f:
                        json.dump(feed.state_dict(), f)
                    os.rename(saved + ".new", saved)
                if feed.rank == 0 and feed.step == dies:
                    os.kill(os.getpid(), 9)
            """)
        rows, done = [], 0
        for n, dies in ((2, 4), (3, 8), (4, 14), (1, 0)):
            command = ["dsvc-feed", "-q", "--local", "-n", str(n), "--batch", "12", "--seed", "5", "-e",
                       "range 200 | shuffle 50 | map {x: x}", "--", *core, self.folder.name, str(dies)]
            with start(command, stderr=subprocess.PIPE) as feed:
                said = feed.communicate(timeout=60)[1]
            self.assertEqual(feed.returncode, 128 + 9 if dies else 0, said)
            until = dies // 3 * 3 if dies else 17  # steps behind it were not saved: they come again
            for step in range(done + 1, until + 1):
                for rank in range(n):
                    with open(self.path("rows.%d.%03d" % (rank, step))) as f:
                        rows += map(int, f.read().split())
            done = until
            if dies:
                with open(self.path("state")) as f:
                    self.assertEqual(json.load(f)["step"], until)
        whole = subprocess.run(["dsvc-feed", "--local", "--batch", "12", "--seed", "5", "--as", "ndjson", "-e",
                                "range 200 | shuffle 50 | map {x: x}", "--", "cat"], stdout=subprocess.PIPE, check=True)
        want = [x for line in whole.stdout.splitlines() for x in json.loads(line)["x"]]
        self.assertEqual((rows, sorted(rows)), (want, list(range(200))))


if __name__ == "__main__":
    unittest.main()
