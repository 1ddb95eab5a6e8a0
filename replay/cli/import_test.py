#!/usr/bin/env python3
"""Tests `import` on a node's data directory, and that `run`, `check` and `info` take what it makes.

usage: import_test.py BLOCKREPLAY FIXTURES [unittest arguments]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BLOCKREPLAY, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:3])
NODE = os.path.join(FIXTURES, "node-db", "send-send-killed")
GNO_NODE = os.path.join(FIXTURES, "import", "gno-node")


class ImportTest(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="blockreplay-import-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = os.path.join(self.dir, "home")
        self.out = os.path.join(self.dir, "out")
        for folder in ("data", "config", "../tmp"):
            os.makedirs(os.path.join(self.home, folder))
        for database in ("application", "blockstore", "state"):
            subprocess.run(["tar", "--zstd", "-xf", os.path.join(NODE, f"{database}.db.tar.zst"),
                            "-C", os.path.join(self.home, "data")], check=True)
        subprocess.run(["zstd", "-qdo", os.path.join(self.home, "config", "genesis.json"),
                        os.path.join(NODE, "genesis.json.zst")], check=True)

    def blockreplay(self, *args: str, status: int = 0) -> str:
        result = subprocess.run([BLOCKREPLAY, *args], capture_output=True, text=True, timeout=600,
                                env=dict(os.environ, TMPDIR=os.path.join(self.dir, "tmp")), check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        if status == 1:
            self.assertRegex(result.stderr, r"\Ablockreplay: error: [^\n]+\n\Z")
        return result.stdout if status == 0 else result.stderr

    def test_from_genesis(self) -> None:
        output = self.blockreplay("import", "--home", self.home, "--out", self.out,
                                  "--application-version", "3.17.0")
        self.assertIn("heights 1 to 8", output)
        self.assertIn("8 app hashes by replay, 8 of them in the next header too", output)
        self.blockreplay("check", self.out)
        self.assertIn("all equal", self.blockreplay("run", self.out))
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        self.assertEqual(manifest["application"], {"name": "thornode", "version": "3.17.0"})
        self.assertTrue(manifest["origin"]["verified"])

    def test_from_the_middle(self) -> None:
        self.blockreplay("import", "--home", os.path.join(self.home, "data"), "--from", "5", "--to", "7",
                         "--out", self.out, "--part-blocks", "2", "-q")
        self.assertEqual(sorted(os.listdir(self.out)),
                         ["blocks-5.zst", "blocks-7.zst", "manifest.json", "snapshot"])
        self.assertIn("all equal", self.blockreplay("run", self.out))

    def test_own_base(self) -> None:
        """A snapshot in place of the one that the node's own trees would give."""
        snapshot = os.path.join(self.dir, "snapshot")
        self.blockreplay("export", f"{self.home}@4", "-o", snapshot)
        archive = os.path.join(self.dir, "4-3.tar.gz")
        subprocess.run(["tar", "--format=ustar", "-czf", archive, "-C", snapshot, "_snapshot", "0"], check=True)
        self.blockreplay("import", "--home", self.home, "--from", "5", "--base", archive, "--out", self.out)
        self.assertIn("all equal", self.blockreplay("run", self.out))
        error = self.blockreplay("import", "--home", self.home, "--from", "6", "--base", archive,
                                 "--out", self.out + "2", status=1)
        self.assertIn("a snapshot of height 5 is needed", error)

    def test_a_full_disk(self) -> None:
        disk = os.path.join(self.dir, "disk")
        os.mkdir(disk)
        mount = ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", disk]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("cannot mount a small file system here")
        out = os.path.join(disk, "out")
        # Which file finds no room depends on how much there is.
        try:
            errors = set()
            for free in (0, 8, 16, 24, 32, 48, 64, 96):
                with open(os.path.join(disk, "filler"), "wb") as file:
                    file.write(bytes((640 - free) << 10))
                for arguments in (("--from", "5"), ()):
                    result = subprocess.run(
                        [BLOCKREPLAY, "import", "--home", self.home, "--out", out, "-q", *arguments],
                        capture_output=True, text=True, check=False, timeout=600,
                        env=dict(os.environ, TMPDIR=os.path.join(self.dir, "tmp")))
                    if result.returncode == 0:
                        self.blockreplay("check", out)
                        shutil.rmtree(out)
                        continue
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertRegex(result.stderr, r"\Ablockreplay: error: [^\n]+\n\Z")
                    self.assertRegex(result.stderr, "No space left|MiB free")
                    self.assertFalse(os.path.exists(out), result.stderr)
                    errors.add(result.stderr)
            self.assertGreater(len(errors), 2)
        finally:
            subprocess.run(["umount", "-l", disk], check=False)
        self.assertEqual(os.listdir(os.path.join(self.dir, "tmp")), [])

    # Which file of the replay finds no room depends on how much there is, too.
    def test_a_full_disk_under_the_replay(self) -> None:
        disk = os.path.join(self.dir, "scratch")
        os.mkdir(disk)
        errors = set()
        for size in (32, 64, 96, 128, 160, 192):
            mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk]
            if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
                self.skipTest("cannot mount a small file system here")
            try:
                result = subprocess.run([BLOCKREPLAY, "import", "--home", self.home, "--out", self.out, "-q"],
                                        capture_output=True, text=True, check=False, timeout=600,
                                        env=dict(os.environ, TMPDIR=disk))
                if result.returncode == 0:
                    self.blockreplay("check", self.out)
                    shutil.rmtree(self.out)
                    continue
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr, r"\Ablockreplay: error: [^\n]+\n\Z")
                self.assertRegex(result.stderr, "No space left|MiB free")
                self.assertFalse(os.path.exists(self.out))
                self.assertEqual(os.listdir(disk), [])
                # Without the names of temporary folders.
                errors.add(re.sub(r"blockreplay-[\w-]*", "", result.stderr))
            finally:
                subprocess.run(["umount", "-l", disk], check=False)
        self.assertGreater(len(errors), 1)

    def test_errors(self) -> None:
        self.assertIn("name a source", self.blockreplay("import", "--out", self.out, status=1))
        error = self.blockreplay("import", "--home", self.home, "--to", "9", "--out", self.out, status=1)
        self.assertIn("1 to 8 can be imported", error)
        self.assertIn("does not exist",
                      self.blockreplay("import", "--home", self.dir + "/no", "--out", self.out, status=1))
        self.assertFalse(os.path.exists(self.out))
        error = self.blockreplay("import", "--home", self.home, "--out", self.home, status=1)
        self.assertIn("not an empty folder", error)
        self.assertEqual(sorted(os.listdir(self.home)), ["config", "data"])

    def test_no_verify_says_so(self) -> None:
        output = self.blockreplay("import", "--home", self.home, "--no-verify", "--out", self.out)
        self.assertIn("--no-verify", output)
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            self.assertFalse(json.load(file)["origin"]["verified"])
        self.blockreplay("run", self.out)


class GnoImportTest(unittest.TestCase):
    """A gno.land node's folder, converted: fixtures/import/gno-node."""

    blockreplay = ImportTest.blockreplay

    def setUp(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="blockreplay-import-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = os.path.join(self.dir, "home")
        self.out = os.path.join(self.dir, "out")
        for folder in ("home", "tmp"):
            os.makedirs(os.path.join(self.dir, folder))
        for database in ("gnolang", "blockstore", "state"):
            subprocess.run(["tar", "--zstd", "-xf", os.path.join(GNO_NODE, f"{database}.db.tar.zst"),
                            "-C", self.home], check=True)
        self.genesis = os.path.join(GNO_NODE, "genesis.json")

    def test_from_genesis(self) -> None:
        output = self.blockreplay("import", "--home", self.home, "--genesis", self.genesis, "--out", self.out)
        self.assertIn("22 app hashes by replay, 21 of them in the next header too", output)
        self.assertIn("22 header hashes, 19 transaction hashes, 21 results hashes", output)
        self.blockreplay("check", self.out)
        output = self.blockreplay("run", self.out)
        self.assertIn("22 blocks, all equal", output)
        with open(os.path.join(GNO_NODE, "node.json"), encoding="utf-8") as file:
            self.assertIn(json.load(file)["app_hashes"]["22"], output)

    def test_sends_replay_natively_from_a_base(self) -> None:
        self.blockreplay("import", "--home", self.home, "--from", "12", "--to", "20", "--out", self.out, "-q")
        self.assertEqual(sorted(os.listdir(self.out)), ["base", "blocks.zst", "manifest.json"])
        self.blockreplay("check", self.out)
        output = self.blockreplay("run", self.out, "--exec", "native")
        self.assertIn("9 blocks, all equal", output)
        self.assertRegex(output, r"/bank\.MsgSend +11 +11 +11 +100\.00%")
        # What a run leaves goes on, whichever way.
        database = os.path.join(self.dir, "db")
        self.blockreplay("run", self.out, "--db", database, "--to", "15", "--persist", "every")
        self.assertIn("all equal", self.blockreplay("run", self.out, "--db", database, "--resume", "--persist",
                                                    "every"))

    def test_calls_of_the_virtual_machine_are_applied_only(self) -> None:
        self.blockreplay("import", "--home", self.home, "--from", "5", "--to", "12", "--out", self.out, "-q")
        self.assertIn("8 blocks, all equal", self.blockreplay("run", self.out))
        self.assertRegex(self.blockreplay("run", self.out, "--exec", "native", "--quiet", status=1),
                         "block 6: .*virtual machine")

    def test_damaged_bases_are_found(self) -> None:
        self.blockreplay("import", "--home", self.home, "--from", "12", "--out", self.out, "-q")
        manifest = os.path.join(self.out, "manifest.json")
        with open(manifest, encoding="utf-8") as file:
            document = json.load(file)
        document["base_app_hash"] = "ab" * 32
        with open(manifest, "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.assertIn("has the app hash", self.blockreplay("check", self.out, status=1))
        self.assertIn("instead of " + "ab" * 32, self.blockreplay("run", self.out, status=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
