"""Results for people (Markdown), and for benchstat (Go benchmark text)."""

import math
import platform
import statistics
from collections.abc import Sequence

from .analysis import GEOMEAN, Analysis, Outcome
from .metrics import BY_NAME, format_value
from .reports import Check
from .runner import Measured, Pass
from .stats import Comparison, Interval
from .verdict import in_words

# Google Benchmark's own two; everything else it has is a counter.
TIMES = {"real_time": "time", "cpu_time": "CPU time"}


def label_of(metric: str) -> str:
    return BY_NAME[metric].label if metric in BY_NAME else TIMES.get(metric, metric)


def unit_of(metric: str) -> str:
    return BY_NAME[metric].unit if metric in BY_NAME else ("ns" if metric in TIMES else "")


def percent(value: float) -> str:
    return f"{value:+.2f} %".replace("-", "−")


def interval_text(interval: Interval) -> str:
    return f"[{interval.low:+.2f}, {interval.high:+.2f}]".replace("-", "−")


def p_text(p: float) -> str:
    return "" if math.isnan(p) else f"{p:.3f}" if p >= 0.0005 else "0.000"


def table(rows: Sequence[Sequence[str]], words: int = 0) -> str:
    """A Markdown table with its columns aligned: numbers to the right; the first column and the last
    `words` ones are text."""
    numbers = range(1, len(rows[0]) - words)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.rjust(width) if i in numbers else cell.ljust(width)
                                 for i, (cell, width) in enumerate(zip(cells, widths, strict=True))) + " |"

    rule = "| " + " | ".join("-" * (width - 1) + ":" if i in numbers else "-" * width
                             for i, width in enumerate(widths)) + " |"
    return "\n".join([line(rows[0]), rule, *(line(row) for row in rows[1:])])


def comparison_table(analysis: Analysis, benchmark: str, detectable: bool) -> str:
    rows = [["metric", "base", "candidate", "delta", "95 % paired t", "95 % bootstrap", "p", "p (Holm)"]]
    if detectable:
        rows[0].append("detectable")
    rows[0].append("")
    for c in analysis.by_benchmark[benchmark]:
        unit = unit_of(c.metric)
        row = [label_of(c.metric), format_value(statistics.fmean(c.base), unit),
               format_value(statistics.fmean(c.candidate), unit), percent(c.mean), interval_text(c.t_interval),
               interval_text(c.bootstrap_interval), p_text(c.p_value), p_text(c.p_holm)]
        if detectable:
            row.append(f"{c.detectable:.2f} %")
        row.append(in_words(c, analysis.change(c)))
        rows.append(row)
    return table(rows, words=1)


def pairs_line(comparison: Comparison) -> str:
    return (f"{label_of(comparison.metric)}, pair by pair: "
            + ", ".join(percent(delta) for delta in comparison.deltas))


def changes_lines(analysis: Analysis) -> list[str]:
    """What changed, by name; phases are named as such."""
    found = analysis.found()
    if not found:
        missing = analysis.pairs_missing()
        but = f"; so few pairs cannot show any: it takes {missing} more" if missing else ""
        return ["Changed beyond the minimum effect: nothing (after Holm correction over "
                f"{analysis.comparisons()} comparisons{but})"]
    lines = ["Changed beyond the minimum effect (after Holm correction):"]
    for benchmark, c in found:
        where = f" ({benchmark})" if len(analysis.by_benchmark) > 1 else ""
        lines.append(f"  {label_of(c.metric)}{where}: {percent(c.mean)} {interval_text(c.interval)}")
    return lines


def checks_lines(checks: Sequence[Check]) -> list[str]:
    lines = []
    for check in checks:
        if check.result == "not computed":
            lines.append(f"  {check.name}: not computed {check.detail} (what is only copied from the recording "
                         "counts as not computed)")
        else:
            lines.append(f"  {check.name}: {check.result}, {check.detail}")
    return lines


def machine_lines(measured: Pass) -> list[str]:
    runs = [run for sides in measured.runs.values() for side in sides.values() for run in side]

    def spread(name: str, values: Sequence[float | None], unit: str) -> str:
        known = [value for value in values if value is not None]
        if not known:
            return f"{name} unknown"
        return f"{name} {min(known):.1f} to {max(known):.1f}{unit}"

    lines = ["  " + "; ".join([
        spread("load average", [load for r in runs for load in (r.machine.loadavg_start, r.machine.loadavg_end)], ""),
        spread("CPU used by others", [r.machine.foreign_cpu for r in runs], " %"),
        spread("steal", [r.machine.steal for r in runs], " %"),
        *(spread(f"PSI {name}", [r.machine.psi.get(name) for r in runs], " %") for name in ("cpu", "io"))])]
    for run in measured.flagged:
        lines.append(f"  flagged and repeated: {run.folder.name} ({'; '.join(run.flags)})")
    for run in runs:
        if run.flags:
            lines.append(f"  counts although over the limits: {run.folder.name} ({'; '.join(run.flags)})")
    return lines


def pass_text(title: str, analysis: Analysis, measured: Pass, detectable: bool) -> str:
    lines = [f"### {title}: {len(measured.order) // 2} pairs, order {measured.order}", ""]
    benchmarks = list(analysis.by_benchmark)
    for benchmark in benchmarks:
        if len(benchmarks) > 1:
            lines += [f"#### {benchmark}", ""]
        lines += [comparison_table(analysis, benchmark, detectable), ""]
        for metric in analysis.skipped.get(benchmark, []):
            lines.append(f"{label_of(metric)}: no delta, the base is 0 in a run")
    lines += [pairs_line(analysis.deciding()), "", *changes_lines(analysis), "", "Machine during the runs:",
              *machine_lines(measured)]
    return "\n".join(lines) + "\n"


def verdict_line(outcome: Outcome) -> str:
    c = outcome.first.deciding()
    text = (f"verdict: {outcome.verdict.text} (exit status {outcome.verdict.value}): {label_of(c.metric)} "
            f"{percent(c.mean)} {interval_text(c.interval)}, minimum effect {outcome.first.bar.of(c.metric):g} %: "
            f"{outcome.reason}")
    if not c.interval.excludes_zero():
        text += "; the interval does not exclude zero"
    return text


def benchmark_text(runs: dict[str, dict[str, list[Measured]]], side: str, cpu: str, counts: dict[str, float]) -> str:
    """Runs of one side in Go's benchmark format, which benchstat reads: a line for each run."""
    lines = ["goos: linux", f"goarch: {'amd64' if platform.machine() == 'x86_64' else platform.machine()}",
             "pkg: blockreplay"]
    if cpu:
        lines.append(f"cpu: {cpu}")
    for name, sides in runs.items():
        for run in sides[side]:
            blocks = counts.get(name, 1)
            values = []
            for metric, value in run.values.items():
                known = BY_NAME.get(metric)
                if known:
                    scaled = value * known.scale / (blocks if known.per_block else 1)
                    values.append(f"{scaled:.6g} {known.benchmark_unit}")
                elif metric == "real_time":
                    values.append(f"{value:.6g} ns/op")
                elif metric == "cpu_time":
                    values.append(f"{value:.6g} cpu-ns/op")
                else:
                    values.append(f"{value:.6g} {metric.replace(' ', '-')}")
            safe = name.replace(" ", "_")
            lines.append(f"BenchmarkReplay/{safe} {max(1, int(blocks))} " + " ".join(values))
    return "\n".join(lines) + "\n"


def matrix_text(rows: list[tuple[str, Outcome | None, str]]) -> str:
    """The table of switches: kept first, then what was considered and dropped."""
    parts = []
    for title, kept in (("Kept", True), ("Considered and dropped", False)):
        chosen = [row for row in rows if (row[1] is not None and row[1].verdict.value == 0) == kept]
        parts += [f"### {title}", ""]
        if not chosen:
            parts += ["none", ""]
            continue
        cells = [["switch", "delta", "95 % interval", "verdict", "also changed"]]
        for switch, outcome, problem in chosen:
            if outcome is None:
                cells.append([f"`{switch}`", "", "", problem, ""])
                continue
            c = outcome.first.deciding()
            others = [f"{label_of(o.metric)} {percent(o.mean)}" for name, o in outcome.first.found()
                      if o.metric != c.metric and name in (GEOMEAN, next(iter(outcome.first.by_benchmark)))]
            cells.append([f"`{switch}`", percent(c.mean), interval_text(c.interval), outcome.verdict.text,
                          ", ".join(others)])
        parts += [table(cells, words=2), ""]
    return "\n".join(parts)
