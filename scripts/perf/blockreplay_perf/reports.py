"""What a run wrote: report.json and the CSV, and which runs may be compared."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import PerfError

# Exit statuses of `blockreplay run` that mean: something computed differs from the recording.
DIFFERENCES = {2: "an app hash differs", 3: "native execution differs", 4: "a results hash differs"}
# What else both sides may have computed, with what it says when they did not.
COMPUTED = ("gas", "codes", "events")
# Of a mempool run: what must not depend on what is remembered.
MEMPOOL_TOTALS = ("delivertx_gas_used", "checktx_gas_used", "checktx_failures", "delivered", "pool_at_end")


@dataclass(frozen=True)
class RunReport:
    """report.json of one run."""

    path: Path
    data: dict[str, Any]

    @staticmethod
    def load(path: Path) -> "RunReport":
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise PerfError(f"{path} is not a report of blockreplay: {error}") from error
        if not isinstance(data, dict) or "recording" not in data or "outcome" not in data:
            raise PerfError(f"{path} is not a report of blockreplay: no recording or outcome in it")
        return RunReport(path, data)

    def value(self, *names: str) -> float | None:
        """A number in the report by the names on the way to it; None where there is none."""
        node: Any = self.data
        for name in names:
            if not isinstance(node, dict) or node.get(name) is None:
                return None
            node = node[name]
        return float(node)

    @property
    def verified(self) -> bool:
        """Every app hash was equal to the recording; a mempool makes blocks that no recording has."""
        return self.data["outcome"] in ("verified", "completed") and self.data.get("blocks_verified", 0) > 0

    @property
    def range_text(self) -> str:
        recording = self.data["recording"]
        return f"{recording['first']} to {recording['last']}"


def load_block_times(path: Path) -> list[float]:
    """The time of each measured block in milliseconds, from a run's CSV."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [float(row["block_ms"]) for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError) as error:
        raise PerfError(f"{path} is not a CSV of blockreplay: {error}") from error


@dataclass(frozen=True)
class Check:
    """One thing that two runs must agree on."""

    name: str
    result: str  # "equal", "differs", "not computed"
    detail: str = ""


def not_computed_detail(base: Any, candidate: Any) -> str:
    if base is None and candidate is None:
        return "by either side"
    return "by the base" if base is None else "by the candidate"


def compare_identity(base: RunReport, candidate: RunReport) -> None:
    """Refuses runs that are not of the same blocks, or that verified nothing."""
    for report in (base, candidate):
        if not report.verified:
            raise PerfError(
                f"{report.path}: the run is not verified (outcome {report.data['outcome']}): only "
                "runs whose every app hash was equal to the recording are compared")
    first, second = base.data["recording"], candidate.data["recording"]
    if first["digest"] != second["digest"]:
        raise PerfError(
            f"different recordings: {base.path} has digest {first['digest']}, {candidate.path} "
            f"{second['digest']}: they cannot be compared")
    if (first["first"], first["last"]) != (second["first"], second["last"]):
        raise PerfError(f"different ranges: {base.path} measured blocks {base.range_text}, "
                        f"{candidate.path} {candidate.range_text}: they cannot be compared")
    if base.data["blocks_verified"] != candidate.data["blocks_verified"]:
        raise PerfError(f"{base.path} verified {base.data['blocks_verified']} blocks, "
                        f"{candidate.path} {candidate.data['blocks_verified']}: they do not start "
                        "from the same state")


def compare_results(base: RunReport, candidate: RunReport) -> list[Check]:
    """What both runs computed, compared. A digest that a side did not compute is never equal."""
    checks = []
    for name, key in (("final app hash", "app_hash"), ("app hash chain", "app_hash_chain")):
        same = base.data[key] == candidate.data[key]
        checks.append(Check(name, "equal" if same else "differs",
                            base.data[key] if same else f"{base.data[key]} against {candidate.data[key]}"))
    for name in MEMPOOL_TOTALS if base.data.get("mempool") else ():
        first, second = ((report.data.get("mempool") or {}).get(name) for report in (base, candidate))
        checks.append(Check(name, "equal" if first == second else "differs",
                            str(first) if first == second else f"{first} against {second}"))
    for name in COMPUTED:
        first = (base.data.get("digests") or {}).get(name)
        second = (candidate.data.get("digests") or {}).get(name)
        if first is None or second is None:
            checks.append(Check(f"{name} digest", "not computed", not_computed_detail(first, second)))
        elif first == second:
            checks.append(Check(f"{name} digest", "equal", first))
        else:
            checks.append(Check(f"{name} digest", "differs", f"{first} against {second}"))
    return checks
