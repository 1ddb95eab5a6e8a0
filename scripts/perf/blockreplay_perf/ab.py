"""ab.sh: measures a candidate against a base, and says what may be believed of it."""

import argparse
import json
import math
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import render
from .analysis import Outcome, analyse, conclude
from .benches import find_benchmarks, programs_in
from .database import plan_recording
from .errors import Parser, PerfError, run_main
from .machine import DEFAULT_LOCK, Limits, MachineLock, StartGate, default_cpus
from .metrics import BY_NAME
from .reports import Check, compare_results
from .runner import NAMES, Benchmark, Command, Measurer, Mempool, Pass, Replay, ReportedRuns, RunFolder, new_run_folder
from .sides import DEFAULT_BINARY, REPOSITORY, Side, check_run_options, parse_side, split_options
from .verdict import DEFAULT_MIN_EFFECT, Bar, Change, Verdict

DESCRIPTION = """\
Measures CANDIDATE against BASE over a recording: interleaved pairs of runs (ABBA), each on its own copy of
the same database, and says whether the change is worth keeping. BASE and CANDIDATE are
  bin:PATH          a program (a plain path is one too)
  rev:REVISION      a git revision, built in a worktree of its own with the release preset
  opt:'OPTIONS'     the program of --binary with these run options
Run options after -- go to both sides.
"""
EPILOG = """\
exit status: 0 kept, 1 error, 2 hashes differ, 3 not kept, 4 regression, 5 inconclusive (docs/ab.md)
examples:
  scripts/perf/ab.sh rev:main bin:build/release/bin/blockreplay --confirm
  scripts/perf/ab.sh opt:'--seek-compaction off' opt:'--seek-compaction on' -- --threads 2
  scripts/perf/ab.sh --aa bin:build/release/bin/blockreplay
  scripts/perf/ab.sh --matrix '--cache-mb 512; --threads 1; --persist every' opt:''
  scripts/perf/ab.sh --mempool opt:'--no-memo' opt:'' -- --depth 5000 --block-txs 100 --blocks 10
  scripts/perf/ab.sh --bench 'BM_.*Commit' rev:main rev:HEAD
"""


def parse_arguments(argv: list[str]) -> tuple[argparse.Namespace, tuple[str, ...]]:
    own, rest = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = Parser("ab.sh", DESCRIPTION, EPILOG)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("candidate", metavar="CANDIDATE", nargs="?")
    parser.add_argument("--recording", action="append", metavar="DIR",
                        help="what is replayed (default fixtures/thor-2000); repeatable: each is a benchmark")
    parser.add_argument("--from", dest="begin", type=int, metavar="H", help="begin of the range")
    parser.add_argument("--to", dest="end", type=int, metavar="H", help="end of the range")
    parser.add_argument("--warmup", type=int, metavar="N",
                        help="blocks at its begin that do not count (default: a tenth, at most 200)")
    parser.add_argument("--pairs", type=int, default=8, metavar="N", help="pairs of runs (default 8)")
    parser.add_argument("--confirm", action="store_true",
                        help="confirm an improvement by a second, independent pass; nothing is kept without")
    parser.add_argument("--aa", action="store_true",
                        help="measure BASE against itself: what this machine cannot tell apart")
    parser.add_argument("--matrix", metavar="SWITCHES",
                        help="option switches separated by ';', or a file with one a line: each against BASE")
    parser.add_argument("--mempool", action="store_true",
                        help="drive the mempool over the recordings (default fixtures/gno-sends-300) instead of replaying")
    parser.add_argument("--bench", metavar="REGEX", help="compare programs of bench/ instead of replays")
    parser.add_argument("--binary", default=str(DEFAULT_BINARY), metavar="PATH",
                        help="program of opt: sides (default build/release/bin/blockreplay)")
    parser.add_argument("--primary", metavar="METRIC",
                        help="the metric that decides (default process_cpu; with --bench cpu_time)")
    parser.add_argument("--min-effect", action="append", default=[], metavar="[METRIC=]PERCENT",
                        help=f"smallest effect that matters (default {DEFAULT_MIN_EFFECT:g}), of all or one metric")
    parser.add_argument("--cpus", metavar="LIST",
                        help="pin runs to these CPUs; 'none' does not pin (default: all but the first, from 4 on)")
    parser.add_argument("--gate", choices=("on", "off"), default="on",
                        help="wait for a quiet machine before each run (default on)")
    parser.add_argument("--gate-timeout", type=float, default=600, metavar="S", help="give up after (default 600)")
    parser.add_argument("--max-foreign-cpu", type=float, default=Limits.foreign_cpu, metavar="PERCENT",
                        help="limit of the CPU time that others use (default 10)")
    parser.add_argument("--max-steal", type=float, default=Limits.steal, metavar="PERCENT", help="(default 2)")
    parser.add_argument("--max-psi", type=float, default=Limits.psi, metavar="PERCENT",
                        help="limit of pressure stalls before a run (default 10)")
    parser.add_argument("--max-load", type=float, metavar="LOAD", help="limit of the load average (default: none)")
    parser.add_argument("--max-repeats", type=int, default=3, metavar="N",
                        help="a run over the limits is repeated so often (default 3)")
    parser.add_argument("--lock", default=DEFAULT_LOCK, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--out", metavar="DIR", help="where results go (default runs/ab/<time>)")
    arguments = parser.parse_intermixed_args(own)
    if sum([arguments.aa, arguments.matrix is not None]) + (arguments.candidate is not None) != 1:
        parser.error("give BASE and CANDIDATE, or --aa BASE, or --matrix SWITCHES BASE")
    if arguments.mempool and arguments.bench is not None:
        parser.error("--mempool and --bench are two things: give one")
    if arguments.pairs < 2:
        parser.error("--pairs must be at least 2: one pair has no spread")
    options = tuple(rest)
    if arguments.bench is None:
        check_run_options(options)
    return arguments, options


def parse_bar(texts: list[str], names: set[str] | None) -> Bar:
    bar = Bar()
    for text in texts:
        metric, equals, number = text.rpartition("=")
        try:
            effect = float(number)
        except ValueError:
            raise PerfError(f"--min-effect {text}: not a number of percent") from None
        if not 0 <= effect < math.inf:
            raise PerfError(f"--min-effect {text}: must be a number of percent from 0 on")
        if not equals:
            bar.default = effect
        elif names is not None and metric not in names:
            raise PerfError(f"--min-effect {text}: there is no metric {metric}; there are {', '.join(sorted(names))}")
        else:
            bar.by_metric[metric] = effect
    return bar


def read_switches(text: str) -> list[str]:
    path = Path(text)
    if path.is_file():
        lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    else:
        lines = [part.strip() for part in text.split(";")]
    switches = [line for line in lines if line]
    if not switches:
        raise PerfError(f"--matrix {text}: no switches in it")
    return switches


class Experiment:
    """One invocation: measures comparisons and writes what they came to."""

    def __init__(self, arguments: argparse.Namespace, common: tuple[str, ...], folder: RunFolder, work: Path) -> None:
        self.arguments = arguments
        self.folder = folder
        self.work = work
        pin = {None: default_cpus(), "none": None}.get(arguments.cpus, arguments.cpus)
        if pin and shutil.which("taskset") is None:
            raise PerfError("taskset is not there (package util-linux): install it, or use --cpus none")
        self.command = Command(pin, common)
        self.primary = arguments.primary or ("cpu_time" if arguments.bench else "process_cpu")
        names = None if arguments.bench else set(BY_NAME)
        if names is not None and self.primary not in names:
            raise PerfError(f"--primary {self.primary}: there is no such metric; there are {', '.join(sorted(names))}")
        self.bar = parse_bar(arguments.min_effect, names)
        limits = Limits(arguments.max_foreign_cpu, arguments.max_steal, arguments.max_psi, arguments.max_load)
        self.gate = StartGate(limits, arguments.gate_timeout, arguments.gate == "on")
        self.measurer = Measurer(folder, self.gate, arguments.max_repeats)

    def benchmarks(self, sides: dict[str, Side]) -> list[Benchmark]:
        if self.arguments.bench is not None:
            return find_benchmarks(self.arguments.bench, sides, self.command)
        if self.arguments.mempool:
            paths = [Path(path) for path in self.arguments.recording or [REPOSITORY / "fixtures/gno-sends-300"]]
            return [Mempool(path, sides, self.command) for path in paths]
        recordings = self.arguments.recording or [str(REPOSITORY / "fixtures/thor-2000")]
        plans = [plan_recording(Path(path), self.arguments.begin, self.arguments.end, self.arguments.warmup)
                 for path in recordings]
        if len({plan.name for plan in plans}) != len(plans):
            raise PerfError("two recordings have the same name: results are named after them")
        return [Replay(plan, sides, self.command, self.work) for plan in plans]

    def compare(self, base: Side, candidate: Side, label: str) -> tuple[Outcome, str, dict[str, Any]]:
        """All passes of one comparison, as outcome, text and JSON."""
        sides = dict(zip(NAMES, (base, candidate), strict=True))
        benchmarks = self.benchmarks(sides)
        first = self.measurer.run_pass(benchmarks, self.arguments.pairs, label)
        analysis = analyse(first, self.bar, self.primary)
        second: Pass | None = None
        confirmation = None
        if (self.arguments.confirm and not analysis.noisy
                and analysis.change(analysis.deciding()) is Change.IMPROVED):
            second = self.measurer.run_pass(benchmarks, self.arguments.pairs, f"{label}-confirm")
            confirmation = analyse(second, self.bar, self.primary)
        outcome = conclude(analysis, confirmation, self.arguments.confirm)
        checks = {b.name: compare_results(b.last_reports["A"], b.last_reports["B"])
                  for b in benchmarks if isinstance(b, ReportedRuns)}
        text = self._text(sides, benchmarks, first, second, outcome, checks)
        self._write_benchmark_text(first, second, benchmarks, label)
        data = {"sides": {name: {"spec": side.spec, "binary": str(side.binary), "options": list(side.options)}
                          for name, side in sides.items()},
                "common_options": list(self.command.common), "cpus": self.command.pin,
                "benchmarks": [b.describe() for b in benchmarks],
                "limits": {**vars(self.gate.limits), "gate": self.gate.enabled},
                "checks": {name: [vars(c) for c in found] for name, found in checks.items()},
                "pass": {**first.to_json(), **analysis.to_json()},
                "confirmation": {**second.to_json(), **confirmation.to_json()} if second and confirmation else None,
                **outcome.to_json()}
        return outcome, text, data

    def _text(self, sides: dict[str, Side], benchmarks: list[Benchmark], first: Pass, second: Pass | None,
              outcome: Outcome, checks: dict[str, list[Check]]) -> str:
        lines = [f"base       {sides['A'].spec}", f"candidate  {sides['B'].spec}"]
        if self.command.common:
            lines.append(f"both       {' '.join(self.command.common)}")
        lines.append(f"pinned     {'CPUs ' + self.command.pin if self.command.pin else 'not (too few CPUs to spare one)'}")
        lines += [f"measured   {benchmark.describe()}" for benchmark in benchmarks]
        if any(isinstance(benchmark, Replay) for benchmark in benchmarks):
            lines.append("caches     database and recording are read through before each run (warm page cache)")
        for name, found in checks.items():
            lines += ["", f"Results of {name}:", *render.checks_lines(found)]
        if not checks:
            lines += ["", "Results: benchmarks verify nothing"]
        text = "\n".join(lines) + "\n\n"
        detectable = self.arguments.aa
        text += render.pass_text("measurement", outcome.first, first, detectable)
        if second is not None and outcome.confirmation is not None:
            text += "\n" + render.pass_text("confirmation", outcome.confirmation, second, detectable)
        return text

    def _write_benchmark_text(self, first: Pass, second: Pass | None, benchmarks: list[Benchmark], label: str) -> None:
        cpu = ""
        counts: dict[str, float] = {}
        for benchmark in benchmarks:
            if isinstance(benchmark, ReportedRuns):
                report = benchmark.last_reports["A"]
                cpu = report.data["host"].get("cpu") or ""
                counts[benchmark.name] = report.value("blocks_measured") or 1
        for side, name in zip(NAMES, ("base", "candidate"), strict=True):
            text = render.benchmark_text(first.runs, side, cpu, counts)
            path = self.folder.path / f"{label}-{name}.txt"
            path.write_text(text, encoding="utf-8")
            if second is not None:
                text = render.benchmark_text(second.runs, side, cpu, counts)
                path.with_stem(f"{label}-confirm-{name}").write_text(text, encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.folder.path / name).write_text(text, encoding="utf-8")


def aa_text(outcome: Outcome) -> tuple[Verdict, str]:
    """What A against A says of this machine."""
    first = outcome.first
    deciding = first.deciding()
    found = first.found()
    effect = first.bar.of(deciding.metric)
    lines = [f"floor: with {len(deciding.deltas)} pairs this machine finds a change of "
             f"{deciding.detectable:.2f} % in {render.label_of(deciding.metric)} four times out of five, and one of "
             f"{effect + deciding.detectable:.2f} % is as often wholly beyond the minimum effect of {effect:g} %; "
             "smaller ones need more pairs or a quieter machine"]
    if found:
        lines.append("A against A differs in " + ", ".join(render.label_of(c.metric) for _, c in found)
                     + ": this machine is not fit for comparisons now")
    elif first.pairs_missing():
        lines.append(f"A against A: nothing found, but so few pairs could not show any difference: give --pairs "
                     f"{len(deciding.deltas) + first.pairs_missing()} or more")
    else:
        lines.append("A against A: nothing found, as it should be")
    return (Verdict.INCONCLUSIVE if found else Verdict.KEPT), "\n".join(lines)


def run_comparison(experiment: Experiment, base: Side, candidate: Side) -> int:
    outcome, text, data = experiment.compare(base, candidate, "ab")
    if experiment.arguments.aa:
        verdict, ending = aa_text(outcome)
        data |= {"aa": True, "verdict": "fit" if verdict is Verdict.KEPT else "not fit", "exit_status": verdict.value}
    else:
        verdict, ending = outcome.verdict, render.verdict_line(outcome)
    text += "\n" + ending + "\n"
    experiment.write("result.md", text)
    experiment.write("result.json", json.dumps(data, indent=1) + "\n")
    print(text)
    return verdict.value


def run_matrix(experiment: Experiment, base: Side, switches: list[str]) -> int:
    rows: list[tuple[str, Outcome | None, str]] = []
    results = []
    for number, switch in enumerate(switches, 1):
        options = split_options(switch)
        check_run_options(options)
        candidate = replace(base, spec=f"{base.spec} {switch}", options=(*base.options, *options))
        try:
            outcome, text, data = experiment.compare(base, candidate, f"switch{number}")
        except PerfError as error:
            rows.append((switch, None, "hashes differ" if error.status == 2 else "failed"))
            results.append({"switch": switch, "error": str(error), "exit_status": error.status})
            print(f"{switch}: {error}", file=sys.stderr)
            continue
        rows.append((switch, outcome, ""))
        results.append({"switch": switch, **data})
        experiment.write(f"switch{number}.md", text + "\n" + render.verdict_line(outcome) + "\n")
    text = f"base       {base.spec}\n\n" + render.matrix_text(rows)
    experiment.write("result.md", text)
    experiment.write("result.json", json.dumps({"matrix": results}, indent=1) + "\n")
    print(text)
    statuses = [result["exit_status"] for result in results]
    if 2 in statuses or 1 in statuses:
        return 2 if 2 in statuses else 1
    # Something is worth keeping, or everything was told apart, or not.
    return 0 if 0 in statuses else 5 if 5 in statuses else 3


def main(argv: list[str]) -> int:
    arguments, common = parse_arguments(argv)
    binary = Path(arguments.binary)
    targets = ["blockreplay"]
    if arguments.bench is not None:
        targets += programs_in(REPOSITORY / "build/release/bin") or ["kv_bench", "iavl_bench", "gno_bench"]
    base = parse_side(arguments.base, binary, targets)
    candidate = base if arguments.candidate is None else parse_side(arguments.candidate, binary, targets)
    switches = read_switches(arguments.matrix) if arguments.matrix is not None else []
    folder = new_run_folder(arguments.out, "ab")
    with MachineLock(arguments.lock), tempfile.TemporaryDirectory(prefix="blockreplay-ab-") as work:
        experiment = Experiment(arguments, common, folder, Path(work))
        try:
            status = (run_matrix(experiment, base, switches) if switches
                      else run_comparison(experiment, base, candidate))
        finally:
            if not folder.discard_if_empty():
                print(f"raw data   {folder.path}", file=sys.stderr)
    return status


if __name__ == "__main__":
    run_main("ab.sh", main)
