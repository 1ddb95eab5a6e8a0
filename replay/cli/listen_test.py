#!/usr/bin/env python3
"""Tests --pprof-listen on a replay that lasts, with Go's pprof where there is a Go.

usage: listen_test.py BLOCKREPLAY FIXTURES [unittest arguments]
"""

import gzip
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

BLOCKREPLAY, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:3])
RECORDING = os.path.join(FIXTURES, "thor-churn")
GO = shutil.which("go")


class ListenTest(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="blockreplay-listen-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def start(self, *args: str, listen: str = ":0") -> None:
        """Starts a replay that takes an hour, and waits until it listens and replays."""
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [BLOCKREPLAY, "run", RECORDING, "--pace", "1", "--pprof-listen", listen, *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, TMPDIR=self.dir))
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        line = self.process.stdout.readline()
        self.assertRegex(line, r"^pprof       http://127\.0\.0\.1:\d+/debug/pprof/\n$")
        self.url = line.split()[1]
        self.port = int(self.url.split(":")[2].split("/")[0])
        while not line.startswith("host"):
            line = self.process.stdout.readline()
            self.assertTrue(line, "ended early")

    def request(self, path: str, method: str = "GET") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, "/debug/pprof/" + path)
        response = connection.getresponse()
        return response.status, response.read()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=300)
        self.assertEqual(self.process.returncode, 143, err)

    def test_endpoints(self) -> None:
        self.start()
        status, index = self.request("")
        self.assertEqual(status, 200)
        self.assertIn(b"profile", index)
        self.assertEqual(self.request("heap", "POST")[0], 405)
        status, cmdline = self.request("cmdline")
        self.assertEqual(cmdline.split(b"\0")[1:3], [b"run", RECORDING.encode()])
        status, profile = self.request("profile?seconds=1")
        self.assertEqual(status, 200)
        self.assertIn(b"nanoseconds", gzip.decompress(profile))
        self.assertIn(b"recording ", gzip.decompress(profile))
        status, heap = self.request("heap")
        if status != 501:  # runs without tcmalloc
            self.assertIn(b"inuse_space", gzip.decompress(heap))
            status, text = self.request("heap?debug=1")
            self.assertIn(b"inuse_space by phase", text)
        self.stop()

    def test_a_request_outlives_the_run(self) -> None:
        self.start()
        answers = []

        def wait_long() -> None:
            answer = self.request("profile?seconds=3600")
            while answer[0] == 409:  # one of the short requests below was first
                answer = self.request("profile?seconds=3600")
            answers.append(answer)

        waiting = threading.Thread(target=wait_long)
        waiting.start()
        while self.request("profile?seconds=1")[0] != 409:
            pass
        self.stop()
        waiting.join()
        self.assertEqual(answers[0][0], 200)
        self.assertIn(b"nanoseconds", gzip.decompress(answers[0][1]))

    def test_beside_the_runs_own_profiles(self) -> None:
        path = os.path.join(self.dir, "cpu.pb.gz")
        self.start("--cpu-profile", path)
        # Until the first block is measured there is no profile to take a part of.
        status = 503
        while status == 503:
            status, profile = self.request("profile?seconds=1")
        self.assertEqual(status, 200)
        self.assertIn(b"nanoseconds", gzip.decompress(profile))
        self.stop()
        with gzip.open(path) as file:
            self.assertIn(b"nanoseconds", file.read())

    def test_a_taken_port_is_found_before_anything_is_done(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = subprocess.run(
                [BLOCKREPLAY, "run", RECORDING, "--db", os.path.join(self.dir, "db"),
                 "--pprof-listen", f":{port}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^blockreplay: error: --pprof-listen: cannot listen on "
                                      rf"127\.0\.0\.1:{port}: Address already in use.*\n$")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "db")))
        done = subprocess.run([BLOCKREPLAY, "run", RECORDING, "--pprof-listen", "port"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is no address to listen on", done.stderr)

    @unittest.skipUnless(GO, "no Go here: not asked with its pprof")
    def test_go_tool_pprof(self) -> None:
        self.start()
        env = dict(os.environ, PPROF_TMPDIR=self.dir, GOTOOLCHAIN="local")
        for path, shown in (("profile?seconds=1", "Type: cpu"), ("heap", "Type: inuse_space"),
                            ("allocs", "Type: alloc_space"), ("growth", "Type: space"),
                            ("heap?seconds=1", "Type: inuse_space")):
            with self.subTest(path=path):
                if path.startswith(("heap", "allocs", "growth")) and self.request("heap")[0] == 501:
                    self.skipTest("runs without tcmalloc")
                done = subprocess.run([GO, "tool", "pprof", "-top", self.url + path],
                                      capture_output=True, text=True, env=env, timeout=300,
                                      check=False)
                if "no such tool" in done.stderr:
                    self.skipTest("this Go has no pprof")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(shown, done.stdout)
                self.assertNotIn("405", done.stderr)
        self.stop()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
