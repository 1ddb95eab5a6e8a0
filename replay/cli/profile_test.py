#!/usr/bin/env python3
"""Tests `blockreplay profile` on profiles of real runs, against Go's pprof where there is a Go.

usage: profile_test.py BLOCKREPLAY FIXTURES [unittest arguments]
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator

BLOCKREPLAY, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:3])
RECORDING = os.path.join(FIXTURES, "thor-churn")
GO = shutil.which("go")

NANOS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "": 1}


def nanos(text: str) -> float:
    """1.23s, 45ms, 0 and the like."""
    number, unit = re.fullmatch(r"(-?[\d.]+)(ns|us|ms|s|)", text).groups()
    return float(number) * NANOS[unit]


def folded_sum(text: str) -> int:
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


class ProfileTest(unittest.TestCase):
    dir: str
    shards: list[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.dir = tempfile.mkdtemp(prefix="blockreplay-profile-test-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.shards = []
        for index, (first, last) in enumerate(((51, 200), (201, 350))):
            path = os.path.join(cls.dir, f"shard{index}.pb.gz")
            subprocess.run([BLOCKREPLAY, "run", RECORDING, "--from", str(first), "--to", str(last),
                            "--passes", "2", "--quiet", "--cpu-profile", path], check=True)
            cls.shards.append(path)

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def profile(self, *args: str, expect: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([BLOCKREPLAY, "profile", *args], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, expect, f"{args}\n{done.stdout}\n{done.stderr}")
        return done

    def rows(self, *args: str) -> Iterator[tuple[str, str]]:
        """Value and name of each row of a table by label."""
        for line in self.profile(*args).stdout.splitlines()[2:]:
            value, _, name = line.split(maxsplit=2)
            yield name, value

    def test_top_and_fold_agree(self) -> None:
        folded = self.profile("fold", self.shards[0]).stdout
        total = folded_sum(folded)
        self.assertGreater(total, 0)
        self.assertEqual(total % 10_000_000, 0)  # whole periods of 100 Hz
        header = self.profile("top", self.shards[0]).stdout.splitlines()[0]
        self.assertAlmostEqual(nanos(header.rsplit(" ", 1)[1]), total, delta=0.01 * total)
        samples = folded_sum(self.profile("fold", self.shards[0], "--sample-type", "samples").stdout)
        self.assertEqual(samples * 10_000_000, total)

    def test_labels_partition_the_whole(self) -> None:
        by_phase = dict(self.rows("top", self.shards[0], "--by", "phase", "--sample-type", "samples"))
        samples = folded_sum(self.profile("fold", self.shards[0], "--sample-type", "samples").stdout)
        self.assertIn("hash", by_phase)
        self.assertEqual(sum(map(int, by_phase.values())), samples)
        inside = dict(self.rows("top", self.shards[0], "--by", "thread_role", "--where", "phase=hash",
                                "--sample-type", "samples"))
        self.assertEqual(sum(map(int, inside.values())), int(by_phase["hash"]))
        folded = self.profile("fold", self.shards[0], "--by", "phase,thread_role").stdout
        self.assertIn("hash;main;", folded)

    def test_plain_profiles_are_as_good(self) -> None:
        with gzip.open(self.shards[0]) as packed, open(self.path("plain.pb"), "wb") as plain:
            plain.write(packed.read())
        self.assertEqual(self.profile("fold", self.path("plain.pb")).stdout,
                         self.profile("fold", self.shards[0]).stdout)
        self.profile("fold", self.shards[0], "-o", self.path("folded"))
        with open(self.path("folded"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.profile("fold", self.shards[0]).stdout)

    def test_merge_adds_up(self) -> None:
        merged = self.path("merged.pb.gz")
        self.profile("merge", *self.shards, "-o", merged)
        sums: dict[str, int] = {}
        for shard in self.shards:
            for name, value in self.rows("top", shard, "--by", "phase", "--sample-type", "samples"):
                sums[name] = sums.get(name, 0) + int(value)
        of_merged = {name: int(value) for name, value in
                     self.rows("top", merged, "--by", "phase", "--sample-type", "samples")}
        self.assertEqual(of_merged, sums)

    def test_diff(self) -> None:
        same = self.profile("diff", self.shards[0], self.shards[0], "--by", "phase").stdout
        self.assertRegex(same, r"\+0\.0%  \(total\)")
        self.assertEqual(set(re.findall(r"[-+]\d+\.\d%", same)), {"+0.0%"})
        text = self.profile("diff", *self.shards, "--limit", "5").stdout
        self.assertIn("cum after", text)
        self.assertEqual(len(text.splitlines()), 2 + 1 + 5 + 1)

    def test_errors_are_one_line(self) -> None:
        with open(self.path("junk"), "wb") as file:
            file.write(os.urandom(1000))
        for args in (("top", self.path("nothing")), ("top", self.path("junk")),
                     ("top", self.shards[0], "--by", "colour"),
                     ("top", self.shards[0], "--sample-type", "inuse_space"),
                     ("top", self.shards[0], "--where", "colour=red"),
                     ("merge", self.shards[0], "-o", self.path("no/such/folder")), (),
                     ("merge", self.shards[0]), ("diff", self.shards[0])):
            with self.subTest(args=args):
                lines = self.profile(*args, expect=1).stderr.splitlines()
                self.assertEqual(len(lines), 1, lines)
                self.assertTrue(lines[0].startswith("blockreplay: error: "), lines[0])

    def pprof(self, *args: str) -> str:
        env = dict(os.environ, PPROF_TMPDIR=self.dir, GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
        done = subprocess.run([GO, "tool", "pprof", *args], capture_output=True, text=True, env=env,
                              timeout=300, check=False)
        if "no such tool" in done.stderr:
            self.skipTest("this Go has no pprof")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def raw_values(self, path: str) -> list[int]:
        """Sums of the values of all samples, in the order of the sample types."""
        sums: list[int] = []
        for line in self.pprof("-raw", path).splitlines():
            match = re.fullmatch(r"((?: *-?\d+)+): [\d ]*", line)
            if match:
                values = [int(value) for value in match.group(1).split()]
                sums = [a + b for a, b in zip(sums or [0] * len(values), values, strict=True)]
        return sums

    @unittest.skipUnless(GO, "no Go here: not compared with its pprof")
    def test_merge_agrees_with_pprof(self) -> None:
        theirs, ours = self.path("theirs.pb.gz"), self.path("ours.pb.gz")
        self.pprof("-proto", "-output", theirs, *self.shards)
        self.profile("merge", *self.shards, "-o", ours)
        self.assertEqual(self.raw_values(ours), self.raw_values(theirs))
        self.assertTrue(self.raw_values(ours))
        # Not by function: pprof writes its own, shortened form of C++ names.
        for by in ("phase", "store", "thread_role", "phase,height"):
            args = ("--by", by, "--limit", "0", "--sample-type", "samples")
            self.assertEqual(self.profile("top", ours, *args).stdout,
                             self.profile("top", theirs, *args).stdout)

    @unittest.skipUnless(GO, "no Go here: not compared with its pprof")
    def test_top_agrees_with_pprof(self) -> None:
        theirs = self.pprof("-top", "-nodecount=0", "-edgefraction=0", "-nodefraction=0",
                            "-sample_index=samples", self.shards[0])
        flat = {}
        for line in theirs.splitlines():
            match = re.fullmatch(r" *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (.*?)(?: \(inline\))?",
                                 line)
            if match and not match[3].startswith("["):
                flat[match[3].replace(" (partial-inline)", "")] = (int(match[1]), int(match[2]))
        ours = {}
        for line in self.profile("top", self.shards[0], "--limit", "0",
                                 "--sample-type", "samples").stdout.splitlines()[2:]:
            value, _, cumulative, _, name = line.split(maxsplit=4)
            if not name.startswith("["):
                ours[name] = (int(value), int(cumulative))
        self.assertGreater(len(flat), 20)
        # pprof shortens the names of functions with long parameters: what has the same name must
        # have the same figures, and most have.
        common = [name for name in flat if name in ours]
        self.assertGreater(len(common), len(flat) // 2)
        self.assertEqual({name: ours[name] for name in common}, {name: flat[name] for name in common})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
