#!/usr/bin/env python3
"""Tests pgo.sh: its flags on a small program with real compilers, its steps on a build that takes no time."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from perf_testing import BLOCKREPLAY, SCRIPTS, SENDS, PerfTest, main

from blockreplay_perf import pgo
from blockreplay_perf.errors import PerfError

SOURCE = SCRIPTS.parents[1]
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
include({source}/cmake/Targets.cmake)
find_package(Threads REQUIRED)
add_executable(small small.cc)
target_link_libraries(small PRIVATE Threads::Threads)
blockreplay_pgo_options(small)
"""
# Two threads count in the same function; one function is never called in training.
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <thread>
__attribute__((noinline)) int hot(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i % 7 ? i : -i; return s; }
__attribute__((noinline)) int cold(int n) { std::puts("cold"); return n * 3; }
int main(int argc, char**) {
  if (argc > 5) return cold(argc);
  int a = 0, b = 0;
  std::thread one([&] { for (int i = 0; i < 20000; ++i) a += hot(100 + argc); });
  std::thread two([&] { for (int i = 0; i < 20000; ++i) b += hot(100 + argc); });
  one.join(); two.join();
  return a == b ? 0 : 1;
}
"""


class Flags(PerfTest):
    """blockreplay_pgo_options does what it is for, with the compilers that are there."""

    def configure_and_build(self, name: str, compiler: str, mode: str) -> Path:
        project, build = self.dir / "project", self.dir / name
        project.mkdir(exist_ok=True)
        (project / "CMakeLists.txt").write_text(PROJECT.format(source=SOURCE), encoding="utf-8")
        (project / "small.cc").write_text(PROGRAM, encoding="utf-8")
        for command in (["cmake", "-S", project, "-B", build, "-GNinja", f"-DCMAKE_CXX_COMPILER={compiler}",
                         "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DBLOCKREPLAY_PGO={mode}",
                         f"-DBLOCKREPLAY_PGO_DIR={self.dir}/profile"], ["cmake", "--build", build, "--verbose"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.output = done.stdout
        return build / "small"

    def sections(self, program: Path) -> str:
        (objects,) = program.parent.glob("CMakeFiles/small.dir/*.o")
        return subprocess.run(["objdump", "-h", objects], capture_output=True, text=True, check=True).stdout

    def test_gcc(self) -> None:
        small = self.configure_and_build("generate", "g++", "generate")
        self.assertIn("-fprofile-update=atomic", self.output)
        subprocess.run([small], check=True)
        self.assertTrue(list((self.dir / "profile").rglob("*.gcda")))
        # Another build tree finds what that one wrote: what ran often is in a section of its own.
        used = self.configure_and_build("use", "g++", "use")
        self.assertIn("-fprofile-partial-training", self.output)
        self.assertIn(".text.hot", self.sections(used))
        shutil.rmtree(self.dir / "profile")
        without = self.configure_and_build("use-nothing", "g++", "use")
        self.assertNotIn(".text.hot", self.sections(without))

    @unittest.skipIf(shutil.which("clang++-19") is None or shutil.which("llvm-profdata-19") is None,
                     "clang-19 and llvm-19 are not installed")
    def test_clang(self) -> None:
        small = self.configure_and_build("generate", "clang++-19", "generate")
        self.assertIn("-fprofile-update=atomic", self.output)
        profiles = self.dir / "profile"
        profiles.mkdir()
        subprocess.run([small], check=True, env={**os.environ, "LLVM_PROFILE_FILE": f"{profiles}/%p.profraw"})
        pgo.merge_llvm(list(profiles.glob("*.profraw")), profiles / "default.profdata")
        used = self.configure_and_build("use", "clang++-19", "use")
        self.assertRegex(self.sections(used), r"\.text\.(hot|unlikely)")


class Steps(PerfTest):
    """A source tree whose builds are wrappers of the real program."""

    def pgo(self, generated: str) -> pgo.Pgo:
        source = self.dir / "source"
        (source / "build").mkdir(parents=True)
        wrapper = self.wrapper("program", after=generated.format(profiles=source / "build/pgo-profile"))
        stub = self.dir / "bin/cmake"
        stub.parent.mkdir()
        stub.write_text("#!/bin/sh\necho \"$@\" >>cmake.log\n[ \"$1\" = --build ] || exit 0\n"
                        f"mkdir -p build/$3/bin && cp {wrapper} build/$3/bin/blockreplay\n", encoding="utf-8")
        stub.chmod(0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{stub.parent}:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        return pgo.Pgo(source, pgo.COMPILERS["gcc"], self.dir)

    def test_build_train_build(self) -> None:
        steps = self.pgo("open('{profiles}/x.gcda', 'w')")
        steps.build("release")
        steps.train(steps.build("pgo-gen"), SENDS, (1, 4), ())
        used = steps.build("pgo-use", "-DBLOCKREPLAY_PGO=use")
        self.assertTrue(used.exists())
        self.assertTrue((steps.profiles / "x.gcda").exists())
        calls = (self.dir / "source/cmake.log").read_text(encoding="utf-8").splitlines()
        self.assertEqual([call.split()[:2] for call in calls],
                         [["--preset", "release"], ["--build", "--preset"], ["--preset", "pgo-gen"], ["--build", "--preset"],
                          ["--preset", "pgo-use"], ["--build", "--preset"]])

    def test_a_training_that_leaves_nothing_is_an_error(self) -> None:
        steps = self.pgo("")
        with self.assertRaisesRegex(PerfError, "wrote no profile"):
            steps.train(steps.build("pgo-gen"), SENDS, (1, 4), ())

    def test_a_training_that_fails_is_an_error(self) -> None:
        steps = self.pgo("status = 2")
        with self.assertRaises(PerfError) as raised:
            steps.train(steps.build("pgo-gen"), SENDS, (1, 4), ())
        self.assertEqual(raised.exception.status, 2)


class Profiles(PerfTest):
    def test_the_cpu_profile_has_the_shape_that_go_takes(self) -> None:
        path = self.dir / "default.pgo"
        # As often as it takes to be sampled; how long a block takes does not matter.
        pgo.write_go_shaped_profile(BLOCKREPLAY, SENDS, (1, 8), ("--passes", "200"), path, SOURCE)
        self.assertIsNone(pgo.profile_problem(path, SOURCE))

    def test_other_shapes_are_told(self) -> None:
        wall = self.dir / "wall.pb.gz"
        subprocess.run([BLOCKREPLAY, "run", SENDS, "--quiet", "--wall-profile", wall], check=True, env=self.env)
        self.assertIn("sample types", pgo.profile_problem(wall, SOURCE))


class Usage(PerfTest):
    def test_ranges(self) -> None:
        self.assertEqual(pgo.split_range(SENDS, None, None), ((1, 4), (5, 8)))
        self.assertEqual(pgo.split_range(SENDS, "5-8", "1-2"), ((5, 8), (1, 2)))
        for train, held in (("1-5", "5-8"), ("1-9", None), ("5", None), ("4-3", None)):
            with self.assertRaises(PerfError):
                pgo.split_range(SENDS, train, held)

    def test_usage(self) -> None:
        self.assertIn("held-out", self.script("pgo.sh", "--help").stdout)
        done = self.script("pgo.sh", "--train", "1-5", "--held-out", "4-8", "--recording", SENDS, expect=1)
        self.assertIn("overlaps the training range", done.stderr)

    def test_autofdo_without_branch_records_says_so(self) -> None:
        stub = self.dir / "bin/perf"
        stub.parent.mkdir()
        stub.write_text("#!/bin/sh\necho 'Error:' >&2; echo 'no branch stack sampling' >&2; exit 1\n", encoding="utf-8")
        stub.chmod(0o755)
        self.env["PATH"] = f"{stub.parent}:{self.env['PATH']}"
        done = self.script("pgo.sh", "--autofdo", expect=1)
        self.assertIn("no branch stack sampling", done.stderr)
        self.assertIn("leave out --autofdo", done.stderr)
        stub.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        self.assertIsNone(pgo.branch_records_problem(str(stub)))


if __name__ == "__main__":
    main()
