"""Measured runs: interleaved, each on its own copy of the database, with a record of the machine."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .database import Recording, copy_database, make_base, read_through
from .errors import PerfError
from .machine import Activity, StartGate, activity_between, read_machine
from .metrics import values_of
from .reports import DIFFERENCES, RunReport, compare_identity, compare_results, load_block_times
from .sides import Side

NAMES = ("A", "B")  # base and candidate


@dataclass
class Measured:
    """One run that counts: what was measured, and what else happened."""

    side: str
    benchmark: str
    values: dict[str, float]
    folder: Path
    machine: Activity
    flags: list[str] = field(default_factory=list)  # limits that it exceeded
    repeats: int = 0  # runs in its place that were repeated
    blocks: np.ndarray | None = None  # times of blocks

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "benchmark": self.benchmark, "folder": str(self.folder),
                "values": self.values, "machine": self.machine.to_json(), "flags": self.flags,
                "repeated": self.repeats}


@dataclass(frozen=True)
class Command:
    """How runs are started."""

    pin: str | None  # list for taskset
    common: tuple[str, ...] = ()  # options of both sides

    def prefix(self) -> list[str]:
        return ["taskset", "--cpu-list", self.pin] if self.pin else []


@dataclass(frozen=True)
class Finished:
    """A process that has ended."""

    status: int
    cpu_s: float
    stderr: str


def run_process(command: list[str], stdout: Path, stderr: Path, env: dict[str, str] | None = None) -> Finished:
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
    return Finished(process.returncode, usage.ru_utime + usage.ru_stime,
                    stderr.read_text(encoding="utf-8", errors="replace"))


class RunFolder:
    """runs/<time>/: everything that was measured, raw."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=False)
        self._count = 0

    def next(self, label: str) -> Path:
        self._count += 1
        folder = self.path / f"{self._count:03d}-{label}"
        folder.mkdir()
        return folder

    def discard_if_empty(self) -> bool:
        """Where nothing came to be measured, no folder stays."""
        if any(self.path.iterdir()):
            return False
        self.path.rmdir()
        return True


def new_run_folder(given: str | None, kind: str) -> RunFolder:
    if given:
        path = Path(given)
        if path.exists():
            raise PerfError(f"{path} exists already: give a new folder")
        return RunFolder(path)
    base = Path("runs") / kind
    name = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", *(f"-{i}" for i in range(2, 100))):
        try:
            return RunFolder(base / (name + suffix))
        except FileExistsError:
            continue
    raise PerfError(f"{base}/{name} exists already")


class Benchmark:
    """What is run on both sides and gives numbers."""

    name: str

    def prepare(self) -> None:
        """Makes what all runs of a pass share, afresh."""

    def discard(self) -> None:
        """Removes it."""

    def run(self, side_name: str, folder: Path) -> tuple[dict[str, float], float, np.ndarray | None]:
        """One run in a fresh process: values, CPU seconds it used, times of blocks."""
        raise NotImplementedError

    def describe(self) -> str:
        raise NotImplementedError


class ReportedRuns(Benchmark):
    """Runs of blockreplay that write a report and a CSV, and must all come to the same results."""

    def __init__(self, name: str, sides: dict[str, Side], command: Command) -> None:
        self.name = name
        self.sides = sides
        self.command = command
        self.reference: RunReport | None = None  # all runs are compared with the first one
        self.last_reports: dict[str, RunReport] = {}

    def start(self, side_name: str, folder: Path, arguments: list[str]) -> Callable[
            [], tuple[dict[str, float], float, np.ndarray | None]]:
        """Runs blockreplay with `arguments` to its end; what comes back evaluates it."""
        side = self.sides[side_name]
        report_path, csv_path = folder / "report.json", folder / "blocks.csv"
        command = [*self.command.prefix(), str(side.binary), *arguments, "--report", str(report_path),
                   "--csv", str(csv_path), "--quiet", *self.command.common, *side.options]
        (folder / "command.json").write_text(json.dumps(command) + "\n", encoding="utf-8")
        finished = run_process(command, folder / "stdout.txt", folder / "stderr.txt")

        def evaluate() -> tuple[dict[str, float], float, np.ndarray | None]:
            if finished.status in DIFFERENCES:
                raise PerfError(f"side {side_name} ({side.spec}): {DIFFERENCES[finished.status]} from the "
                                f"recording: {finished.stderr.strip()}", 2)
            if finished.status != 0:
                detail = finished.stderr.strip().splitlines()
                raise PerfError(f"side {side_name} ({side.spec}): the run ended with status {finished.status}: "
                                f"{detail[-1] if detail else 'no message'} (see {folder})")
            report = RunReport.load(report_path)
            self._check(side_name, report)
            return values_of(report), finished.cpu_s, np.asarray(load_block_times(csv_path))

        return evaluate

    def _check(self, side_name: str, report: RunReport) -> None:
        """Every run is of the same blocks, and came to the same results."""
        if self.reference is None:
            self.reference = report
        compare_identity(self.reference, report)
        differing = [c for c in compare_results(self.reference, report) if c.result == "differs"]
        if differing:
            raise PerfError(f"side {side_name}: the {differing[0].name} differs: {differing[0].detail}", 2)
        self.last_reports[side_name] = report


class Mempool(ReportedRuns):
    """A node's mempool, driven over a recording: blocks and the rechecks behind them."""

    def __init__(self, recording: Path, sides: dict[str, Side], command: Command) -> None:
        super().__init__(f"mempool-{recording.name}", sides, command)
        self.recording = recording

    def describe(self) -> str:
        return f"the mempool over {self.recording.name}, each run from the recording's first block"

    def run(self, side_name: str, folder: Path) -> tuple[dict[str, float], float, np.ndarray | None]:
        return self.start(side_name, folder, ["mempool", str(self.recording)])()


class Replay(ReportedRuns):
    """A range of a recording, replayed."""

    def __init__(self, recording: Recording, sides: dict[str, Side], command: Command, work: Path) -> None:
        super().__init__(recording.name, sides, command)
        self.recording = recording
        self.work = work
        self._bases: dict[str, Path] = {}

    def describe(self) -> str:
        r = self.recording
        return (f"{r.name}, blocks {r.measure_from} to {r.measure_to} measured "
                f"({r.measure_from - r.base_height - 1} blocks of warm-up before them), each run on its own "
                f"copy of the database at height {r.base_height}")

    def prepare(self) -> None:
        self.discard()
        for name, side in self.sides.items():
            persistence = side.persistence(self.command.common)
            # One database for both sides, made by the base, unless they are of different kinds.
            if persistence not in self._bases:
                path = Path(tempfile.mkdtemp(prefix="base-", dir=self.work)) / "db"
                make_base(side, self.recording, self.command.common, path)
                self._bases[persistence] = path
            self._bases[name] = self._bases[persistence]

    def discard(self) -> None:
        for path in set(self._bases.values()):
            shutil.rmtree(path.parent, ignore_errors=True)
        self._bases = {}

    def run(self, side_name: str, folder: Path) -> tuple[dict[str, float], float, np.ndarray | None]:
        database = Path(tempfile.mkdtemp(prefix="run-", dir=self.work)) / "db"
        try:
            copy_database(self._bases[side_name], database)
            read_through(database, self.recording.path)
            evaluate = self.start(side_name, folder, [
                "run", str(self.recording.path), "--db", str(database), "--resume", "--from",
                str(self.recording.measure_from), "--to", str(self.recording.measure_to)])
        finally:
            shutil.rmtree(database.parent, ignore_errors=True)
        return evaluate()


def order_of(pairs: int) -> list[str]:
    """ABBA ABBA …: a drift of the machine falls on both sides alike."""
    return [side for pair in range(pairs) for side in (NAMES if pair % 2 == 0 else NAMES[::-1])]


@dataclass
class Pass:
    """All runs of a pass: by benchmark and side, in the order of the pairs."""

    order: str
    runs: dict[str, dict[str, list[Measured]]]
    flagged: list[Measured]  # repeated ones, kept for the record
    noisy: int  # runs that count although they exceeded the limits

    def to_json(self) -> dict[str, Any]:
        return {"order": self.order,
                "runs": [run.to_json() for sides in self.runs.values() for runs in sides.values() for run in runs],
                "flagged_and_repeated": [run.to_json() for run in self.flagged], "noisy": self.noisy}


class Measurer:
    """Runs passes."""

    def __init__(self, folder: RunFolder, gate: StartGate, max_repeats: int,
                 tell: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.gate = gate
        self.max_repeats = max_repeats
        self.tell = tell or (lambda text: print(text, file=sys.stderr, flush=True))

    def run_pass(self, benchmarks: list[Benchmark], pairs: int, label: str) -> Pass:
        for benchmark in benchmarks:
            benchmark.prepare()
        try:
            # Not counted: fills caches, and finds what cannot be compared before time is spent.
            for benchmark in benchmarks:
                for side in NAMES:
                    benchmark.run(side, self.folder.next(f"{label}-rehearsal-{benchmark.name}-{side}"))
            order = order_of(pairs)
            result = Pass("".join(order), {b.name: {side: [] for side in NAMES} for b in benchmarks}, [], 0)
            for number in range(pairs):
                for benchmark in benchmarks:
                    for side in order[2 * number:2 * number + 2]:
                        run = self._run_quietly(benchmark, side, f"{label}-pair{number + 1}", result)
                        result.runs[benchmark.name][side].append(run)
                self.tell(f"{label}: pair {number + 1} of {pairs} done")
            return result
        finally:
            for benchmark in benchmarks:
                benchmark.discard()

    def _run_quietly(self, benchmark: Benchmark, side: str, label: str, result: Pass) -> Measured:
        for attempt in range(self.max_repeats + 1):
            folder = self.folder.next(f"{label}-{benchmark.name}-{side}")
            gate, waited = self.gate.wait()
            before = read_machine()
            own_before = sum(os.times()[:2])
            values, cpu_s, blocks = benchmark.run(side, folder)
            own = sum(os.times()[:2]) - own_before
            activity = activity_between(before, read_machine(), cpu_s + own)
            flags = self.gate.limits.exceeded(activity, before_run=False)
            run = Measured(side, benchmark.name, values, folder, activity, flags, attempt, blocks)
            record = dict(run.to_json(), start_gate=gate.to_json(), waited_s=waited)
            (folder / "machine.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            if not flags:
                return run
            if attempt < self.max_repeats:
                self.tell(f"{folder.name} is flagged and repeated: {'; '.join(flags)}")
                result.flagged.append(run)
        self.tell(f"{run.folder.name} still exceeds the limits: {'; '.join(run.flags)}")
        result.noisy += 1
        return run
