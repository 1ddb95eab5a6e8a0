#!/usr/bin/env python3
"""Statistics, the keep bar and what goes with them, on data with known answers. Needs no binary."""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

from blockreplay_perf import ab, benches, machine, metrics, render, reports, runner, sides, stats  # noqa: E402
from blockreplay_perf.analysis import analyse, conclude  # noqa: E402
from blockreplay_perf.errors import PerfError  # noqa: E402
from blockreplay_perf.runner import Measured, Pass, order_of  # noqa: E402
from blockreplay_perf.stats import Interval  # noqa: E402
from blockreplay_perf.verdict import Bar, Change, Verdict, decide  # noqa: E402

DATA = Path(__file__).resolve().parent / "data"
QUIET = machine.Activity(1, 0, 0, 0, 0)

# Student's sleep data (Biometrika 1908): additional hours of sleep of ten patients with two drugs.
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


class KnownAnswers(unittest.TestCase):
    def test_paired_t_of_students_sleep_data(self) -> None:
        interval = stats.t_interval([b - a for a, b in zip(SLEEP_1, SLEEP_2)])
        # As R's t.test(paired = TRUE) prints it.
        self.assertAlmostEqual(interval.low, 0.7001142, 6)
        self.assertAlmostEqual(interval.high, 2.4598858, 6)

    def test_mann_whitney(self) -> None:
        # Two separate groups of eight: the smallest p there is, 2 of (16 over 8) = 12870 orders.
        self.assertAlmostEqual(stats.mann_whitney(range(8), range(8, 16)), 2 / 12870)
        self.assertEqual(stats.mann_whitney([1.0] * 8, [1.0] * 8), 1)

    def test_holm(self) -> None:
        # p.adjust(c(0.01, 0.04, 0.03, 0.02, 0.05), "holm") of R.
        np.testing.assert_allclose(stats.holm([0.01, 0.04, 0.03, 0.02, 0.05]), [0.05, 0.09, 0.09, 0.08, 0.09])
        np.testing.assert_allclose(stats.holm([0.5, 0.9, 0.001]), [1.0, 1.0, 0.003])
        self.assertEqual(stats.holm([0.2]), [0.2])

    def test_pairs_that_holm_lets_find_anything(self) -> None:
        # 2 of (8 over 4) = 70 orders is 0.029, of (10 over 5) = 252 it is 0.008, of (12 over 6) = 924 0.0022.
        self.assertEqual([stats.pairs_to_find(n) for n in (1, 2, 6, 7, 23, 24)], [4, 5, 5, 6, 6, 7])
        apart = [stats.mann_whitney(range(6), range(6, 12))] + [1.0] * 22
        self.assertLess(stats.holm(apart)[0], stats.ALPHA)
        self.assertGreater(stats.holm([*apart, 1.0])[0], stats.ALPHA)

    def test_an_effect_beyond_the_minimum_is_kept_with_the_power_that_is_said(self) -> None:
        rng = np.random.default_rng(4)
        shape = rng.standard_normal(8)
        shape = (shape - shape.mean()) / shape.std(ddof=1)  # spread 1, so that the detectable effect is exact
        effect = 1 + stats.detectable_effect(list(2 * shape))
        kept = sum(Bar().judge("wall", stats.t_interval(list(rng.normal(-effect, 2, 8)))) is Change.IMPROVED
                   for _ in range(2000))
        self.assertAlmostEqual(kept / 2000, 0.8, delta=0.03)

    def test_geometric_mean(self) -> None:
        self.assertAlmostEqual(stats.geometric_mean([2, 8]), 4)

    def test_detectable_effect(self) -> None:
        # Standardised effects that a paired t-test finds with power 0.8 at 0.05, as in tables of power.
        for pairs, effect in ((8, 1.156), (30, 0.529)):
            deltas = np.tile([-1.0, 1.0], pairs // 2)
            spread = float(np.std(deltas, ddof=1))
            self.assertAlmostEqual(stats.detectable_effect(list(deltas)) / spread, effect, 3)
        self.assertEqual(stats.detectable_effect([2.0, 2.0]), 0)

    def test_percent_deltas(self) -> None:
        np.testing.assert_allclose(stats.percent_deltas([2, 4], [1, 5]), [-50, 25])
        self.assertIsNone(stats.percent_deltas([0, 4], [1, 5]))

    def test_bootstrap_is_that_of_the_mean_and_the_same_every_time(self) -> None:
        rng = np.random.default_rng(1)
        deltas = list(rng.normal(5, 1, 200))
        interval = stats.bootstrap_interval(deltas)
        self.assertEqual(interval, stats.bootstrap_interval(deltas))
        # With many runs it is the normal interval.
        half = 1.96 * statistics.stdev(deltas) / math.sqrt(200)
        self.assertAlmostEqual(interval.low, statistics.fmean(deltas) - half, 1)
        self.assertAlmostEqual(interval.high, statistics.fmean(deltas) + half, 1)

    def test_counters_that_do_not_vary(self) -> None:
        comparison = stats.compare("allocations", [100.0] * 4, [97.0] * 4)
        self.assertEqual(comparison.t_interval, Interval(comparison.mean, comparison.mean))
        self.assertEqual(comparison.bootstrap_interval, comparison.t_interval)
        self.assertAlmostEqual(comparison.mean, -3)

    def test_blocks_of_a_run_are_one_observation(self) -> None:
        # Runs differ by several percent, blocks inside a run hardly: thousands of blocks say no more than
        # their four runs. An interval over blocks would be a hundred times narrower.
        rng = np.random.default_rng(2)
        levels = [1.00, 1.05, 0.97, 1.02]
        base = [level * (1 + 0.001 * rng.standard_normal(2000)) for level in levels]
        candidate = [level * (1 + 0.001 * rng.standard_normal(2000)) for level in levels[::-1]]
        for metric in ("block_p50", "block_mean"):
            interval = stats.block_bootstrap_interval(metric, base, candidate)
            self.assertGreater(interval.high - interval.low, 2)
            self.assertFalse(interval.excludes_zero())

    def test_block_statistics_are_the_report_s(self) -> None:
        blocks = np.arange(1.0, 101.0)
        self.assertEqual([stats.block_statistic(f"block_p{p}", blocks) for p in (50, 90, 99)], [50, 90, 99])
        self.assertEqual(stats.block_statistic("block_mean", blocks), 50.5)
        self.assertAlmostEqual(stats.block_statistic("block_stddev", blocks), statistics.stdev(blocks))

    def test_recorded_timings(self) -> None:
        recorded = json.loads((DATA / "recorded_timings.json").read_text(encoding="utf-8"))
        for name, case in recorded["cases"].items():
            with self.subTest(case=name):
                comparison = stats.compare("process_cpu", case["base"], case["candidate"])
                deltas = [100 * (b / a - 1) for a, b in zip(case["base"], case["candidate"])]
                # 2.364624: the 97.5th percentile of Student's t with 7 degrees of freedom.
                self.assertEqual(len(deltas), 8)
                half = 2.364624 * statistics.stdev(deltas) / math.sqrt(8)
                self.assertAlmostEqual(comparison.t_interval.low, statistics.fmean(deltas) - half, 4)
                self.assertAlmostEqual(comparison.t_interval.high, statistics.fmean(deltas) + half, 4)
                self.assertEqual(Bar().judge("process_cpu", comparison.interval).name.lower(), case["change"])


class KeepBar(unittest.TestCase):
    def test_judging_an_interval(self) -> None:
        bar = Bar(1.0, {"peak_rss": 5.0})
        for low, high, change in ((-3, -1.1, Change.IMPROVED), (-3, -0.9, Change.UNCLEAR), (1.1, 9, Change.REGRESSED),
                                  (0.9, 9, Change.UNCLEAR), (-1, 1, Change.WITHIN), (-0.2, 0.1, Change.WITHIN),
                                  (-2, 2, Change.UNCLEAR)):
            self.assertEqual(bar.judge("wall", Interval(low, high)), change, (low, high))
        self.assertEqual(bar.judge("peak_rss", Interval(-3, -1.1)), Change.WITHIN)

    def test_verdicts_and_statuses(self) -> None:
        improved, regressed, within, unclear = Change.IMPROVED, Change.REGRESSED, Change.WITHIN, Change.UNCLEAR
        for change, confirmation, confirming, noisy, verdict in (
                (improved, improved, True, False, Verdict.KEPT),
                (improved, within, True, False, Verdict.NOT_KEPT),
                (improved, unclear, True, False, Verdict.NOT_KEPT),
                (improved, regressed, True, False, Verdict.NOT_KEPT),
                (improved, None, False, False, Verdict.INCONCLUSIVE),
                (regressed, None, True, False, Verdict.REGRESSION),
                (within, None, True, False, Verdict.NOT_KEPT),
                (unclear, None, True, False, Verdict.INCONCLUSIVE),
                (improved, improved, True, True, Verdict.INCONCLUSIVE),
                (regressed, None, False, True, Verdict.INCONCLUSIVE)):
            self.assertIs(decide(change, confirmation, confirming, noisy)[0], verdict, (change, confirmation))
        self.assertEqual([v.value for v in (Verdict.KEPT, Verdict.DIFFERENT, Verdict.NOT_KEPT, Verdict.REGRESSION,
                                            Verdict.INCONCLUSIVE)], [0, 2, 3, 4, 5])

    def test_the_whole_interval_of_both_methods_has_to_clear_it(self) -> None:
        comparison = stats.Comparison("wall", [1], [1], [1], 3, Interval(0.5, 5), Interval(1.5, 4), 0.01, 1)
        self.assertIs(Bar().judge("wall", comparison.interval), Change.UNCLEAR)


def synthetic_pass(pairs: int, noise: float, factors: dict[str, float], seed: int, names=("one",)) -> Pass:
    rng = np.random.default_rng(seed)
    values = {"process_cpu": 5.0, "wall": 3.0, "phase_hash": 900.0, "phase_apply": 500.0, "peak_rss": 4e8}
    runs = {}
    for name in names:
        runs[name] = {}
        for side in "AB":
            runs[name][side] = []
            for _ in range(pairs):
                measured = {metric: value * (factors.get(metric, 1) if side == "B" else 1)
                            * (1 + noise * rng.standard_normal()) for metric, value in values.items()}
                runs[name][side].append(Measured(side, name, measured, Path("x"), QUIET))
    return Pass("".join(order_of(pairs)), runs, [], 0)


class Analysis(unittest.TestCase):
    def test_equal_sides_are_never_found(self) -> None:
        for seed in range(20):
            analysis = analyse(synthetic_pass(8, 0.01, {}, seed), Bar(), "process_cpu")
            self.assertEqual(analysis.found(), [], seed)

    def test_three_percent_in_one_phase_is_found_and_named(self) -> None:
        slow = {"process_cpu": 1.03, "wall": 1.04, "phase_hash": 1.15}
        outcome = conclude(analyse(synthetic_pass(8, 0.005, slow, 1), Bar(), "process_cpu"), None, False)
        self.assertIs(outcome.verdict, Verdict.REGRESSION)
        self.assertIn("phase hash", "\n".join(render.changes_lines(outcome.first)))
        self.assertNotIn("phase apply", "\n".join(render.changes_lines(outcome.first)))

    def test_too_few_pairs_say_so(self) -> None:
        few = analyse(synthetic_pass(4, 0.001, {"process_cpu": 1.5}, 1), Bar(), "process_cpu")
        self.assertEqual((few.comparisons(), few.pairs_missing(), few.found()), (5, 1, []))
        self.assertIn("so few pairs cannot show any: it takes 1 more", "\n".join(render.changes_lines(few)))
        enough = analyse(synthetic_pass(5, 0.001, {"process_cpu": 1.5}, 1), Bar(), "process_cpu")
        self.assertEqual(enough.pairs_missing(), 0)
        self.assertEqual([c.metric for _, c in enough.found()], ["process_cpu"])

    def test_minimum_effects(self) -> None:
        bar = ab.parse_bar(["2", "wall=0.5"], {"wall"})
        self.assertEqual((bar.of("process_cpu"), bar.of("wall")), (2, 0.5))
        for wrong in ("-1", "nan", "inf", "wall=nan", "x", "speed=1"):
            with self.assertRaises(PerfError):
                ab.parse_bar([wrong], {"wall"})

    def test_half_a_percent_in_noise_cannot_be_told(self) -> None:
        outcome = conclude(analyse(synthetic_pass(8, 0.01, {"process_cpu": 1.005}, 6), Bar(), "process_cpu"), None, False)
        self.assertIs(outcome.verdict, Verdict.INCONCLUSIVE)
        self.assertIn("does not exclude zero", render.verdict_line(outcome))

    def test_geometric_mean_decides_over_several_benchmarks(self) -> None:
        measured = synthetic_pass(8, 0.002, {"process_cpu": 0.95}, 3, ("one", "two", "three"))
        analysis = analyse(measured, Bar(), "process_cpu")
        deciding = analysis.deciding()
        self.assertAlmostEqual(deciding.mean, -5, 0)
        for i in range(8):
            ratios = [measured.runs[n]["B"][i].values["process_cpu"] / measured.runs[n]["A"][i].values["process_cpu"]
                      for n in ("one", "two", "three")]
            self.assertAlmostEqual(1 + deciding.deltas[i] / 100, math.prod(ratios) ** (1 / 3))
        # The family of Holm is everything that was compared.
        family = [c for comparisons in analysis.by_benchmark.values() for c in comparisons]
        self.assertEqual(len(family), 4 * 5)
        smallest = min(family, key=lambda c: c.p_value)
        self.assertAlmostEqual(smallest.p_holm, smallest.p_value * 20)

    def test_a_base_of_zero_has_no_delta(self) -> None:
        measured = synthetic_pass(2, 0.01, {}, 1)
        measured.runs["one"]["A"][0].values["phase_hash"] = 0.0
        analysis = analyse(measured, Bar(), "process_cpu")
        self.assertEqual(analysis.skipped, {"one": ["phase_hash"]})

    def test_benchmark_text(self) -> None:
        text = render.benchmark_text(synthetic_pass(2, 0.0, {}, 1).runs, "A", "Some CPU", {"one": 100})
        lines = text.splitlines()
        self.assertEqual(lines[:4], ["goos: linux", "goarch: amd64", "pkg: blockreplay", "cpu: Some CPU"])
        self.assertEqual(len(lines), 6)
        fields = lines[4].split()
        self.assertEqual(fields[:2], ["BenchmarkReplay/one", "100"])
        values = dict(zip(fields[3::2], fields[2::2]))
        self.assertEqual(float(values["process-cpu-ns/op"]), 5e7)  # 5 s over 100 blocks
        self.assertEqual(float(values["rss-bytes"]), 4e8)


class Order(unittest.TestCase):
    def test_abba(self) -> None:
        self.assertEqual("".join(order_of(5)), "ABBAABBAAB")


class Reports(unittest.TestCase):
    def report(self, **changes) -> reports.RunReport:
        data = {"recording": {"digest": "d", "first": 1, "last": 9}, "outcome": "verified", "blocks_verified": 9,
                "app_hash": "a", "app_hash_chain": "c", "digests": {"gas": "g", "codes": None, "events": None}}
        data.update(changes)
        return reports.RunReport(Path("report.json"), data)

    def test_what_cannot_be_compared_is_refused(self) -> None:
        for changes, text in (({"recording": {"digest": "e", "first": 1, "last": 9}}, "different recordings"),
                              ({"recording": {"digest": "d", "first": 2, "last": 9}}, "different ranges"),
                              ({"outcome": "interrupted"}, "not verified"), ({"blocks_verified": 0}, "not verified"),
                              ({"blocks_verified": 8}, "same state")):
            with self.assertRaisesRegex(PerfError, text):
                reports.compare_identity(self.report(), self.report(**changes))
        reports.compare_identity(self.report(), self.report())

    def test_only_what_both_computed_can_be_equal(self) -> None:
        checks = {c.name: c for c in reports.compare_results(
            self.report(), self.report(digests={"gas": "h", "codes": "x", "events": None}))}
        self.assertEqual(checks["gas digest"].result, "differs")
        self.assertEqual((checks["codes digest"].result, checks["codes digest"].detail),
                         ("not computed", "by the base"))
        self.assertEqual(checks["events digest"].detail, "by either side")
        self.assertEqual(checks["final app hash"].result, "equal")

    def test_p99_of_few_blocks_is_no_metric(self) -> None:
        few = self.report(blocks_measured=50, block_ms={"p50": 1, "p99": 2})
        self.assertEqual(metrics.values_of(few), {"block_p50": 1})
        many = self.report(blocks_measured=500, block_ms={"p50": 1, "p99": 2}, instructions=None)
        self.assertEqual(metrics.values_of(many), {"block_p50": 1, "block_p99": 2})


class Machine(unittest.TestCase):
    def proc(self, stat: str, load: str, cpu: str) -> machine.Reading:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "stat").write_text(stat, encoding="ascii")
            (path / "loadavg").write_text(load, encoding="ascii")
            (path / "pressure").mkdir()
            (path / "pressure/cpu").write_text(cpu, encoding="ascii")
            return machine.read_machine(path)

    def test_readings(self) -> None:
        before = self.proc("cpu  100 0 50 800 10 0 0 5 0 0\ncpu0 1\ncpu1 1\n", "0.50 1 1 1/2 3\n",
                           "some avg10=1.00 avg60=0 avg300=0 total=1000000\nfull avg10=0 total=7\n")
        after = self.proc("cpu  300 0 150 900 10 0 0 25 0 0\ncpu0 1\ncpu1 1\n", "1.50 1 1 1/2 3\n",
                          "some avg10=1.00 avg60=0 avg300=0 total=1500000\n")
        tick = machine.os.sysconf("SC_CLK_TCK")
        self.assertEqual(before.cpus, 2)
        self.assertAlmostEqual(after.busy_s - before.busy_s, 300 / tick)
        activity = machine.activity_between(
            machine.Reading(10, 2, before.busy_s, before.steal_s, before.loadavg, before.stalled_s),
            machine.Reading(12, 2, after.busy_s, after.steal_s, after.loadavg, after.stalled_s), own_cpu_s=1.0)
        # 3 s of CPU at 100 Hz, one of them ours, of 2 CPUs for 2 s.
        self.assertAlmostEqual(activity.foreign_cpu, 100 * (300 / tick - 1) / 4)
        self.assertAlmostEqual(activity.steal, 100 * (20 / tick) / 4)
        self.assertAlmostEqual(activity.psi["cpu"], 25)
        self.assertIsNone(activity.psi["io"])
        self.assertEqual((activity.loadavg_start, activity.loadavg_end), (0.5, 1.5))

    def test_no_more_than_all_cpus(self) -> None:
        # Two milliseconds in which the counters of two CPUs went on by a tick of 10 ms each.
        activity = machine.activity_between(machine.Reading(10, 2, 5.0, 1.0, 0, {}),
                                            machine.Reading(10.002, 2, 5.02, 1.02, 0, {}))
        self.assertEqual((activity.foreign_cpu, activity.steal), (100, 100))

    def test_limits(self) -> None:
        busy = machine.Activity(1, 3.0, 3.0, foreign_cpu=20, steal=3, psi={"cpu": 50.0, "io": None})
        self.assertEqual(len(machine.Limits().exceeded(busy, before_run=True)), 3)
        self.assertEqual(len(machine.Limits().exceeded(busy, before_run=False)), 2)
        self.assertEqual(len(machine.Limits(loadavg=2.0).exceeded(busy, before_run=False)), 3)
        self.assertEqual(machine.Limits().exceeded(QUIET, before_run=True), [])

    def test_a_machine_that_stays_busy_is_an_error(self) -> None:
        gate = machine.StartGate(machine.Limits(foreign_cpu=-1.0), timeout_s=0)
        with self.assertRaisesRegex(PerfError, "did not become quiet"):
            gate.wait()


class Stub(runner.Benchmark):
    """Takes no time and gives what it is told."""

    name = "stub"

    def __init__(self) -> None:
        self.started: list[str] = []

    def run(self, side_name, folder):
        self.started.append(side_name)
        return {"process_cpu": 1.0 + len(self.started)}, 0.0, None


class Gate(machine.StartGate):
    def __init__(self, flagged: list[bool]) -> None:
        super().__init__(self, 0, enabled=False)
        self.flagged = flagged

    def exceeded(self, activity, before_run):
        return ["a neighbour was busy"] if not before_run and self.flagged.pop(0) else []


class Measuring(unittest.TestCase):
    def measure(self, flagged: list[bool]) -> tuple[Pass, Stub, Path]:
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        stub = Stub()
        measurer = runner.Measurer(runner.RunFolder(folder / "runs"), Gate(flagged), max_repeats=2, tell=lambda _: None)
        return measurer.run_pass([stub], 2, "first"), stub, folder / "runs"

    def test_order_and_rehearsal(self) -> None:
        result, stub, _ = self.measure([False] * 4)
        self.assertEqual("".join(stub.started), "AB" + "ABBA")
        self.assertEqual((len(result.flagged), result.noisy), (0, 0))

    def test_a_flagged_run_is_repeated_in_place_and_kept_for_the_record(self) -> None:
        result, stub, folder = self.measure([False, True, False, False, False])
        self.assertEqual("".join(stub.started), "AB" + "ABBBA")
        self.assertEqual([run.flags for run in result.flagged], [["a neighbour was busy"]])
        self.assertEqual(result.runs["stub"]["B"][0].repeats, 1)
        self.assertEqual(result.noisy, 0)
        # Nothing raw is dropped: the rehearsal's two and five runs.
        self.assertEqual(len(list(folder.iterdir())), 7)
        self.assertEqual(len(list(folder.glob("*/machine.json"))), 5)

    def test_a_run_that_stays_over_the_limits_counts_and_is_told(self) -> None:
        result, _, _ = self.measure([True, True, True, False, False, False])
        self.assertEqual((len(result.flagged), result.noisy), (2, 1))
        self.assertEqual(result.runs["stub"]["A"][0].flags, ["a neighbour was busy"])
        outcome = conclude(analyse(result, Bar(), "process_cpu"), None, False)
        self.assertIs(outcome.verdict, Verdict.INCONCLUSIVE)


class Sides(unittest.TestCase):
    def test_options_that_spoil_a_measurement(self) -> None:
        for option in ("--cpu-profile=x", "--heap-profile", "--profile-dir", "--pprof-listen"):
            with self.assertRaisesRegex(PerfError, "never timed"):
                sides.check_run_options((option,))
        for option in ("--db", "--from=3", "--passes", "--report"):
            with self.assertRaises(PerfError):
                sides.check_run_options((option,))
        sides.check_run_options(("--threads", "1"))

    def test_kinds(self) -> None:
        shell = Path("/bin/sh").resolve()
        self.assertEqual(sides.parse_side("/bin/sh", shell).binary, Path("/bin/sh"))
        self.assertEqual(sides.parse_side("bin:/bin/sh", shell).options, ())
        self.assertEqual(sides.parse_side("opt:--threads 1", shell).options, ("--threads", "1"))
        for wrong in ("/nothing/there", "bin:/etc/passwd", "rev:no-such-revision", "main"):
            with self.assertRaises(PerfError):
                sides.parse_side(wrong, shell)

    def test_revisions_are_built_side_by_side(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        repository = folder / "repository"
        repository.mkdir()

        def git(*arguments: str) -> None:
            subprocess.run(["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments],
                           check=True, capture_output=True)

        git("init", "-q")
        # Stands for cmake: the "program" prints what the revision's source says.
        (folder / "bin").mkdir()
        stub = folder / "bin/cmake"
        stub.write_text("#!/bin/sh\n[ \"$1\" = --build ] || exit 0\n[ -e fail ] && exit 1\nmkdir -p build/$3/bin\n"
                        "cp source build/$3/bin/blockreplay; chmod +x build/$3/bin/blockreplay\n", encoding="utf-8")
        stub.chmod(0o755)
        programs = []
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}/bin:{os.environ['PATH']}"}):
            for text in ("one", "two"):
                (repository / "source").write_text(f"#!/bin/sh\necho {text}\n", encoding="utf-8")
                git("add", ".")
                git("commit", "-qm", text)
            for revision in ("HEAD~1", "HEAD", "HEAD~1"):
                programs.append(sides.build_revision(revision, ["blockreplay"], repository) / "blockreplay")
            self.assertEqual([subprocess.run([p], capture_output=True, text=True, check=True).stdout for p in programs],
                             ["one\n", "two\n", "one\n"])
            self.assertEqual(programs[0], programs[2])
            (repository / "fail").write_text("", encoding="utf-8")
            git("add", ".")
            git("commit", "-qm", "does not build")
            with self.assertRaisesRegex(PerfError, "building HEAD failed .*build.log"):
                sides.build_revision("HEAD", ["blockreplay"], repository)

    def test_persistence_decides_which_database(self) -> None:
        side = sides.Side("x", Path("x"), ("--persist", "every"))
        self.assertEqual(side.persistence(()), "every")
        self.assertEqual(sides.Side("x", Path("x")).persistence(("--persist=every",)), "every")
        self.assertEqual(sides.Side("x", Path("x")).persistence(()), "deferred")

    def test_databases_are_made_without_executing_or_pacing(self) -> None:
        options = ("--exec", "verify", "--persist", "every", "--pace=1", "--cache-mb=64", "--threads", "2")
        self.assertEqual(sides.database_options(options), ["--persist", "every", "--cache-mb=64", "--threads", "2"])


class GoogleBenchmark(unittest.TestCase):
    def test_values(self) -> None:
        text = json.dumps({"benchmarks": [
            {"name": "BM_x/8", "run_type": "iteration", "iterations": 3, "real_time": 2.0, "cpu_time": 1.5,
             "time_unit": "us", "allocs": 7.0, "items_per_second": 5.0, "threads": 1}]})
        self.assertEqual(benches.parse_results(text, "BM_x/8"), {"real_time": 2000.0, "cpu_time": 1500.0, "allocs": 7.0})
        for broken in ("{}", "x", json.dumps({"benchmarks": []})):
            with self.assertRaises(PerfError):
                benches.parse_results(broken, "BM_x/8")


if __name__ == "__main__":
    unittest.main(verbosity=2)
