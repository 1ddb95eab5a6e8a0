"""Databases that every run starts from: made once, copied for each run."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import PerfError
from .sides import Side, database_options

READ_SIZE = 1 << 20


@dataclass(frozen=True)
class Recording:
    """A recording and the part of it that is measured."""

    path: Path
    first: int  # of the recording
    last: int
    measure_from: int  # after the warm-up
    measure_to: int
    base_height: int  # of the database that runs start from

    @property
    def name(self) -> str:
        return self.path.name


def load_manifest(path: Path) -> dict:
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        int(manifest["first_height"]), int(manifest["last_height"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PerfError(f"{path} is not a recording: no usable manifest.json ({error})") from error
    return manifest


def plan_recording(path: Path, begin: int | None, end: int | None, warmup: int | None) -> Recording:
    """The database is at the block before the range, the warm-up follows, then what is measured."""
    manifest = load_manifest(path)
    first, last = int(manifest["first_height"]), int(manifest["last_height"])
    begin, end = begin or first, end or last
    if not first <= begin <= end <= last:
        raise PerfError(f"{path} has blocks {first} to {last}: --from {begin} --to {end} is not a range of it")
    # A database has at least one block: the tool makes none of a base state alone.
    base = max(first, begin - 1)
    blocks = end - base
    if warmup is None:
        warmup = min(200, blocks // 10)
    measure_from = base + 1 + warmup
    if measure_from > end:
        raise PerfError(f"{path}: {warmup} blocks of warm-up leave nothing of {base + 1} to {end} to measure")
    return Recording(path.resolve(), first, last, measure_from, end, base)


def run_tool(command: list[str], what: str) -> None:
    """Runs a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        detail = lines[-1] if lines else f"status {done.returncode}"
        # An app hash that differs ends in 2, here as everywhere.
        raise PerfError(f"{what} failed: {detail}", 2 if done.returncode == 2 else 1)


def make_base(side: Side, recording: Recording, common: tuple[str, ...], path: Path) -> None:
    """Restores the base state and replays up to the height that runs start from."""
    run_tool([str(side.binary), "run", str(recording.path), "--db", str(path), "--to",
              str(recording.base_height), "--quiet", *database_options((*common, *side.options))],
             f"making the database of {recording.name} at height {recording.base_height}")


def copy_database(source: Path, target: Path) -> None:
    """A copy of a database that no process uses. Tables never change once written, so they are
    hard-linked as in a RocksDB checkpoint where the file system allows it; the rest is copied."""
    for folder, _, names in os.walk(source):
        there = target / Path(folder).relative_to(source)
        there.mkdir(parents=True)
        for name in names:
            original, copy = Path(folder) / name, there / name
            if name.endswith(".sst"):
                try:
                    os.link(original, copy)
                    continue
                except OSError:
                    pass
            shutil.copy2(original, copy)


def read_through(*paths: Path) -> None:
    """Reads every file, so that all runs find the same in the page cache: all of it."""
    for path in paths:
        for folder, _, names in os.walk(path):
            for name in names:
                with open(Path(folder) / name, "rb") as file:
                    while file.read(READ_SIZE):
                        pass
