"""Databases in the middle of a recording, from which shards of it start."""

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .database import copy_database, run_tool
from .errors import PerfError
from .reports import RunReport
from .sides import Side, database_options

FORMAT = "blockreplay.checkpoint.v1"


@dataclass(frozen=True)
class Checkpoint:
    """The state after a block, as a database that stopped cleanly."""

    height: int
    app_hash: str
    database: Path


def shard_ends(first: int, last: int, shards: int | None, shard_blocks: int | None) -> list[int]:
    """Last heights of the shards of a range: equal parts, the longer ones first."""
    blocks = last - first + 1
    if shard_blocks is not None:
        if shard_blocks < 1:
            raise PerfError(f"--shard-blocks {shard_blocks}: at least 1")
        return [*range(first + shard_blocks - 1, last, shard_blocks), last]
    count = 1 if shards is None else shards
    if not 1 <= count <= blocks:
        raise PerfError(f"--shards {count}: the range {first} to {last} has {blocks} blocks")
    return [first - 1 + sum(blocks // count + (i < blocks % count) for i in range(n)) for n in range(1, count + 1)]


class Checkpoints:
    """A folder of checkpoints of one recording; those that are there already are used again."""

    def __init__(self, folder: Path, side: Side, recording: Path, digest: str, common: tuple[str, ...]) -> None:
        self.side = side
        self.recording = recording
        self.digest = digest
        self.common = common
        self.persist = side.persistence(common)
        # Databases of other recordings or kinds are other checkpoints.
        self.folder = folder / f"{digest[:16]}-{self.persist}"

    def find(self, height: int) -> Checkpoint | None:
        try:
            data = json.loads((self.folder / f"{height}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        database = self.folder / str(height)
        wanted = {"format": FORMAT, "digest": self.digest, "persist": self.persist, "height": height}
        if not database.is_dir() or any(data.get(key) != value for key, value in wanted.items()):
            return None
        return Checkpoint(height, data["app_hash"], database)

    def make(self, heights: list[int]) -> list[Checkpoint]:
        """All of them, ascending; one replay passes through those that are missing, verifying every block."""
        if all(self.find(height) for height in heights):
            return [c for c in map(self.find, heights) if c]
        self.folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))
        try:
            database, at = work / "db", 0
            for height in heights:
                known = self.find(height)
                if known:
                    shutil.rmtree(database, ignore_errors=True)
                    copy_database(known.database, database)
                else:
                    print(f"making the checkpoint at height {height} of {self.recording.name}", file=sys.stderr,
                          flush=True)
                    self._advance(database, at, height, work)
                at = height
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return [c for c in map(self.find, heights) if c]

    def _advance(self, database: Path, at: int, height: int, work: Path) -> None:
        report_path = work / "report.json"
        run_tool([str(self.side.binary), "run", str(self.recording), "--db", str(database), "--to", str(height),
                  "--report", str(report_path), "--quiet", *(["--resume"] if at else []),
                  *database_options((*self.common, *self.side.options))], f"making the checkpoint at height {height} of {self.recording.name}")
        report = RunReport.load(report_path)
        target = self.folder / str(height)
        shutil.rmtree(target, ignore_errors=True)
        copy_database(database, target)
        data = {"format": FORMAT, "digest": self.digest, "persist": self.persist, "height": height,
                "app_hash": report.data["app_hash"]}
        # Last, so that a folder without it is not a checkpoint.
        (self.folder / f"{height}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
