"""What the tests of the scripts share: usage NAME_test.py BLOCKREPLAY FALSIFY_RECORDING FIXTURES [unittest arguments]."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BLOCKREPLAY, FALSIFY, FIXTURES = (Path(path).resolve() for path in sys.argv[1:4])
SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))
SENDS = FIXTURES / "regression/send-send"
# The block of a successful send, which is its first transaction.
SEND_HEIGHT = 3
FAKE = Path(__file__).resolve().parent / "fake_blockreplay.py"

# Stands for a build that computes something else: it runs the real program, on another recording where the
# test says so, and changes what the program wrote.
WRAPPER = """\
#!/usr/bin/python3
import subprocess, sys
arguments = sys.argv[1:]
{before}
status = subprocess.run([{binary!r}, *arguments]).returncode
{after}
sys.exit(status)
"""


class PerfTest(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(tempfile.mkdtemp(prefix="blockreplay-perf-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        (self.dir / "tmp").mkdir()
        self.env = dict(os.environ, TMPDIR=str(self.dir / "tmp"))

    def script(self, name: str, *arguments: object, expect: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([str(SCRIPTS / name), *map(str, arguments)], capture_output=True, text=True, env=self.env,
                              cwd=self.dir, timeout=1200, check=False)
        self.assertEqual(done.returncode, expect, f"{name} {arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def wrapper(self, name: str, before: str = "", after: str = "") -> Path:
        path = self.dir / name
        path.write_text(WRAPPER.format(binary=str(BLOCKREPLAY), before=before, after=after), encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def falsify(self, source: Path, edit: str, height: int, store: str = "") -> Path:
        target = self.dir / f"falsified-{edit}-{height}-{store}"
        subprocess.run([FALSIFY, source, target, edit, str(height), store], check=True)
        return target

    def on_other_recording(self, name: str, source: Path, falsified: Path) -> Path:
        """A build that executes `source` as if it were `falsified`."""
        return self.wrapper(name, before=f"arguments = [{str(falsified)!r} if a == {str(source)!r} else a for a in arguments]")

    def load(self, path: Path) -> dict:
        return json.loads(path.read_text(encoding="utf-8"))

    def assert_nothing_left(self) -> None:
        self.assertEqual(os.listdir(self.dir / "tmp"), [])


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
