"""From runs to comparisons: every metric of every benchmark, their geometric mean, the verdict."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import stats
from .errors import PerfError
from .metrics import in_all
from .runner import NAMES, Pass
from .stats import Comparison
from .verdict import Bar, Change, Verdict, decide, found, in_words

GEOMEAN = "geometric mean"


@dataclass
class Analysis:
    """Comparisons of one pass, judged."""

    bar: Bar
    primary: str
    by_benchmark: dict[str, list[Comparison]]
    skipped: dict[str, list[str]]  # metrics without a delta, by benchmark
    noisy: int
    changes: dict[int, Change] = field(default_factory=dict)  # by id of the comparison

    def change(self, comparison: Comparison) -> Change:
        return self.changes[id(comparison)]

    def deciding(self) -> Comparison:
        """The primary metric: of the only benchmark, or the geometric mean over all."""
        name = GEOMEAN if GEOMEAN in self.by_benchmark else next(iter(self.by_benchmark))
        for comparison in self.by_benchmark[name]:
            if comparison.metric == self.primary:
                return comparison
        raise PerfError(f"no comparison of {self.primary}: it is 0 or missing in a run; choose another --primary")

    def found(self) -> list[tuple[str, Comparison]]:
        """What may be named as changed."""
        return [(name, comparison) for name, comparisons in self.by_benchmark.items()
                for comparison in comparisons if found(comparison, self.change(comparison))]

    def comparisons(self) -> int:
        """The size of the family that p-values are corrected over."""
        return sum(len(comparisons) for comparisons in self.by_benchmark.values())

    def pairs_missing(self) -> int:
        """How many more pairs it takes until anything at all can be found; 0 where there are enough."""
        return max(0, stats.pairs_to_find(self.comparisons()) - len(self.deciding().deltas))

    def to_json(self) -> dict[str, Any]:
        def one(comparison: Comparison) -> dict[str, Any]:
            change = self.change(comparison)
            return {"metric": comparison.metric, "base": comparison.base, "candidate": comparison.candidate,
                    "deltas_percent": comparison.deltas, "mean_percent": comparison.mean,
                    "paired_t_95": [comparison.t_interval.low, comparison.t_interval.high],
                    "bootstrap_95": [comparison.bootstrap_interval.low, comparison.bootstrap_interval.high],
                    "p_mann_whitney": comparison.p_value, "p_holm": comparison.p_holm,
                    "detectable_percent": comparison.detectable,
                    "min_effect_percent": self.bar.of(comparison.metric), "change": change.name.lower(),
                    "words": in_words(comparison, change), "found": found(comparison, change)}

        return {"benchmarks": {name: [one(c) for c in comparisons]
                               for name, comparisons in self.by_benchmark.items()},
                "without_delta": self.skipped, "noisy_runs": self.noisy}


def analyse(measured: Pass, bar: Bar, primary: str) -> Analysis:
    by_benchmark: dict[str, list[Comparison]] = {}
    skipped: dict[str, list[str]] = {}
    for name, sides in measured.runs.items():
        base, candidate = (sides[side] for side in NAMES)
        metrics = in_all([run.values for run in (*base, *candidate)])
        blocks = [[run.blocks for run in runs if run.blocks is not None and len(run.blocks) > 1]
                  for runs in (base, candidate)]
        whole = all(len(kept) == len(base) for kept in blocks)
        comparisons = []
        for metric in metrics:
            comparison = stats.compare(metric, [run.values[metric] for run in base],
                                       [run.values[metric] for run in candidate],
                                       blocks[0] if whole else None, blocks[1] if whole else None)
            if comparison is None:
                skipped.setdefault(name, []).append(metric)
            else:
                comparisons.append(comparison)
        by_benchmark[name] = comparisons
    if len(by_benchmark) > 1:
        by_benchmark[GEOMEAN] = _geometric_means(by_benchmark)
    everything = [c for comparisons in by_benchmark.values() for c in comparisons]
    stats.correct(everything)
    analysis = Analysis(bar, primary, by_benchmark, skipped, measured.noisy)
    analysis.changes = {id(c): bar.judge(c.metric, c.interval) for c in everything}
    return analysis


def _geometric_means(by_benchmark: dict[str, list[Comparison]]) -> list[Comparison]:
    """Pair by pair over all benchmarks, of the metrics that all of them have."""
    means = []
    of_all = [{c.metric: c for c in comparisons} for comparisons in by_benchmark.values()]
    for metric in of_all[0]:
        if not all(metric in benchmark for benchmark in of_all):
            continue
        sides = []
        for side in ("base", "candidate"):
            pairs = np.array([getattr(benchmark[metric], side) for benchmark in of_all])
            if np.any(pairs <= 0):
                break
            sides.append([stats.geometric_mean(column) for column in pairs.T])
        if len(sides) == 2:
            comparison = stats.compare(metric, sides[0], sides[1])
            if comparison is not None:
                means.append(comparison)
    return means


@dataclass
class Outcome:
    """What a comparison came to."""

    verdict: Verdict
    reason: str
    first: Analysis
    confirmation: Analysis | None

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict.text, "exit_status": self.verdict.value, "reason": self.reason,
                "primary": self.first.primary}


def conclude(first: Analysis, confirmation: Analysis | None, confirming: bool) -> Outcome:
    change = first.change(first.deciding())
    second = confirmation.change(confirmation.deciding()) if confirmation else None
    noisy = bool(first.noisy or (confirmation and confirmation.noisy))
    verdict, reason = decide(change, second, confirming, noisy)
    return Outcome(verdict, reason, first, confirmation)
