"""What is measured, by name; lower is better in all of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from .reports import RunReport

PHASES = ("decode", "apply", "begin_block", "deliver_tx", "end_block", "hash", "commit", "check_tx", "other")
# A 99th percentile of fewer blocks is one of the few slowest ones, and says nothing.
MIN_BLOCKS_FOR_P99 = 100


@dataclass(frozen=True)
class Metric:
    name: str  # on command lines and in JSON
    label: str  # in tables
    unit: str  # of values: s, ms, B, or empty for counts
    path: tuple[str, ...]  # in report.json
    benchmark_unit: str  # in Go benchmark text
    scale: float = 1.0  # from `unit` to that
    per_block: bool = False  # in Go benchmark text: divided by the blocks


RUN_METRICS: tuple[Metric, ...] = (
    Metric("wall", "wall time", "s", ("wall_s",), "ns/op", 1e9, True),
    Metric("process_cpu", "process CPU", "s", ("cpu_s", "process"), "process-cpu-ns/op", 1e9, True),
    Metric("execution_cpu", "block-execution CPU", "s", ("cpu_s", "block_execution"),
           "execution-cpu-ns/op", 1e9, True),
    Metric("commit_cpu", "commit CPU", "s", ("cpu_s", "commit"), "commit-cpu-ns/op", 1e9, True),
    Metric("compaction_cpu", "compaction CPU", "s", ("cpu_s", "compaction"),
           "compaction-cpu-ns/op", 1e9, True),
    Metric("flush_cpu", "flush CPU", "s", ("cpu_s", "flush"), "flush-cpu-ns/op", 1e9, True),
    Metric("block_p50", "block p50", "ms", ("block_ms", "p50"), "p50-ns", 1e6),
    Metric("block_p90", "block p90", "ms", ("block_ms", "p90"), "p90-ns", 1e6),
    Metric("block_p99", "block p99", "ms", ("block_ms", "p99"), "p99-ns", 1e6),
    Metric("block_mean", "block mean", "ms", ("block_ms", "mean"), "mean-ns", 1e6),
    Metric("block_stddev", "block stddev", "ms", ("block_ms", "stddev"), "stddev-ns", 1e6),
    *(Metric(f"phase_{phase}", f"phase {phase}", "ms", ("phase_ms", phase), f"{phase}-ns/op", 1e6,
             True) for phase in PHASES),
    Metric("recheck", "mean recheck of a block", "ms", ("mempool", "recheck_ms", "mean"), "recheck-ns/op", 1e6),
    Metric("peak_rss", "peak RSS", "B", ("peak_rss_bytes",), "rss-bytes"),
    Metric("allocated_bytes", "allocated bytes per block", "B", ("allocated_bytes_per_block",),
           "B/op"),
    Metric("allocations", "allocations per block", "", ("allocations_per_block",), "allocs/op"),
    Metric("bytes_written", "bytes written", "B", ("bytes_written",), "written-B/op", 1, True),
    Metric("instructions", "instructions", "", ("instructions",), "instructions/op", 1, True),
)
BY_NAME = {metric.name: metric for metric in RUN_METRICS}


def values_of(report: RunReport) -> dict[str, float]:
    """The metrics that a run has a number for."""
    blocks = report.value("blocks_measured") or 0
    values = {}
    for metric in RUN_METRICS:
        value = report.value(*metric.path)
        if value is None or (metric.name == "block_p99" and blocks < MIN_BLOCKS_FOR_P99):
            continue
        values[metric.name] = value
    return values


def in_all(runs: Iterable[dict[str, float]]) -> list[str]:
    """Names that every run has, and that are not zero in all of them; in the order of the first."""
    runs = list(runs)
    return [name for name in (runs[0] if runs else {})
            if all(name in run for run in runs) and any(run[name] != 0 for run in runs)]


def format_value(value: float, unit: str) -> str:
    """As people read it, with its unit."""
    if unit == "B":
        for suffix, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
            if abs(value) >= size:
                return f"{value / size:.2f} {suffix}"
        return f"{value:.0f} B"
    if unit == "":
        return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
    if unit == "ns":
        for suffix, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
            if abs(value) >= size:
                return f"{value / size:.3f} {suffix}"
        return f"{value:.1f} ns"
    return f"{value:.3f} {unit}"
