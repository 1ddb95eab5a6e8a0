"""One shard of a long replay, in a process of its own: `python3 -m blockreplay_perf.shard SHARD.json`.

Runs until its last block, stops cleanly on SIGINT and SIGTERM, and goes on where it was when it is run again.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from .database import copy_database
from .errors import PerfError, run_main
from .reports import RunReport

DONE = "done.json"
RUNNING = "running"
PID = "pid"


@dataclass(frozen=True)
class Shard:
    """What a shard is to do; the file SHARD.json in its folder."""

    number: int
    label: str
    recording: str
    digest: str
    first: int  # heights of its blocks
    last: int
    base_height: int  # of the state that it starts from; 0: from nothing
    base_app_hash: str | None
    checkpoint: str | None  # database that it starts from; None: the recording's own base
    command: list[str]  # the program and what comes before it
    options: list[str] = field(default_factory=list)
    profiles: bool = False  # one pair of the whole shard
    profile_every: int | None = None  # a pair every so many blocks

    @staticmethod
    def load(path: Path) -> "Shard":
        try:
            return Shard(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise PerfError(f"{path} is not a shard: {error}") from error

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "shard.json").write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def attempts(folder: Path) -> list[tuple[RunReport, Path]]:
    """Reports and CSVs of what was done, in order."""
    return [(RunReport.load(path), path.with_name(path.name.replace("report", "blocks")).with_suffix(".csv"))
            for path in sorted(folder.glob("report-*.json"))]


def last_height(done: list[tuple[RunReport, Path]], shard: Shard) -> int:
    heights = [report.data["recording"]["last"] for report, _ in done if report.data["blocks_verified"]]
    return max([shard.first - 1, *heights])


def is_done(folder: Path) -> bool:
    return (folder / DONE).exists()


class Runner:
    """Runs a shard's program, and passes signals on to it."""

    def __init__(self, shard: Shard, folder: Path) -> None:
        self.shard = shard
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self.signal = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._forward)

    def _forward(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def run(self) -> int:
        (self.folder / PID).write_text(f"{os.getpid()}\n", encoding="ascii")
        try:
            return self._run()
        finally:
            (self.folder / PID).unlink(missing_ok=True)

    def _run(self) -> int:
        database = self.folder / "db"
        if (self.folder / RUNNING).exists():
            # Killed before it could write what it had measured: the database is ahead of the reports.
            self._start_over()
        done = attempts(self.folder)
        if not done:
            shutil.rmtree(database, ignore_errors=True)
            if self.shard.checkpoint:
                copy_database(Path(self.shard.checkpoint), database)
        begin = last_height(done, self.shard) + 1
        status = 0
        if begin <= self.shard.last:
            status = self._replay(database, begin, len(done) + 1)
        if status == 0:
            shutil.rmtree(database, ignore_errors=True)
            (self.folder / DONE).write_text("{}\n", encoding="ascii")
        return status

    def _start_over(self) -> None:
        shutil.rmtree(self.folder / "db", ignore_errors=True)
        shutil.rmtree(self.folder / "profiles", ignore_errors=True)
        for path in (*self.folder.glob("report-*.json"), *self.folder.glob("blocks-*.csv"),
                     *self.folder.glob("profile-*.pb.gz"), self.folder / RUNNING):
            path.unlink(missing_ok=True)

    def _replay(self, database: Path, begin: int, attempt: int) -> int:
        shard = self.shard
        command = [*shard.command, "run", shard.recording, "--db", str(database), "--from", str(begin), "--to",
                   str(shard.last), "--report", str(self.folder / f"report-{attempt:03d}.json"), "--csv",
                   str(self.folder / f"blocks-{attempt:03d}.csv"), *shard.options]
        if shard.checkpoint or attempt > 1:
            command.append("--resume")
        if shard.profiles:
            command += ["--cpu-profile", str(self.folder / f"profile-{attempt:03d}.cpu.pb.gz"), "--heap-profile",
                        str(self.folder / f"profile-{attempt:03d}.heap.pb.gz")]
        if shard.profile_every:
            profiles = self.folder / "profiles"
            if attempt > 1:
                profiles = profiles / f"attempt-{attempt}"
            command += ["--profile-dir", str(profiles), "--profile-every", str(shard.profile_every)]
        (self.folder / RUNNING).write_text("", encoding="ascii")
        with (self.folder / f"log-{attempt:03d}.txt").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            if self.signal:  # it came in between
                self.process.send_signal(self.signal)
            status = self.process.wait()
        # A program that ended by itself has written everything.
        if status >= 0:
            (self.folder / RUNNING).unlink()
        return status if status >= 0 else 128 - status


def describe_status(folder: Path, status: int) -> str:
    logs = sorted(folder.glob("log-*.txt"))
    lines = logs[-1].read_text(encoding="utf-8", errors="replace").strip().splitlines() if logs else []
    told = [line for line in lines if line.startswith("blockreplay:")]
    return f"status {status}: {(told or lines or ['no message'])[-1]} (see {folder})"


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 0 if argv and argv[0] in ("-h", "--help") else 1
    path = Path(argv[0])
    folder = path.parent
    if is_done(folder):
        return 0
    status = Runner(Shard.load(path), folder).run()
    outcome: dict[str, Any] = {"status": status}
    (folder / "status.json").write_text(json.dumps(outcome) + "\n", encoding="utf-8")
    if status != 0:
        print(f"shard: {describe_status(folder, status)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    run_main("shard", main)
