"""Statistics of paired runs, through SciPy and statsmodels.

The unit of everything is a run, never a block: blocks of one run share its machine, its memory
layout and its compactions, so they are one observation, not thousands.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE
POWER = 0.8
# Fixed, so that the same runs give the same intervals.
SEED = 20260115
RESAMPLES = 9999
# Of block times, where each resample goes over every block of every run.
BLOCK_RESAMPLES = 999


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def hull(self, other: "Interval") -> "Interval":
        """The smallest interval that has both: what both methods vouch for."""
        return Interval(min(self.low, other.low), max(self.high, other.high))


@dataclass
class Comparison:
    """One metric of two sides: pairs of runs, deltas in percent of the base."""

    metric: str
    base: list[float]
    candidate: list[float]
    deltas: list[float]
    mean: float
    t_interval: Interval
    bootstrap_interval: Interval
    p_value: float  # Mann-Whitney U, two-sided
    detectable: float  # smallest effect that this many pairs find with probability POWER, percent
    p_holm: float = math.nan
    words: list[str] = field(default_factory=list)

    @property
    def interval(self) -> Interval:
        return self.t_interval.hull(self.bootstrap_interval)


def percent_deltas(base: Sequence[float], candidate: Sequence[float]) -> list[float] | None:
    """candidate against base, pair by pair, in percent; None where a base is 0."""
    if any(value == 0 for value in base):
        return None
    return [100 * (b / a - 1) for a, b in zip(base, candidate, strict=True)]


def t_interval(deltas: Sequence[float]) -> Interval:
    """Of the mean of paired deltas, by Student's t."""
    if len(set(deltas)) == 1:
        # Counters that are the same in every run: nothing varies, so nothing is uncertain.
        return Interval(deltas[0], deltas[0])
    interval = stats.ttest_1samp(deltas, 0).confidence_interval(CONFIDENCE)
    return Interval(float(interval.low), float(interval.high))


def bootstrap_interval(deltas: Sequence[float]) -> Interval:
    """Of the mean of paired deltas, by resampling whole pairs of runs (percentile method)."""
    if len(set(deltas)) == 1:
        return Interval(deltas[0], deltas[0])
    result = stats.bootstrap((np.asarray(deltas),), np.mean, confidence_level=CONFIDENCE,
                             n_resamples=RESAMPLES, method="percentile", random_state=SEED)
    return Interval(float(result.confidence_interval.low), float(result.confidence_interval.high))


def block_statistic(metric: str, blocks: np.ndarray) -> float:
    """A metric of block times over the blocks of several runs together."""
    if metric == "block_mean":
        return float(np.mean(blocks))
    if metric == "block_stddev":
        return float(np.std(blocks, ddof=1))
    # The nearest rank, as the report has it.
    percentile = float(metric.removeprefix("block_p"))
    return float(np.percentile(blocks, percentile, method="inverted_cdf"))


BLOCK_METRICS = ("block_p50", "block_p90", "block_p99", "block_mean", "block_stddev")


def block_bootstrap_interval(metric: str, base: Sequence[np.ndarray],
                             candidate: Sequence[np.ndarray]) -> Interval:
    """Cluster bootstrap: pairs of runs are drawn whole, the metric is computed over all their blocks."""

    def delta(indices: np.ndarray) -> float:
        chosen = indices.astype(int)
        a = block_statistic(metric, np.concatenate([base[i] for i in chosen]))
        b = block_statistic(metric, np.concatenate([candidate[i] for i in chosen]))
        return 100 * (b / a - 1)

    with warnings.catch_warnings():
        # Of a distribution with one value only, which gives an interval of width 0.
        warnings.simplefilter("ignore")
        result = stats.bootstrap((np.arange(len(base)),), delta, vectorized=False,
                                 confidence_level=CONFIDENCE, n_resamples=BLOCK_RESAMPLES,
                                 method="percentile", random_state=SEED)
    return Interval(float(result.confidence_interval.low), float(result.confidence_interval.high))


def mann_whitney(base: Sequence[float], candidate: Sequence[float]) -> float:
    """Two-sided p; 1 where all values are the same."""
    if len(set(base) | set(candidate)) == 1:
        return 1.0
    return float(stats.mannwhitneyu(candidate, base, alternative="two-sided").pvalue)


def pairs_to_find(comparisons: int) -> int:
    """How many pairs it takes until anything can be significant after Holm's correction over so many
    comparisons: with fewer, the smallest p that Mann-Whitney can give, two of all orders of the runs, times
    their number is not below ALPHA, however far the sides are apart."""
    pairs = 2
    while comparisons * 2 / math.comb(2 * pairs, pairs) >= ALPHA:
        pairs += 1
    return pairs


def detectable_effect(deltas: Sequence[float]) -> float:
    """The smallest true mean of the deltas that a two-sided paired t-test of as many pairs, with the
    same spread, finds at level ALPHA with probability POWER."""
    spread = float(np.std(deltas, ddof=1))
    if spread == 0:
        return 0.0
    with warnings.catch_warnings():
        # Of SciPy's noncentral t, far outside of where the solution is.
        warnings.simplefilter("ignore")
        effect = TTestPower().solve_power(nobs=len(deltas), alpha=ALPHA, power=POWER)
    return float(effect) * spread


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values by Holm's step-down method, in the order given."""
    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def compare(metric: str, base: Sequence[float], candidate: Sequence[float],
            base_blocks: Sequence[np.ndarray] | None = None,
            candidate_blocks: Sequence[np.ndarray] | None = None) -> Comparison | None:
    """Compares one metric over pairs of runs; None where the base is 0 somewhere.

    `*_blocks` are block times of the same runs; with them, metrics of block times are bootstrapped
    over blocks.
    """
    if len(base) < 2 or len(base) != len(candidate):
        raise ValueError("needs at least two pairs of runs")
    deltas = percent_deltas(base, candidate)
    if deltas is None:
        return None
    if metric in BLOCK_METRICS and base_blocks and candidate_blocks:
        bootstrap = block_bootstrap_interval(metric, base_blocks, candidate_blocks)
    else:
        bootstrap = bootstrap_interval(deltas)
    return Comparison(metric, list(base), list(candidate), deltas, float(np.mean(deltas)),
                      t_interval(deltas), bootstrap, mann_whitney(base, candidate),
                      detectable_effect(deltas))


def geometric_mean(values: Sequence[float]) -> float:
    return float(stats.gmean(values))


def correct(comparisons: Sequence[Comparison]) -> None:
    """Sets p_holm over all of them: metrics and benchmarks together are one family."""
    for comparison, p in zip(comparisons, holm([c.p_value for c in comparisons]), strict=True):
        comparison.p_holm = p
