"""Shards of a long range put together: is the chain of them whole, and what did it cost."""

import csv
import hashlib
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import PerfError
from .metrics import PHASES
from .reports import RunReport
from .shard import Shard, attempts


@dataclass(frozen=True)
class Part:
    """What was replayed of a shard."""

    shard: Shard
    reports: list[RunReport]
    csvs: list[Path]

    @property
    def app_hash(self) -> str:
        return str(self.reports[-1].data["app_hash"])

    @property
    def blocks(self) -> int:
        return sum(report.data["blocks_verified"] for report in self.reports)


def load_part(shard: Shard, folder: Path) -> Part:
    done = attempts(folder)
    # An attempt that was stopped before its first block has nothing to add.
    kept = [(report, path) for report, path in done if report.data["blocks_verified"] > 0]
    return Part(shard, [report for report, _ in kept], [path for _, path in kept])


def check_chain(parts: list[Part]) -> list[str]:
    """What is wrong with the chain of shards; empty: each starts from the state in which the one before ends,
    and all blocks are there."""
    problems = []
    for part in parts:
        name = f"shard {part.shard.number} ({part.shard.first} to {part.shard.last})"
        at = part.shard.base_height
        base = part.shard.base_app_hash
        for report in part.reports:
            start = report.data["base"]
            if start["height"] != at:
                problems.append(f"{name}: starts from height {start['height']}, not from {at}")
            if base is not None and start["app_hash"] is not None and start["app_hash"] != base:
                problems.append(f"{name}: starts from app hash {start['app_hash']} at height {at}, not from {base}")
            if report.data["recording"]["digest"] != part.shard.digest:
                problems.append(f"{name}: is of another recording ({report.data['recording']['digest']})")
            if report.data["outcome"] not in ("verified", "interrupted"):
                problems.append(f"{name}: {report.data['outcome']}")
            at, base = report.data["recording"]["last"], report.data["app_hash"]
        if at != part.shard.last or part.blocks != part.shard.last - part.shard.first + 1:
            problems.append(f"{name}: {part.blocks} blocks verified, up to {at}")
    for before, after in zip(parts, parts[1:]):
        if after.shard.base_height != before.shard.last:
            problems.append(f"shard {after.shard.number} starts from height {after.shard.base_height}, but shard "
                            f"{before.shard.number} ends at {before.shard.last}")
        elif after.shard.base_app_hash is not None and before.reports and before.app_hash != after.shard.base_app_hash:
            problems.append(f"shard {after.shard.number} starts from app hash {after.shard.base_app_hash}, but shard "
                            f"{before.shard.number} ends with {before.app_hash}")
    return problems


def _rows(parts: Iterable[Part]) -> Iterable[dict[str, str]]:
    for part in parts:
        for path in part.csvs:
            with path.open(encoding="utf-8", newline="") as file:
                yield from csv.DictReader(file)


def _sum(reports: list[RunReport], *names: str) -> float | None:
    values = [report.value(*names) for report in reports]
    return None if any(value is None for value in values) else float(sum(v for v in values if v is not None))


def merge(parts: list[Part], label: str) -> dict[str, Any]:
    """A report of all shards together, with the fields of report.json. Times and CPU are sums over the shards:
    what one machine would have needed."""
    reports = [report for part in parts for report in part.reports]
    if not reports:
        raise PerfError("no shard has replayed a block: there is nothing to merge")
    times, chain, heights = [], hashlib.sha256(), 0
    for row in _rows(parts):
        times.append(float(row["block_ms"]))
        chain.update(bytes.fromhex(row["app_hash"]))
        heights += 1
    first = reports[0].data
    blocks = np.asarray(times)
    percentiles = [float(p) for p in np.percentile(blocks, [50, 90, 99], method="inverted_cdf")]
    digests = list(dict.fromkeys(part.shard.digest for part in parts))
    rss = [report.value("peak_rss_bytes") for report in reports]
    return {
        "label": label, "tool": first["tool"],
        "recording": {"digest": digests[0] if len(digests) == 1 else digests, "chain_id": first["recording"]["chain_id"],
                      "first": parts[0].shard.first, "last": parts[-1].shard.last},
        "options": first["options"], "shards": len(parts), "blocks_verified": sum(part.blocks for part in parts),
        "blocks_measured": heights, "base": {"height": parts[0].shard.base_height, "app_hash": parts[0].shard.base_app_hash},
        "app_hash": parts[-1].reports[-1].data["app_hash"] if parts[-1].reports else None,
        "app_hash_chain": chain.hexdigest(), "wall_s": _sum(reports, "wall_s"),
        "block_ms": {"p50": percentiles[0], "p90": percentiles[1], "p99": percentiles[2], "mean": statistics.fmean(times),
                     "stddev": statistics.stdev(times) if len(times) > 1 else 0.0, "max": max(times)},
        "phase_ms": {phase: _sum(reports, "phase_ms", phase) for phase in PHASES},
        "cpu_s": {name: _sum(reports, "cpu_s", name) for name in first["cpu_s"]},
        "peak_rss_bytes": max((value for value in rss if value is not None), default=None),
        "bytes_written": _sum(reports, "bytes_written"),
    }
