"""The first difference between what two builds computed, by height, phase, store and key."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .errors import PerfError

ABSENT = "(absent)"
LONGEST_VALUE = 400  # of what is printed


@dataclass(frozen=True)
class Difference:
    """Where two sides part, and what each has there."""

    what: str  # "state", "app hash", "gas used", …
    base: str
    candidate: str
    height: int | None = None
    phase: str = ""
    store: str = ""
    key: str = ""

    def lines(self) -> list[str]:
        where = [f"height {self.height}" if self.height is not None else "",
                 f"phase {self.phase}" if self.phase else "", f"store {self.store}" if self.store else "",
                 f"key {self.key}" if self.key else ""]
        return [f"{self.what}: {', '.join(part for part in where if part)}",
                f"  base       {shorten(self.base)}", f"  candidate  {shorten(self.candidate)}"]

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"


def first_state_difference(base: Path, candidate: Path, height: int | None) -> tuple[Difference | None, int]:
    """Compares two exports (JSON lines, stores and keys ascending); also how many keys were equal."""
    keys = 0
    with base.open("rb") as first, candidate.open("rb") as second:
        for a, b in zip_longest(first, second):
            if a == b:
                keys += 1
                continue
            one, two = (json.loads(line) if line else None for line in (a, b))
            # The smaller key is the one that the other side does not have.
            places = [(entry["store"], entry["key"]) for entry in (one, two) if entry]
            store, key = min(places)

            def value(entry: dict[str, str] | None, place: tuple[str, str]) -> str:
                return entry["value"] if entry and (entry["store"], entry["key"]) == place else ABSENT

            return Difference("state", value(one, (store, key)), value(two, (store, key)), height, "after the block",
                              store, f"0x{key}"), keys
    return None, keys


def app_hashes(path: Path) -> dict[int, str]:
    """Computed app hashes of a run by height, from its CSV."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {int(row["height"]): row["app_hash"] for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        raise PerfError(f"{path} is not a CSV of blockreplay: {error}") from error


def first_hash_difference(base: dict[int, str], candidate: dict[int, str]) -> Difference | None:
    for height in sorted(base.keys() | candidate.keys()):
        a, b = base.get(height, ABSENT), candidate.get(height, ABSENT)
        if a != b:
            return Difference("app hash", a, b, height, "commit")
    return None


@dataclass
class Computed:
    """How often something was computed, over phases."""

    both: int = 0
    equal: int = 0
    only_base: int = 0
    only_candidate: int = 0
    neither: int = 0

    def add(self, base: bool, candidate: bool, equal: bool) -> None:
        if base and candidate:
            self.both += 1
            self.equal += equal
        elif base:
            self.only_base += 1
        elif candidate:
            self.only_candidate += 1
        else:
            self.neither += 1

    def merge(self, other: "Computed") -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def missing(self) -> int:
        return self.only_base + self.only_candidate + self.neither


# What native code answers, by kind of comparison: of transactions, and of all phases.
TX_FIELDS = {"gas": ("gas_wanted", "gas_used"), "codes": ("code", "codespace"), "data": ("data",)}
PHASE_FIELDS = {"events": ("events",), "validator updates": ("validator_updates",)}


@dataclass
class ResultsComparison:
    """Of two files of `--results`."""

    computed: dict[str, Computed] = field(default_factory=lambda: {
        name: Computed() for name in (*TX_FIELDS, *PHASE_FIELDS)})
    first: Difference | None = None

    def note(self, difference: Difference) -> None:
        if self.first is None:
            self.first = difference


def _phase_text(line: dict[str, Any]) -> str:
    if line["phase"] != "tx":
        return line["phase"]
    return f"tx {line['index']} ({line['kind']})"


def _events(base: list[dict[str, Any]], candidate: list[dict[str, Any]], height: int, phase: str) -> Difference:
    """The first event, or attribute, that differs."""
    for number, (a, b) in enumerate(zip_longest(base, candidate)):
        if a == b:
            continue
        if a is None or b is None or a["type"] != b["type"]:
            texts = [ABSENT if e is None else json.dumps(e["type"]) for e in (a, b)]
            return Difference(f"event {number}", *texts, height, phase)
        for place, (x, y) in enumerate(zip_longest(a["attributes"], b["attributes"])):
            if x != y:
                texts = [ABSENT if pair is None else f"{json.dumps(pair[0])} = {json.dumps(pair[1])}" for pair in (x, y)]
                return Difference(f"event {number} ({a['type']}), attribute {place}", *texts, height, phase)
    raise ValueError("the events are equal")


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def compare_results_files(base: Path, candidate: Path) -> ResultsComparison:
    """Phase by phase; only what both sides computed can be equal or differ."""
    result = ResultsComparison()
    for a, b in zip_longest(_lines(base), _lines(candidate)):
        one, two = (json.loads(line) if line else None for line in (a, b))
        if one is None or two is None or any(one.get(k) != two.get(k) for k in ("height", "phase", "index")):
            texts = [ABSENT if line is None else f"height {line['height']}, {_phase_text(line)}" for line in (one, two)]
            result.note(Difference("order of phases", *texts))
            break
        height, phase = one["height"], _phase_text(one)
        groups = {**(TX_FIELDS if one["phase"] == "tx" else {}), **PHASE_FIELDS}
        for name, fields in groups.items():
            values = [[line.get(f) for f in fields] for line in (one, two)]
            equal = values[0] == values[1]
            result.computed[name].add(one["native"], two["native"], equal)
            if equal or not (one["native"] and two["native"]):
                continue
            for label, x, y in zip(fields, *values, strict=True):
                if x == y:
                    continue
                if label == "events":
                    result.note(_events(x, y, height, phase))
                else:
                    result.note(Difference(label.replace("_", " "), json.dumps(x), json.dumps(y), height, phase))
    return result
