#!/usr/bin/env python3
"""Tests convert-pebble.sh on databases that a real gno.land node left behind.

usage: convert_test.py BLOCKREPLAY SCRIPTS FIXTURES [unittest arguments]

The converter is built with Go from public modules; without Go, or where they cannot be fetched, the test is skipped.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BLOCKREPLAY, SCRIPTS, FIXTURES = (Path(path).absolute() for path in sys.argv[1:4])
NODE = FIXTURES / "import" / "gno-node"
GO_NEEDED = (1, 23)
DATABASES = ("gnolang", "blockstore", "state")
GO_ENV = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}


def fingerprint(folder: Path) -> dict[str, tuple[str, int, int]]:
    files = {}
    for path in sorted(folder.rglob("*")):
        info = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        files[str(path)] = (digest, info.st_mtime_ns, info.st_ctime_ns)
    return files


class ConvertTest(unittest.TestCase):
    tool: Path

    @classmethod
    def setUpClass(cls):
        go = shutil.which("go")
        if go is None:
            raise unittest.SkipTest("no Go here: PebbleDB was not converted")
        version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
        match = re.match(r"go(\d+)\.(\d+)", version)
        if match is None or tuple(map(int, match.groups())) < GO_NEEDED:
            raise unittest.SkipTest(f"{version.strip()} is older than {GO_NEEDED}: PebbleDB was not converted")
        source = SCRIPTS / "import" / "pebble-to-goleveldb"
        env = dict(os.environ, GOFLAGS="-mod=readonly", **GO_ENV)
        download = subprocess.run([go, "mod", "download"], cwd=source, env=env, capture_output=True, text=True,
                                  check=False)
        if download.returncode != 0:
            raise unittest.SkipTest(f"Go modules cannot be fetched: {download.stderr.strip()[-500:]}")
        cls.bin = Path(tempfile.mkdtemp(prefix="blockreplay-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.bin, ignore_errors=True)
        cls.tool = cls.bin / "pebble-to-goleveldb"
        subprocess.run([go, "build", "-buildvcs=false", "-o", cls.tool, "."], cwd=source, env=env, check=True)

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="blockreplay-convert-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = self.dir / "home"
        (self.home / "db").mkdir(parents=True)
        self.unpack("pebble", self.home / "db")

    def unpack(self, archive: str, target: Path) -> None:
        subprocess.run(["tar", "--zstd", "-xf", NODE / f"{archive}.tar.zst", "-C", target], check=True)

    def run_tool(self, *args: Path | str, status: int = 0) -> str:
        result = subprocess.run([str(self.tool), *map(str, args)], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def convert(self, *args: Path | str, status: int = 0) -> str:
        result = subprocess.run([str(SCRIPTS / "import" / "convert-pebble.sh"), *map(str, args)], text=True,
                                capture_output=True, env=dict(os.environ, **GO_ENV), check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_a_node_can_be_imported_after_it(self) -> None:
        # What is goleveldb already is copied.
        self.unpack("gnolang.db", self.home / "db")
        shutil.copy(NODE / "genesis.json", self.dir / "genesis.json")
        before = fingerprint(self.home)
        target = self.dir / "converted"
        output = self.convert(self.home, target)
        self.assertEqual(fingerprint(self.home), before)
        self.assertIn("gnolang.db: copied", output)
        self.assertEqual(sorted(path.name for path in target.iterdir()),
                         ["blockstore.db", "gnolang.db", "state.db"])
        result = subprocess.run([BLOCKREPLAY, "import", "--home", target, "--out", self.dir / "out", "-q"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("already", self.convert(self.home, target, status=1))

    def test_without_writing_into_the_source(self) -> None:
        source = self.home / "db" / "blockstore.db"
        before = fingerprint(source)
        os.chmod(source, 0o500)
        self.addCleanup(os.chmod, source, 0o700)
        output = self.run_tool(source, self.dir / "target")
        self.assertEqual({path: (digest, mtime) for path, (digest, mtime, _) in fingerprint(source).items()},
                         {path: (digest, mtime) for path, (digest, mtime, _) in before.items()})
        self.assertRegex(output, r"target: \d\d+ keys")
        self.assertFalse((self.dir / "target.incomplete").exists())

    def test_refuses_targets_that_are_there(self) -> None:
        source = self.home / "db" / "state.db"
        (self.dir / "target").mkdir()
        self.assertIn("exists already", self.run_tool(source, self.dir / "target", status=1))
        (self.dir / "other.incomplete").mkdir()
        self.assertIn("did not end", self.run_tool(source, self.dir / "other", status=1))

    def test_refuses_what_is_no_pebble(self) -> None:
        self.unpack("gnolang.db", self.dir)
        self.assertIn("goleveldb is read as it is",
                      self.run_tool(self.dir / "gnolang.db", self.dir / "target", status=1))
        self.assertIn("no such file", self.run_tool(self.dir / "nothing", self.dir / "target", status=1))
        options = next((self.home / "db" / "state.db").glob("OPTIONS-*"))
        options.write_text("[Version]\n  rocksdb_version=8.9.1\n", encoding="utf-8")
        self.assertIn("RocksDB", self.run_tool(self.home / "db" / "state.db", self.dir / "target", status=1))

    def test_refuses_a_database_in_use(self) -> None:
        source = self.home / "db" / "state.db"
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys\n"
                                   f"f = open({str(source / 'LOCK')!r}, 'r+')\n"
                                   "fcntl.lockf(f, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(holder.stdout.readline(), "held\n")
            self.assertIn("running node", self.run_tool(source, self.dir / "target", status=1))
        finally:
            holder.communicate("")
        self.assertFalse((self.dir / "target").exists())

    def test_damage_is_an_error(self) -> None:
        source = self.home / "db" / "blockstore.db"
        manifest = next(source.glob("MANIFEST-*"))
        manifest.write_bytes(manifest.read_bytes()[:20])
        self.assertIn("cannot be opened", self.run_tool(source, self.dir / "target", status=1))
        self.assertEqual([path.name for path in self.dir.iterdir()], ["home"])

    def test_folders_without_databases(self) -> None:
        self.assertIn("Usage", self.convert("--help"))
        self.assertIn("no blockstore.db", self.convert(self.dir, self.dir / "target", status=1))
        self.assertIn("neither application.db nor gnolang.db",
                      self.convert(self.home, self.dir / "target", status=1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
