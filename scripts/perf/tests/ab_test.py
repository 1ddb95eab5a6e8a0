#!/usr/bin/env python3
"""Tests ab.sh as its users meet it: on real short runs, and on runs whose timings the test chose."""

import json
import os
import shutil
import signal
import subprocess
import time

from perf_testing import BLOCKREPLAY, FAKE, FIXTURES, SCRIPTS, SENDS, SEND_HEIGHT, PerfTest, main

# A test machine is never quiet; what the limits do is tested with given readings.
ANY_MACHINE = ("--gate", "off", "--max-foreign-cpu", "100", "--max-steal", "100", "--cpus", "none")
# Whatever a run takes, it is within this.
ANY_TIME = ("--min-effect", "1e9")


class AbTest(PerfTest):
    def ab(self, *arguments: object, expect: int):
        return self.script("ab.sh", *ANY_MACHINE, "--lock", self.dir / "lock", "--out", self.dir / "out", *arguments,
                           expect=expect)

    def result(self) -> dict:
        return self.load(self.dir / "out/result.json")


class RealRuns(AbTest):
    def test_a_against_a_keeps_everything_raw(self):
        done = self.ab("--aa", f"bin:{BLOCKREPLAY}", "--recording", SENDS, "--pairs", "2", "--warmup", "2", expect=0)
        self.assertIn("A against A: nothing found", done.stdout)
        self.assertIn("detectable", done.stdout)
        self.assertIn("order ABBA", done.stdout)
        folders = sorted((self.dir / "out").glob("[0-9]*"))
        self.assertEqual(len(folders), 2 + 4)  # a rehearsal of each side, and the pairs
        for folder in folders:
            report = self.load(folder / "report.json")
            # The warm-up is replayed and verified, and left out of what is measured.
            self.assertEqual((report["base"]["height"], report["recording"]["first"]), (1, 4))
            self.assertEqual(len((folder / "blocks.csv").read_text().splitlines()), 1 + report["blocks_measured"])
        for folder in folders[2:]:
            machine = self.load(folder / "machine.json")
            self.assertIn("psi", machine["machine"])
            self.assertIn("start_gate", machine)
        data = self.result()
        self.assertEqual({c["name"]: c["result"] for c in data["checks"]["send-send"]},
                         {"final app hash": "equal", "app hash chain": "equal", "gas digest": "not computed",
                          "codes digest": "not computed", "events digest": "not computed"})
        text = (self.dir / "out/ab-base.txt").read_text()
        self.assertEqual(text.count("BenchmarkReplay/send-send "), 2)
        self.assert_nothing_left()

    def test_what_native_code_computed_is_compared(self):
        self.ab(BLOCKREPLAY, BLOCKREPLAY, "--recording", SENDS, "--pairs", "2", *ANY_TIME, "--", "--exec", "verify",
                expect=3)
        checks = {c["name"]: c["result"] for c in self.result()["checks"]["send-send"]}
        self.assertEqual((checks["gas digest"], checks["codes digest"]), ("equal", "equal"))

    def test_the_mempool_with_and_without_its_memo(self):
        self.ab("opt:--no-memo", "opt:", "--binary", BLOCKREPLAY, "--mempool", "--recording", FIXTURES / "gno-sends-300",
                "--pairs", "2", *ANY_TIME, "--", "--depth", "200", "--block-txs", "20", "--blocks", "3", expect=3)
        checks = {c["name"]: c["result"] for c in self.result()["checks"]["mempool-gno-sends-300"]}
        for name in ("app hash chain", "delivertx_gas_used", "checktx_gas_used", "checktx_failures"):
            self.assertEqual(checks[name], "equal")
        self.assertIn("p50-ns", (self.dir / "out/ab-base.txt").read_text())

    def test_another_kind_of_database_is_made_for_each_side(self):
        self.ab("opt:--persist=deferred", "opt:--persist every", "--binary", BLOCKREPLAY, "--recording", SENDS,
                "--pairs", "2", *ANY_TIME, expect=3)
        self.assertEqual(self.result()["sides"]["B"]["options"], ["--persist", "every"])

    def test_a_candidate_on_other_blocks_is_refused(self):
        other = self.falsify(SENDS, "none", 1)
        # Rewritten, so its files and its digest are others.
        done = self.ab(BLOCKREPLAY, self.on_other_recording("candidate", SENDS, other), "--recording", SENDS,
                       "--pairs", "2", expect=1)
        self.assertIn("another recording", done.stderr)

    def test_a_candidate_whose_hash_differs_is_2(self):
        falsified = self.falsify(SENDS, "value", SEND_HEIGHT, "bank")
        # Its database belongs to its own recording, so it gets one of its own.
        candidate = self.wrapper("candidate", before=(
            f"arguments = [{str(falsified)!r} if a == {str(SENDS)!r} else a for a in arguments if a != '--resume']\n"
            "if '--db' in arguments:\n    i = arguments.index('--db'); del arguments[i:i + 2]"))
        done = self.ab(BLOCKREPLAY, candidate, "--recording", SENDS, "--pairs", "2", expect=2)
        self.assertIn(f"block {SEND_HEIGHT}: the app hash differs", done.stderr)

    def test_a_digest_that_differs_is_2(self):
        candidate = self.wrapper("candidate", after=(
            "import json\n"
            "if '--report' in arguments:\n"
            "    path = arguments[arguments.index('--report') + 1]\n"
            "    report = json.load(open(path)); report['digests']['gas'] = '00' * 32; json.dump(report, open(path, 'w'))"))
        done = self.ab(BLOCKREPLAY, candidate, "--recording", SENDS, "--pairs", "2", "--", "--exec", "verify", expect=2)
        self.assertIn("the gas digest differs", done.stderr)

    def test_profiled_runs_are_never_timed(self):
        done = self.ab(BLOCKREPLAY, BLOCKREPLAY, "--recording", SENDS, "--", "--cpu-profile", "x.pb.gz", expect=1)
        self.assertIn("never timed", done.stderr)

    def test_interrupted_runs_leave_nothing(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number=number):
                pid_file = self.dir / f"pid-{number}"
                slow = self.wrapper("slow", before=f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
                                                   "time.sleep(600)")
                process = subprocess.Popen(
                    [str(SCRIPTS / "ab.sh"), *ANY_MACHINE, "--lock", str(self.dir / "lock"), "--aa", str(slow),
                     "--recording", str(SENDS)], env=self.env, cwd=self.dir, stderr=subprocess.PIPE, text=True)
                while not pid_file.exists() or not pid_file.read_text():
                    self.assertIsNone(process.poll())
                    time.sleep(0.05)
                process.send_signal(number)
                self.assertIn("ab.sh: interrupted", process.communicate(timeout=60)[1])
                self.assertEqual(process.returncode, status)
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(pid_file.read_text()), 0)
                self.assert_nothing_left()
                self.assertEqual(os.listdir(self.dir / "runs/ab"), [])  # nothing was measured

    def test_usage(self):
        self.assertIn("exit status", self.script("ab.sh", "--help").stdout)
        for arguments in ((), (BLOCKREPLAY,), ("--aa", BLOCKREPLAY, BLOCKREPLAY),
                          ("--mempool", "--bench", "x", BLOCKREPLAY, BLOCKREPLAY)):
            self.script("ab.sh", *arguments, expect=1)
        for arguments in ((BLOCKREPLAY, "/nothing"), (BLOCKREPLAY, BLOCKREPLAY, "--recording", "/nothing"),
                          (BLOCKREPLAY, BLOCKREPLAY, "--recording", SENDS, "--to", "1000"),
                          (BLOCKREPLAY, BLOCKREPLAY, "--recording", SENDS, "--min-effect", "speed=1"),
                          (BLOCKREPLAY, BLOCKREPLAY, "--recording", SENDS, "--primary", "speed")):
            done = self.script("ab.sh", *arguments, expect=1)
            self.assertEqual(len([line for line in done.stderr.splitlines() if "error" in line]), 1, done.stderr)

    def test_programs_that_are_not_installed_are_one_line(self):
        (self.dir / "bin").mkdir()
        for program in ("bash", "dirname"):
            (self.dir / "bin" / program).symlink_to(shutil.which(program))
        self.env["PATH"] = str(self.dir / "bin")
        self.env["BLOCKREPLAY_PYTHON"] = "/usr/bin/python3"
        done = self.script("ab.sh", "rev:HEAD", BLOCKREPLAY, expect=1)
        self.assertEqual(done.stderr, "ab.sh: error: git: No such file or directory\n")


class ChosenTimings(AbTest):
    """The whole way from runs to verdict, with known answers."""

    def ab_with(self, plan: dict, *arguments: object, expect: int, candidate: str = "opt:--candidate"):
        path = self.dir / "timings.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        self.env["FAKE_TIMINGS"] = str(path)
        # The fake takes options that the real program does not have.
        return self.ab("--binary", FAKE, "opt:", candidate, "--recording", FIXTURES / "gno-sends-300", *arguments,
                       expect=expect)

    def test_kept_after_confirmation(self):
        plan = {"effects": {"--candidate": {"hash": 0.9}}}
        done = self.ab_with(plan, "--confirm", expect=0)
        self.assertIn("verdict: kept (exit status 0): process CPU −", done.stdout)
        self.assertIn("### confirmation: 8 pairs, order ABBAABBAABBAABBA", done.stdout)
        self.assertTrue((self.dir / "out/ab-confirm-candidate.txt").exists())

    def test_nothing_is_kept_without_confirmation(self):
        done = self.ab_with({"effects": {"--candidate": {"hash": 0.9}}}, expect=5)
        self.assertIn("add --confirm", done.stdout)

    def test_a_slow_phase_is_found_and_named(self):
        # Seven percent of hashing are three of the run.
        done = self.ab_with({"effects": {"--candidate": {"hash": 1.07}}}, expect=4)
        self.assertIn("verdict: regression (exit status 4)", done.stdout)
        changes = done.stdout.split("Changed beyond the minimum effect")[1].split("Machine")[0]
        self.assertIn("phase hash", changes)
        for other in ("apply", "commit", "decode"):
            self.assertNotIn(f"phase {other}", changes)

    def test_half_a_percent_cannot_be_told(self):
        done = self.ab_with({"noise": 0.01, "effects": {"--candidate": {"hash": 1.012}}}, expect=5)
        self.assertIn("verdict: inconclusive", done.stdout)
        self.assertIn("cannot tell", done.stdout)

    def test_a_change_within_the_minimum_effect_is_not_kept(self):
        self.ab_with({"effects": {"--candidate": {"hash": 0.99}}}, "--min-effect", "3", expect=3)
        self.assertEqual(self.result()["verdict"], "not kept")

    def test_a_metric_of_one_s_own_decides(self):
        plan = {"effects": {"--candidate": {"allocations": 0.8}}}
        self.ab_with(plan, "--primary", "allocations", "--confirm", expect=0)

    def test_a_digest_that_differs_is_2(self):
        done = self.ab_with({"gas": {"--candidate": "44"}}, expect=2)
        self.assertIn("the gas digest differs: 33 against 44", done.stderr)

    def test_different_recordings_and_unverified_runs_are_refused(self):
        self.assertIn("different recordings", self.ab_with({"digest": {"1": "other"}}, expect=1).stderr)
        self.script("ab.sh", "--help")

    def test_unverified_runs_are_refused(self):
        self.assertIn("not verified", self.ab_with({"outcome": "interrupted"}, expect=1).stderr)

    def test_matrix(self):
        path = self.dir / "timings.json"
        path.write_text(json.dumps({"effects": {"--fast": {"hash": 0.9}, "--slow": {"hash": 1.1}},
                                    "gas": {"--wrong": "44"}}), encoding="utf-8")
        self.env["FAKE_TIMINGS"] = str(path)
        done = self.ab("--binary", FAKE, "--matrix", "--fast; --slow; --wrong", "opt:", "--confirm", "--recording",
                       FIXTURES / "gno-sends-300", expect=2)
        kept, dropped = done.stdout.split("### Considered and dropped")
        self.assertIn("`--fast`", kept)
        self.assertRegex(dropped, r"`--slow` .* regression ")
        self.assertRegex(dropped, r"`--wrong` .* hashes differ ")

    def test_several_recordings_have_a_geometric_mean(self):
        plan = {"effects": {"--candidate": {"hash": 0.9}}}
        done = self.ab_with(plan, "--recording", FIXTURES / "thor-churn", "--confirm", expect=0)
        self.assertIn("#### geometric mean", done.stdout)
        self.assertIn("#### thor-churn", done.stdout)


class Benches(AbTest):
    def test_google_benchmarks(self):
        folder = self.dir / "programs"
        folder.mkdir()
        (folder / "blockreplay").symlink_to(BLOCKREPLAY)
        program = folder / "some_bench"
        program.write_text(
            "#!/bin/sh\n"
            "case \"$*\" in *list_tests*) echo BM_a/1; echo BM_b; exit;; esac\n"
            "case \"$*\" in *BM_b*) n=BM_b;; *) n=BM_a/1;; esac\n"
            "echo '{\"benchmarks\": [{\"name\": \"'$n'\", \"real_time\": 2.5, \"cpu_time\": 2, \"time_unit\": \"ns\","
            " \"allocs\": 3}]}'\n", encoding="utf-8")
        program.chmod(0o755)
        done = self.ab("--bench", "BM_", folder / "blockreplay", folder / "blockreplay", "--pairs", "2", expect=3)
        self.assertIn("some_bench: BM_a/1", done.stdout)
        self.assertIn("#### geometric mean", done.stdout)
        self.assertIn("benchmarks verify nothing", done.stdout)


if __name__ == "__main__":
    main()
