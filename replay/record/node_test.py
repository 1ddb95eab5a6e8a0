#!/usr/bin/env python3
"""Records a real Cosmos SDK node through the plugin, kills both at random, and replays what was recorded.

The node (testhost/) is built with Go from public modules; without Go, or where they cannot be fetched, the test is skipped.

usage: node_test.py BLOCKREPLAY TESTHOST_SOURCE BUILD_DIR [unittest arguments]
"""

import collections
import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BLOCKREPLAY, SOURCE, BUILD = (Path(path).absolute() for path in sys.argv[1:4])
CHAIN_ID = "testhost-1"
GO_NEEDED = (1, 23)
BLOCKS = 300


def build_host() -> Path:
    """The node's executable; raises SkipTest where it cannot be made."""
    go = shutil.which("go")
    if go is None:
        raise unittest.SkipTest("no Go here: the plugin was not tried with a real node")
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    match = re.match(r"go(\d+)\.(\d+)", version)
    if match is None or tuple(map(int, match.groups())) < GO_NEEDED:
        raise unittest.SkipTest(f"{version.strip()} is older than {GO_NEEDED}: the plugin was not tried with a real node")
    host = BUILD / "testhost"
    env = dict(os.environ, GOFLAGS="-mod=readonly", CGO_ENABLED="0", GOTOOLCHAIN="local")
    download = subprocess.run([go, "mod", "download"], cwd=SOURCE, env=env, capture_output=True, text=True, check=False)
    if download.returncode != 0:
        raise unittest.SkipTest(f"Go modules cannot be fetched: {download.stderr.strip()[-500:]}")
    # That it compiles is part of the test.
    subprocess.run([go, "build", "-ldflags=-s -w", "-o", host, "."], cwd=SOURCE, env=env, check=True)
    return host


class NodeTest(unittest.TestCase):
    host: Path

    @classmethod
    def setUpClass(cls):
        cls.host = build_host()

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="blockreplay-node-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = self.dir / "node"
        self.home.mkdir()
        self.out = self.dir / "stream"

    def start(self, *args: str, record: str = "") -> subprocess.Popen:
        command = f"{BLOCKREPLAY} record --out {self.out} --chain-id {CHAIN_ID} --blocks-per-part 40 {record}"
        with open(self.dir / "node.log", "ab") as log:
            return subprocess.Popen([self.host, "-home", self.home, *args], stdout=subprocess.PIPE, stderr=log, text=True,
                                    env=dict(os.environ, COSMOS_SDK_ABCI=command))

    def run_node(self, *args: str, record: str = "") -> None:
        node = self.start(*args, record=record)
        node.communicate(timeout=120)
        self.assertEqual(node.returncode, 0, self.log())

    def log(self) -> str:
        return (self.dir / "node.log").read_text(errors="replace")[-5000:]

    def app_hashes(self) -> dict[int, str]:
        lines = (self.home / "app_hashes").read_text().split("\n")
        return {int(height): app_hash for height, app_hash in (line.split() for line in lines if line.count(" ") == 1)}

    def ranges(self) -> list[tuple[int, int]]:
        """What is recorded, after the plugin has seen that its node ended."""
        folder = os.open(self.out, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            draft = json.loads((self.out / "manifest.draft.json").read_text())
        finally:
            os.close(folder)
        return [(entry["first"], entry["last"]) for entry in draft["origin"]["ranges"]]

    def plugin_of(self, node: subprocess.Popen) -> int | None:
        """The plugin's process, which is below the shell that the SDK starts or in its place."""
        children = collections.defaultdict(list)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                pid, rest = stat.read_text().split(" ", 1)
                children[int(rest.rpartition(")")[2].split()[1])].append(int(pid))
        pid = node.pid
        while children[pid]:
            pid = children[pid][0]
        return pid if pid != node.pid else None

    def tool(self, *args, expect: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([BLOCKREPLAY, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, expect, f"{args}\n{done.stdout}\n{done.stderr}")
        return done

    def assert_verifies(self, recording: Path, first: int, last: int) -> None:
        """Every block replays on our own trees, with the app hashes that the node computed."""
        manifest = json.loads((recording / "manifest.json").read_text())
        self.assertEqual((manifest["first_height"], manifest["last_height"]), (first, last))
        rows = self.dir / "rows.csv"
        report = self.dir / "report.json"
        self.tool("check", recording)
        self.tool("run", recording, "--quiet", "--report", report, "--csv", rows)
        self.assertEqual(json.loads(report.read_text())["blocks_verified"], last - first + 1)
        self.assertEqual(manifest["final_app_hash"], self.app_hashes()[last])
        self.assertIn("untouched", manifest["stores"])

    def test_records_from_genesis(self):
        self.run_node("-to", "120", "-empty-store")
        self.assertEqual(self.ranges(), [(1, 120)])
        recording = self.dir / "recording"
        self.tool("record", "finish", self.out, "--out", recording, "--genesis", self.home / "genesis.json",
                  "--stores", "acc,bank,consensus,notes,untouched,void")
        self.assert_verifies(recording, 1, 120)

    def test_survives_kills(self):
        seed = random.randrange(1 << 32)
        dice = random.Random(seed)
        with self.subTest(seed=seed):
            height = 0
            while height < BLOCKS:
                node = self.start("-to", str(BLOCKS), "-snapshot-interval", "25", "-pause", "1ms")
                target = min(BLOCKS, height + dice.randrange(20, 80))
                for line in node.stdout:
                    height = int(line)
                    if height >= target:
                        break
                time.sleep(dice.random() * 0.02)
                if height < BLOCKS and dice.random() < 0.3 and (plugin := self.plugin_of(node)) is not None:
                    os.kill(plugin, signal.SIGKILL)
                    time.sleep(0.01)
                if height < BLOCKS:
                    node.kill()
                node.wait(60)
                node.stdout.close()
            ranges = self.ranges()
            # At most the block that was being committed is lost with the node, some more with the plugin alone.
            self.assertLess(sum(b[0] - a[1] - 1 for a, b in zip(ranges, ranges[1:])), BLOCKS // 3, ranges)
            recording = self.dir / "recording"
            done = self.tool("record", "finish", self.out, "--out", recording, "--base", self.home / "data/snapshots")
            self.assertIn("verified", done.stdout)
            manifest = json.loads((recording / "manifest.json").read_text())
            self.assertEqual(manifest["base_height"] % 25, 0)
            self.assert_verifies(recording, manifest["first_height"], manifest["last_height"])

    def test_stop_node_on_err_stops_the_node(self):
        self.out.write_text("not a folder")
        node = self.start("-to", "5", "-stop-node-on-err")
        node.communicate(timeout=60)
        self.assertEqual(node.returncode, 1)
        self.assertIn("is not recorded", self.log())

    def test_errors_do_not_stop_the_node(self):
        self.out.write_text("not a folder")
        self.run_node("-to", "5")
        self.assertIn("is not recorded", self.log())
        self.assertEqual(len(self.app_hashes()), 5)

    def test_errors_can_be_kept_from_the_node(self):
        self.out.write_text("not a folder")
        self.run_node("-to", "5", "-stop-node-on-err", record="--ignore-errors")
        self.assertEqual(len(self.app_hashes()), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
