"""pgo.sh: profile-guided optimisation, measured on blocks that it was not trained on."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import ab
from .database import load_manifest, run_tool
from .errors import Parser, PerfError, run_main
from .sides import REPOSITORY, check_run_options

DESCRIPTION = """\
Builds an instrumented blockreplay, replays the training range with it, builds again with what it recorded, and
measures the result against the ordinary release build on a held-out range with ab.sh: its keep bar decides.
Options that are not listed here go to ab.sh (--pairs, --confirm, --gate, …), run options after -- to every run.
"""
EPILOG = """\
exit status: of ab.sh: 0 kept, 1 error, 2 hashes differ, 3 not kept, 4 regression, 5 inconclusive (docs/pgo.md)
example: scripts/perf/pgo.sh --compiler gcc --train 101-1100 --held-out 1101-2100 --confirm
"""


@dataclass(frozen=True)
class Compiler:
    """Presets of one compiler."""

    release: str
    generate: str
    use: str
    profile_folder: str  # below build/


COMPILERS = {"gcc": Compiler("release", "pgo-gen", "pgo-use", "pgo-profile"),
             "clang": Compiler("clang", "pgo-gen-clang", "pgo-use-clang", "pgo-profile-clang")}
RANGE = re.compile(r"(\d+)-(\d+)")


def parse_range(text: str) -> tuple[int, int]:
    match = RANGE.fullmatch(text)
    if not match or int(match.group(1)) > int(match.group(2)):
        raise PerfError(f"{text} is not a range: give FROM-TO")
    return int(match.group(1)), int(match.group(2))


def split_range(recording: Path, train: str | None, held_out: str | None) -> tuple[tuple[int, int], tuple[int, int]]:
    """Training and held-out range; by default the two halves. They must not overlap."""
    manifest = load_manifest(recording)
    first, last = int(manifest["first_height"]), int(manifest["last_height"])
    middle = (first + last) // 2
    training = parse_range(train) if train else (first, middle)
    held = parse_range(held_out) if held_out else (middle + 1, last)
    for begin, end in (training, held):
        if begin < first or end > last:
            raise PerfError(f"{recording} has blocks {first} to {last}: {begin}-{end} is not a range of it")
    if training[0] <= held[1] and held[0] <= training[1]:
        raise PerfError(f"the held-out range {held[0]}-{held[1]} overlaps the training range "
                        f"{training[0]}-{training[1]}: a gain on blocks that were trained on says nothing")
    return training, held


def tell(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


class Pgo:
    """The steps, in the build folders of one source tree."""

    def __init__(self, source: Path, compiler: Compiler, folder: Path) -> None:
        self.source = source
        self.compiler = compiler
        self.folder = folder
        self.profiles = source / "build" / compiler.profile_folder

    def binary(self, preset: str) -> Path:
        return self.source / "build" / preset / "bin/blockreplay"

    def build(self, preset: str, *settings: str) -> Path:
        tell(f"building with preset {preset}")
        log_path = self.folder / f"build-{preset}.log"
        with log_path.open("w", encoding="utf-8") as log:
            for command in (["cmake", "--preset", preset, *settings],
                            ["cmake", "--build", "--preset", preset, "--target", "blockreplay"]):
                done = subprocess.run(command, cwd=self.source, stdout=log, stderr=subprocess.STDOUT, check=False)
                if done.returncode != 0:
                    raise PerfError(f"{' '.join(command)} failed: see {log_path}")
        return self.binary(preset)

    def train(self, binary: Path, recording: Path, training: tuple[int, int], options: tuple[str, ...]) -> None:
        """Replays with the instrumented program, which writes its profile when it ends."""
        tell(f"training on blocks {training[0]} to {training[1]} of {recording.name}")
        shutil.rmtree(self.profiles, ignore_errors=True)
        self.profiles.mkdir(parents=True)
        env = dict(os.environ, LLVM_PROFILE_FILE=str(self.profiles / "%p.profraw"))
        done = subprocess.run([str(binary), "run", str(recording), "--from", str(training[0]), "--to", str(training[1]),
                               "--quiet", *options], env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PerfError(f"the training replay ended with status {done.returncode}: {done.stderr.strip()}",
                            2 if done.returncode == 2 else 1)
        raw = list(self.profiles.glob("*.profraw"))
        if raw:
            merge_llvm(raw, self.profiles / "default.profdata")
        elif not any(self.profiles.rglob("*.gcda")):
            raise PerfError(f"the training replay wrote no profile to {self.profiles}")


def llvm_tool(name: str) -> str:
    """Of the version that the presets compile with."""
    for candidate in (f"{name}-19", name):
        if shutil.which(candidate):
            return candidate
    raise PerfError(f"{name}-19 is not there: apt-get install llvm-19")


def merge_llvm(raw: list[Path], target: Path) -> None:
    run_tool([llvm_tool("llvm-profdata"), "merge", "-o", str(target), *map(str, raw)], "merging the profiles")


def branch_records_problem(perf: str = "perf") -> str | None:
    """Why perf cannot sample branches here; None if it can."""
    if shutil.which(perf) is None:
        return "perf is not there (package linux-perf)"
    done = subprocess.run([perf, "record", "-b", "-e", "cycles:u", "-o", "/dev/null", "true"], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip() and line.strip() != "Error:"]
    return lines[0].strip() if lines else f"perf record -b ended with status {done.returncode}"


def sample(pgo: Pgo, binary: Path, recording: Path, training: tuple[int, int], options: tuple[str, ...]) -> None:
    """AutoFDO: samples branches of a release build instead of instrumenting one."""
    tell(f"sampling branches on blocks {training[0]} to {training[1]} of {recording.name}")
    shutil.rmtree(pgo.profiles, ignore_errors=True)
    pgo.profiles.mkdir(parents=True)
    data = pgo.profiles / "perf.data"
    run_tool(["perf", "record", "-b", "-e", "cycles:u", "-o", str(data), "--", str(binary), "run", str(recording), "--from",
              str(training[0]), "--to", str(training[1]), "--quiet", *options], "perf record")
    run_tool([llvm_tool("llvm-profgen"), f"--binary={binary}", f"--perfdata={data}",
              f"--output={pgo.profiles / 'default.afdo'}"], "llvm-profgen")


def profile_problem(path: Path, source: Path) -> str | None:
    """Why Go's PGO tooling would not take a CPU profile's shape; None if it would: sample types samples/count and
    cpu/nanoseconds, and functions with the line they start at."""
    decoded = subprocess.run(["protoc", f"-I{source / 'proto'}", "--decode=perftools.profiles.Profile",
                              "perftools/profiles/profile.proto"], input=gzip.decompress(path.read_bytes()),
                             capture_output=True, check=False)
    if decoded.returncode != 0:
        return f"not a profile: {decoded.stderr.decode(errors='replace').strip()}"
    text = decoded.stdout.decode("utf-8", errors="replace")
    strings = re.findall(r'^string_table: "(.*)"$', text, re.MULTILINE)
    types = [(strings[int(a)], strings[int(b)])
             for a, b in re.findall(r"^sample_type \{\n  type: (\d+)\n  unit: (\d+)\n\}", text, re.MULTILINE)]
    if types != [("samples", "count"), ("cpu", "nanoseconds")]:
        return f"its sample types are {types}"
    if not re.search(r"^function \{\n(?:  .*\n)*?  start_line: [1-9]", text, re.MULTILINE):
        return "no function has a start line"
    if not re.search(r"^    line: [1-9]", text, re.MULTILINE):
        return "no location has a line number"
    return None


def write_go_shaped_profile(binary: Path, recording: Path, training: tuple[int, int], options: tuple[str, ...],
                            path: Path, source: Path) -> None:
    run_tool([str(binary), "run", str(recording), "--from", str(training[0]), "--to", str(training[1]), "--quiet",
              "--cpu-profile", str(path), *options], "the profiled replay")
    problem = profile_problem(path, source)
    if problem:
        raise PerfError(f"{path} has not the shape that Go's PGO tooling takes: {problem}")


def main(argv: list[str]) -> int:
    own, rest = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = Parser("pgo.sh", DESCRIPTION, EPILOG)
    parser.add_argument("--compiler", choices=sorted(COMPILERS), default="gcc", help="default gcc")
    parser.add_argument("--autofdo", action="store_true",
                        help="sample branches with perf instead of instrumenting (Clang, on machines with branch records)")
    parser.add_argument("--recording", default=str(REPOSITORY / "fixtures/thor-2000"), metavar="DIR",
                        help="default fixtures/thor-2000")
    parser.add_argument("--train", metavar="FROM-TO", help="training range (default: the first half)")
    parser.add_argument("--held-out", metavar="FROM-TO", help="range of the measurement (default: the second half)")
    parser.add_argument("--skip-builds", action="store_true", help="measure what was built before")
    parser.add_argument("--out", metavar="DIR", help="where results go (default runs/pgo/<time>)")
    arguments, for_ab = parser.parse_known_args(own)
    options = tuple(rest)
    check_run_options(options)
    compiler = COMPILERS["clang" if arguments.autofdo else arguments.compiler]
    if arguments.autofdo:
        problem = branch_records_problem()
        if problem:
            raise PerfError(f"AutoFDO needs branch records (LBR, BRS or SPE), and this machine has none for us: {problem}; "
                            "leave out --autofdo: instrumented builds need nothing of the machine")
    recording = Path(arguments.recording).resolve()
    training, held = split_range(recording, arguments.train, arguments.held_out)
    folder = Path(arguments.out) if arguments.out else Path("runs/pgo") / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    pgo = Pgo(REPOSITORY, compiler, folder.resolve())
    if not arguments.skip_builds:
        base = pgo.build(compiler.release)
        if arguments.autofdo:
            sample(pgo, base, recording, training, options)
            pgo.build(compiler.use, "-DBLOCKREPLAY_PGO=sample")
        else:
            pgo.train(pgo.build(compiler.generate), recording, training, options)
            pgo.build(compiler.use, "-DBLOCKREPLAY_PGO=use")
    profile = folder / "default.pgo"
    write_go_shaped_profile(pgo.binary(compiler.release), recording, training, options, profile, pgo.source)
    tell(f"CPU profile of the training range in the shape of Go's default.pgo: {profile}")
    return ab.main([f"bin:{pgo.binary(compiler.release)}", f"bin:{pgo.binary(compiler.use)}", "--recording", str(recording),
                    "--from", str(held[0]), "--to", str(held[1]), "--out", str(folder / "ab"), *for_ab,
                    *(["--", *options] if options else [])])


if __name__ == "__main__":
    run_main("pgo.sh", main)
