"""The keep bar: when a change is worth keeping, when it is a regression, and when nobody can tell."""

from dataclasses import dataclass, field
from enum import Enum

from .stats import ALPHA, Comparison, Interval

DEFAULT_MIN_EFFECT = 1.0  # percent


class Verdict(Enum):
    """Outcome of a comparison; the value is the exit status."""

    KEPT = 0
    DIFFERENT = 2
    NOT_KEPT = 3
    REGRESSION = 4
    INCONCLUSIVE = 5

    @property
    def text(self) -> str:
        return self.name.lower().replace("_", " ")


class Change(Enum):
    """What an interval says about one metric, against the minimum effect."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    WITHIN = "within the minimum effect"
    UNCLEAR = "cannot tell"


@dataclass
class Bar:
    """Minimum effects in percent: one for all metrics, and exceptions."""

    default: float = DEFAULT_MIN_EFFECT
    by_metric: dict[str, float] = field(default_factory=dict)

    def of(self, metric: str) -> float:
        return self.by_metric.get(metric, self.default)

    def judge(self, metric: str, interval: Interval) -> Change:
        effect = self.of(metric)
        if interval.high < -effect:
            return Change.IMPROVED
        if interval.low > effect:
            return Change.REGRESSED
        if interval.low >= -effect and interval.high <= effect:
            return Change.WITHIN
        return Change.UNCLEAR


def found(comparison: Comparison, change: Change) -> bool:
    """Whether a metric may be named as changed: beyond the minimum effect, and not by the luck of
    having looked at many."""
    return change in (Change.IMPROVED, Change.REGRESSED) and comparison.p_holm < ALPHA


def in_words(comparison: Comparison, change: Change) -> str:
    text = change.value
    if not comparison.interval.excludes_zero():
        text += ", does not exclude zero"
    elif change in (Change.IMPROVED, Change.REGRESSED) and comparison.p_holm >= ALPHA:
        text += ", not after correction for many metrics"
    return text


def decide(change: Change, confirmation: Change | None, confirming: bool, noisy: bool) -> tuple[Verdict, str]:
    """The verdict on the metric that decides, with its reason.

    `confirmation` is the same metric in the confirmation pass, None where there was none.
    `noisy`: runs stay that exceeded the limits even when repeated.
    """
    if noisy:
        return Verdict.INCONCLUSIVE, "the machine was not quiet: runs exceeded the limits even when repeated"
    if change is Change.IMPROVED:
        if not confirming:
            return (Verdict.INCONCLUSIVE,
                    "the whole interval is beyond the minimum effect, but nothing is kept without an "
                    "independent confirmation: add --confirm")
        if confirmation is Change.IMPROVED:
            return (Verdict.KEPT,
                    "the whole interval is beyond the minimum effect, in the confirmation pass too")
        return Verdict.NOT_KEPT, "the confirmation pass does not confirm it"
    if change is Change.REGRESSED:
        return Verdict.REGRESSION, "the whole interval is beyond the minimum effect on the bad side"
    if change is Change.WITHIN:
        return Verdict.NOT_KEPT, "the whole interval is within the minimum effect"
    return Verdict.INCONCLUSIVE, "the interval reaches over the minimum effect: these runs cannot tell"
