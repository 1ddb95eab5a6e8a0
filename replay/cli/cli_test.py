#!/usr/bin/env python3
"""Tests the program as its users meet it: command lines, exit statuses, files, signals.

usage: cli_test.py BLOCKREPLAY FALSIFY_RECORDING FIXTURES [unittest arguments]
"""

import csv
import fcntl
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BLOCKREPLAY, FALSIFY, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:4])
SMALL = os.path.join(FIXTURES, "regression/swaps-streaming-swaps")
TAIL = os.path.join(FIXTURES, "regression-tail/swaps-streaming-swaps-from-41")
CHURN = os.path.join(FIXTURES, "thor-churn")


def manifest_of(recording):
    with open(os.path.join(recording, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def tree_of(path):
    """Every file below a folder with its size and contents' hash."""
    files = {}
    for folder, _, names in os.walk(path):
        for name in names:
            full = os.path.join(folder, name)
            with open(full, "rb") as file:
                files[os.path.relpath(full, path)] = hashlib.sha256(file.read()).hexdigest()
    return files


def has_base(info_path):
    """Whether blockreplay.json says that the state before the first block is complete."""
    try:
        with open(info_path, encoding="utf-8") as file:
            return json.load(file)["base_complete"]
    except FileNotFoundError:
        return False


class CliTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="blockreplay-cli-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.mkdir(self.path("tmp"))
        self.env = dict(os.environ, TMPDIR=self.path("tmp"))

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_tool(self, *args, expect=0, **kwargs):
        done = subprocess.run([BLOCKREPLAY, *args], capture_output=True, text=True, env=self.env,
                              timeout=600, check=False, **kwargs)
        self.assertEqual(done.returncode, expect, f"{args}\n{done.stdout}\n{done.stderr}")
        return done

    def error_of(self, *args, **kwargs):
        """The one line on stderr of a command that must end in 1."""
        done = self.run_tool(*args, expect=1, **kwargs)
        lines = [line for line in done.stderr.splitlines() if "blocks/s" not in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("blockreplay: error: "), lines[0])
        return lines[0]

    def falsify(self, source, edit, height, store=""):
        target = self.path(f"falsified-{edit}-{height}-{store}")
        subprocess.run([FALSIFY, source, target, edit, str(height), store], check=True)
        return target

    def report(self, *args, expect=0, **kwargs):
        path = self.path("report.json")
        self.run_tool("run", *args, "--report", path, expect=expect, **kwargs)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def assert_nothing_left(self):
        """Temporary databases are gone."""
        self.assertEqual(os.listdir(self.path("tmp")), [])


class Usage(CliTest):
    def test_help_and_version(self):
        self.assertIn("run", self.run_tool("--help").stdout)
        self.assertRegex(self.run_tool("--version").stdout, r"^blockreplay \d+\.\d+\.\d+ \(\S+\)\n$")
        for command in ("run", "info", "check", "diff", "export", "profile", "report"):
            self.assertIn("--help", self.run_tool(command, "--help").stdout)

    def test_wrong_usage_is_one_line_and_1(self):
        for args in ((), ("nonsense",), ("run",), ("run", SMALL, "--frobnicate"),
                     ("run", SMALL, "--threads", "0"), ("run", SMALL, "--persist", "sometimes"),
                     ("run", SMALL, "--passes", "-1"), ("run", SMALL, "--pace", "fast"),
                     ("run", SMALL, "--from", "0"), ("run", SMALL, "--to", "100000"),
                     ("run", SMALL, "--from", "5", "--to", "4"), ("run", SMALL, "--resume"),
                     ("run", SMALL, "--db", "x", "--resume", "--passes", "2"),
                     ("run", SMALL, "--keep-recent", "0"),
                     ("run", SMALL, "--profile-every", "3"), ("run", SMALL, "--profile-dir", "p"),
                     ("info", self.path("nothing")), ("check", self.path("nothing")),
                     ("run", self.path("nothing")), ("diff", "a"), ("export", "a")):
            with self.subTest(args=args):
                self.assertLess(len(self.error_of(*args, cwd=self.dir)), 400)
        self.assertEqual(os.listdir(self.dir), ["tmp"])


class InfoAndCheck(CliTest):
    def test_info(self):
        text = self.run_tool("info", CHURN).stdout
        for part in ("thorchain-1", "thornode 3.17.0", "51 to 610 (560 blocks)", "height 50",
                     manifest_of(CHURN)["final_app_hash"]):
            self.assertIn(part, text)

    def test_digest_is_of_the_sorted_lines(self):
        files = sorted(manifest_of(CHURN)["files"], key=lambda file: file["name"])
        lines = "".join(f"{file['name']} {file['sha256']}\n" for file in files)
        digest = hashlib.sha256(lines.encode()).hexdigest()
        self.assertIn(digest, self.run_tool("info", CHURN).stdout)
        self.assertIn(digest, self.run_tool("check", CHURN).stdout)

    def test_check_finds_damage(self):
        copy = self.path("copy")
        shutil.copytree(SMALL, copy)
        os.chmod(copy, 0o755)
        self.run_tool("check", copy)
        blocks = os.path.join(copy, "blocks.zst")
        os.chmod(blocks, 0o644)
        with open(blocks, "r+b") as file:
            file.seek(1000)
            byte = file.read(1)
            file.seek(1000)
            file.write(bytes([byte[0] ^ 1]))
        self.assertIn("blocks.zst has SHA-256", self.error_of("check", copy))
        self.assertIn("blocks.zst has SHA-256", self.error_of("run", copy))
        with open(blocks, "r+b") as file:
            file.truncate(5000)
        self.assertIn("blocks.zst has 5000 bytes", self.error_of("run", copy))
        os.remove(blocks)
        self.assertIn("blocks.zst", self.error_of("run", copy))
        self.assert_nothing_left()


class Replay(CliTest):
    def verify(self, recording, *args):
        manifest = manifest_of(recording)
        report = self.report(recording, "--quiet", *args)
        self.assertEqual(report["outcome"], "verified")
        self.assertEqual(report["blocks_verified"], manifest["blocks"])
        self.assertEqual(report["app_hash"], manifest["final_app_hash"])
        self.assert_nothing_left()
        return report

    def test_every_regression_recording(self):
        base = os.path.join(FIXTURES, "regression")
        names = [name for name in sorted(os.listdir(base)) if os.path.isdir(os.path.join(base, name))]
        self.assertEqual(len(names), 100)
        for i, name in enumerate(names):
            with self.subTest(recording=name):
                self.verify(os.path.join(base, name), "--persist", ("deferred", "every")[i % 2])

    def test_snapshot_of_a_regression_run(self):
        for persist in ("deferred", "every"):
            self.verify(TAIL, "--persist", persist)

    def test_node_recordings(self):
        for name in ("send-send", "send-send-killed"):
            self.verify(os.path.join(FIXTURES, "node-db", name, "recording"))

    def test_thor_churn(self):
        self.verify(CHURN)

    def test_thor_churn_every_version(self):
        self.verify(CHURN, "--persist", "every", "--keep-recent", "20")

    def test_thor_2000(self):
        self.verify(os.path.join(FIXTURES, "thor-2000"))

    def test_results_do_not_depend_on_threads_or_persistence(self):
        chains = set()
        for args in (("--threads", "1"), ("--threads", "2"), ("--threads", "7"),
                     ("--persist", "every"), ("--cache-mb", "8"), ("--repeat-block", "3"),
                     ("--keep-recent", "5"), ("--seek-compaction", "on", "--persist", "every")):
            report = self.report(TAIL, "--quiet", *args)
            self.assertEqual(report["exit_status"], 0)
            chains.add(report["app_hash_chain"])
        self.assertEqual(len(chains), 1)

    def test_app_hash_chain_is_of_the_hashes_in_the_csv(self):
        rows_path = self.path("rows.csv")
        report = self.report(TAIL, "--csv", rows_path)
        with open(rows_path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), manifest_of(TAIL)["blocks"])
        chain = hashlib.sha256(b"".join(bytes.fromhex(row["app_hash"]) for row in rows))
        self.assertEqual(report["app_hash_chain"], chain.hexdigest())

    def test_phases_add_up(self):
        rows_path = self.path("rows.csv")
        report = self.report(TAIL, "--csv", rows_path)
        phases = report["phase_ms"]
        self.assertEqual(list(sorted(phases)), sorted(
            ["decode", "apply", "begin_block", "deliver_tx", "end_block", "hash", "commit", "other"]))
        self.assertAlmostEqual(sum(phases.values()), report["wall_s"] * 1000, places=3)
        cpu = report["cpu_s"]
        parts = ("block_execution", "commit", "compaction", "flush", "other")
        self.assertAlmostEqual(sum(cpu[part] for part in parts), cpu["process"], places=6)
        with open(rows_path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                total = sum(float(row[f"{name}_ms"]) for name in phases)
                self.assertAlmostEqual(total, float(row["block_ms"]), places=4)

    def test_report_has_every_field(self):
        report = self.report(TAIL)
        for name in ("tool", "recording", "host", "options", "blocks_verified", "app_hash",
                     "app_hash_chain", "digests", "wall_s", "block_ms", "phase_ms", "cpu_s",
                     "instructions", "peak_rss_bytes", "db_bytes", "bytes_written",
                     "allocations_per_block", "allocated_bytes_per_block", "stalls", "execution"):
            self.assertIn(name, report)
        self.assertEqual(report["digests"], {"events": None, "gas": None, "codes": None})
        self.assertEqual(sorted(report["block_ms"]),
                         sorted(["p50", "p90", "p99", "mean", "stddev", "max"]))
        for name in ("cpu", "cores", "kernel", "rocksdb", "allocator", "loadavg_start",
                     "loadavg_end", "psi", "steal"):
            self.assertIn(name, report["host"])
        self.assertEqual(report["recording"]["chain_id"], "thorchain")

    def test_from_and_to(self):
        manifest = manifest_of(TAIL)
        first = manifest["first_height"]
        rows_path = self.path("rows.csv")
        report = self.report(TAIL, "--from", str(first + 3), "--to", str(first + 5), "--csv", rows_path)
        self.assertEqual(report["blocks_verified"], 6)
        self.assertEqual(report["blocks_measured"], 3)
        self.assertEqual((report["recording"]["first"], report["recording"]["last"]),
                         (first + 3, first + 5))
        with open(rows_path, encoding="utf-8") as file:
            self.assertEqual([int(row["height"]) for row in csv.DictReader(file)],
                             [first + 3, first + 4, first + 5])

    def test_passes(self):
        manifest = manifest_of(TAIL)
        once = self.report(TAIL)
        report = self.report(TAIL, "--passes", "3")
        self.assertEqual(report["blocks_verified"], 3 * manifest["blocks"])
        self.assertEqual(report["app_hash_chain"], once["app_hash_chain"])
        self.run_tool("run", TAIL, "--passes", "2", "--db", self.path("db"))
        self.run_tool("run", TAIL, "--resume", "--db", self.path("db"))

    def test_pace_waits(self):
        first = manifest_of(CHURN)["first_height"]
        report = self.report(CHURN, "--to", str(first + 3), "--pace", "100")
        self.assertEqual(report["blocks_verified"], 4)
        self.assertGreater(report["paced_wait_s"], 0)

    def test_header_says_what_is_proven(self):
        text = self.run_tool("run", TAIL).stdout
        for part in ("proving", "not proven", "--persist deferred", "seek", "digest", "host"):
            self.assertIn(part, text)
        quiet = self.run_tool("run", TAIL, "--quiet")
        self.assertEqual((quiet.stdout, quiet.stderr), ("", ""))


class Falsified(CliTest):
    """One falsified thing at a time must end in 2 and be named."""

    def mismatch(self, edit, height, store="", *args):
        recording = self.falsify(TAIL, edit, height, store)
        self.run_tool("check", TAIL)
        done = self.run_tool("run", recording, "--db", self.path("db-" + edit), *args, expect=2)
        return done.stderr

    def test_writes(self):
        for edit in ("value", "key", "set-to-delete", "drop-write"):
            for store in ("bank", "thorchain"):
                with self.subTest(edit=edit, store=store):
                    text = self.mismatch(edit, 45, store)
                    self.assertIn("block 45: the app hash differs", text)
                    self.assertIn(f"    {store}: expected ", text)
                    self.assertIn(f"    {store} set ", text)
                    self.assertIn("stays at height 44", text)
                    shutil.rmtree(self.path("db-" + edit))
                    shutil.rmtree(self.path(f"falsified-{edit}-45-{store}"))

    def test_app_hash(self):
        text = self.mismatch("app-hash", 45)
        self.assertIn("block 45: the app hash differs", text)
        self.assertIn("it is the recorded app hash that does not fit", text)

    def test_response_app_hash(self):
        self.assertIn("block 45: the app hash in the recorded response differs",
                      self.mismatch("response-app-hash", 45))

    def test_store_root(self):
        text = self.mismatch("store-root", 45, "mint")
        self.assertIn("block 45: a recorded store root differs", text)
        self.assertIn("    mint: expected ", text)

    def test_without_recorded_roots(self):
        text = self.mismatch("value-without-roots", 45, "bank")
        self.assertIn("has no store roots", text)

    def test_final_app_hash(self):
        copy = self.falsify(TAIL, "none", 0)
        path = os.path.join(copy, "manifest.json")
        manifest = manifest_of(copy)
        manifest["final_app_hash"] = "00" * 32
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        self.assertIn("final_app_hash in manifest.json",
                      self.run_tool("run", copy, expect=2).stderr)

    def test_the_last_block(self):
        last = manifest_of(TAIL)["last_height"]
        self.assertIn(f"block {last}: the app hash differs", self.mismatch("app-hash", last))

    def test_headers(self):
        recording = self.falsify(TAIL, "headers-none", 0)
        self.run_tool("run", recording)
        recording = self.falsify(TAIL, "headers-header-app-hash", 46)
        text = self.run_tool("run", recording, expect=2).stderr
        self.assertIn("block 45: the app hash in the next block's header differs", text)

    def test_results_hash_is_another_one(self):
        self.run_tool("run", TAIL, "--csv", self.path("rows.csv"))
        with open(self.path("rows.csv"), encoding="utf-8") as file:
            with_txs = next(int(row["height"]) for row in csv.DictReader(file) if int(row["txs"]) > 0)
        for edit, height, block in (("headers-header-results-hash", 47, 46),
                                    ("headers-result-gas", with_txs, with_txs)):
            recording = self.falsify(TAIL, edit, height)
            report_path = self.path("report.json")
            done = self.run_tool("run", recording, "--report", report_path, expect=4)
            self.assertIn(f"block {block}: the results hash differs", done.stderr)
            self.assertIn("the app hash is another one", done.stderr)
            with open(report_path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["outcome"], "results_hash_mismatch")

    def test_unknown_store_is_an_input_error(self):
        recording = self.falsify(TAIL, "unknown-store", 45, "bank")
        self.assertIn("store \"nosuchstore\"", self.error_of("run", recording))

    def test_reports_are_written_and_the_database_stays(self):
        recording = self.falsify(TAIL, "value", 45, "bank")
        bundle = self.path("bundle")
        report = self.report(recording, "--db", self.path("db"), "--bundle", bundle,
                             "--csv", self.path("rows.csv"), expect=2)
        self.assertEqual(report["outcome"], "app_hash_mismatch")
        self.assertEqual(report["blocks_verified"], 44 - 41 + 1)
        with open(self.path("rows.csv"), encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 4)
        self.assertEqual(sorted(os.listdir(bundle)), sorted(
            ["README.txt", "block.json", "block.pb", "commit_info_actual.json",
             "commit_info_actual.pb", "commit_info_expected.json", "commit_info_expected.pb",
             "keys.jsonl"]))
        # The values before are those of a run that stopped there, and the database is at that height.
        self.run_tool("run", TAIL, "--to", "44", "--db", self.path("good"))
        self.run_tool("diff", self.path("db"), self.path("good"))
        self.run_tool("export", self.path("good"), "--format", "json", "-o", self.path("state"))
        state = {}
        with open(self.path("state"), encoding="utf-8") as file:
            for line in file:
                entry = json.loads(line)
                state[entry["store"], entry["key"]] = entry["value"]
        seen = 0
        with open(os.path.join(bundle, "keys.jsonl"), encoding="utf-8") as file:
            for line in file:
                entry = json.loads(line)
                self.assertEqual(entry["before"], state.get((entry["store"], entry["key"])))
                self.assertEqual(entry["store_differs"], entry["store"] == "bank")
                seen += entry["before"] is not None
        self.assertGreater(seen, 0)
        with open(os.path.join(bundle, "README.txt"), encoding="utf-8") as file:
            self.assertIn("block 45: the app hash differs", file.read())
        self.assertIn("not empty", self.error_of("run", recording, "--bundle", bundle))


class Minimize(CliTest):
    def minimize(self, name, *args):
        small = self.path(name)
        return small, self.run_tool("minimize", TAIL, "--from", "45", "--to", "50", "-o", small, *args)

    def test_a_range_stands_alone(self):
        small, done = self.minimize("small")
        self.assertIn(f"{small}: blocks 45 to 50 of ", done.stdout)
        self.assertRegex(done.stdout, r"base +partial state of height 44, enough for --exec apply: \d+ nodes with \d+ keys")
        self.assertRegex(done.stdout, r"left out +\d+ subtrees with \d+ keys")
        self.assert_nothing_left()
        manifest, source = manifest_of(small), manifest_of(TAIL)
        self.assertEqual(manifest["partial_base"], {"exec": "apply"})
        self.assertEqual((manifest["minimized_from"]["first_height"], manifest["minimized_from"]["last_height"]),
                         (source["first_height"], source["last_height"]))
        self.assertEqual((manifest["stores"], manifest["application"]), (source["stores"], source["application"]))
        self.assertEqual(self.report(small)["blocks_verified"], 6)
        self.run_tool("check", small)
        self.assertIn("partial state at height 44", self.run_tool("info", small).stdout)
        self.assertEqual(self.minimize("silent", "--quiet")[1].stdout, "")

    def test_interrupted_runs_go_on(self):
        small, _ = self.minimize("small")
        for persist in ("deferred", "every"):
            database = self.path(persist)
            self.run_tool("run", small, "--to", "47", "--db", database, "--persist", persist)
            self.run_tool("run", small, "--resume", "--db", database, "--persist", persist)
            # All of a state is more than what there is.
            self.assertIn("left out of this partial state",
                          self.error_of("export", database, "--format", "json", "-o", self.path("state")))

    def test_what_cannot_be_done_leaves_nothing(self):
        none = self.path("none")
        self.assertIn("is not a range", self.error_of("minimize", TAIL, "--from", "1", "--to", "2", "-o", none))
        self.assertIn("is not a range", self.error_of("minimize", TAIL, "--from", "50", "--to", "45", "-o", none))
        recording = self.falsify(TAIL, "app-hash", 44)
        self.assertIn("give --from 44 or a lower height",
                      self.error_of("minimize", recording, "--from", "45", "--to", "50", "-o", none))
        self.assertFalse(os.path.exists(none))
        self.assert_nothing_left()
        small, _ = self.minimize("small")
        self.assertIn("not an empty folder",
                      self.error_of("minimize", TAIL, "--from", "45", "--to", "50", "-o", small))
        self.assertTrue(os.path.exists(os.path.join(small, "manifest.json")))

    def test_interrupts_leave_nothing(self):
        last = manifest_of(CHURN)["last_height"]
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)):
            for wait in (0, 0.1, 0.4):
                out = self.path(f"out-{number}-{wait}")
                process = subprocess.Popen(
                    [BLOCKREPLAY, "minimize", CHURN, "--from", str(last - 100), "--to", str(last), "-o", out, "--quiet"],
                    stderr=subprocess.PIPE, text=True, env=self.env)
                while not os.path.exists(out) and process.poll() is None:
                    time.sleep(0.001)
                time.sleep(wait)
                process.send_signal(number)
                stderr = process.communicate(timeout=300)[1]
                if process.returncode == 0:  # it was done before
                    self.assertGreater(wait, 0)
                    self.run_tool("check", out)
                    continue
                self.assertEqual(process.returncode, status, stderr)
                if number == signal.SIGKILL:
                    # Nobody takes what is there for a recording.
                    self.assertIn("manifest.json", self.error_of("run", out))
                    self.assertIn("manifest.json", self.error_of("check", out))
                else:
                    self.assertIn("nothing is left of", stderr)
                    self.assertFalse(os.path.exists(out))
                    self.assert_nothing_left()

    def test_the_mismatch_is_in_the_result(self):
        small = self.path("small")
        done = self.run_tool("minimize", self.falsify(TAIL, "value", 48, "bank"), "--from", "45", "--to", "50", "-o", small)
        self.assertIn("block 48: the app hash differs", done.stdout)
        self.assertIn("block 48: the app hash differs", self.run_tool("run", small, "--quiet", expect=2).stderr)


class Profiles(CliTest):
    def setUp(self):
        super().setUp()
        done = subprocess.run([BLOCKREPLAY, "run", TAIL, "--quiet", "--heap-profile", self.path("h")],
                              capture_output=True, text=True, env=self.env, check=False)
        self.heap = "without tcmalloc" not in done.stderr

    def options(self, name):
        kinds = ["cpu", "wall"] + (["heap"] if self.heap else [])
        args = []
        for kind in kinds:
            args += [f"--{kind}-profile", self.path(f"{name}-{kind}.pb.gz")]
        return args, [args[i] for i in range(1, len(args), 2)]

    def assert_profiles(self, paths):
        for path in paths:
            with gzip.open(path) as file:
                self.assertIn(b"samples" if "heap" not in path else b"inuse_space", file.read())

    def test_of_a_whole_run(self):
        args, paths = self.options("run")
        self.run_tool("run", TAIL, *args)
        self.assert_profiles(paths)

    def test_they_survive_a_mismatch(self):
        args, paths = self.options("mismatch")
        self.run_tool("run", self.falsify(TAIL, "value", 45, "bank"), *args, expect=2)
        self.assert_profiles(paths)

    def test_they_survive_an_interruption(self):
        args, paths = self.options("interrupt")
        process = subprocess.Popen([BLOCKREPLAY, "run", CHURN, "--db", self.path("db"), "--pace", "100",
                                    "--quiet", *args], stderr=subprocess.PIPE, env=self.env)
        while not has_base(self.path("db/blockreplay.json")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assert_profiles(paths)

    def test_of_parts_and_of_slow_blocks(self):
        folder = self.path("parts")
        first, last = manifest_of(TAIL)["first_height"], manifest_of(TAIL)["last_height"]
        self.run_tool("run", TAIL, "--profile-dir", folder, "--profile-every", "10")
        kinds = ("cpu", "heap") if self.heap else ("cpu",)
        parts = [(begin, min(begin + 9, last)) for begin in range(first, last + 1, 10)]
        self.assertEqual(sorted(os.listdir(folder)), sorted(
            f"blocks-{begin}-{end}.{kind}.pb.gz" for begin, end in parts for kind in kinds))
        # Every block takes more than a microsecond.
        self.run_tool("run", TAIL, "--profile-dir", self.path("slow"), "--profile-slower-than", "0.001",
                      "--to", str(first + 1))
        self.assertEqual(sorted(os.listdir(self.path("slow"))), sorted(
            f"slow-{height}.{kind}.pb.gz" for height in (first, first + 1) for kind in kinds))
        self.assert_profiles(os.path.join(folder, name) for name in os.listdir(folder))


class KeptDatabase(CliTest):
    def test_an_existing_one_is_not_touched(self):
        db = self.path("db")
        self.run_tool("run", TAIL, "--db", db)
        before = tree_of(db)
        self.assertIn("exists already", self.error_of(
            "run", TAIL, "--db", db, "--report", self.path("r.json"), "--csv", self.path("r.csv")))
        self.assertFalse(os.path.exists(self.path("r.json")) or os.path.exists(self.path("r.csv")))
        self.assertEqual(tree_of(db), before)
        os.mkdir(self.path("empty"))
        self.error_of("run", TAIL, "--db", self.path("empty"))
        self.assertEqual(os.listdir(self.path("empty")), [])

    def test_resume_goes_on(self):
        for persist in ("deferred", "every"):
            db = self.path("db-" + persist)
            args = (TAIL, "--db", db, "--persist", persist)
            report = self.report(*args, "--to", "44")
            manifest = manifest_of(TAIL)
            self.assertEqual(report["base"], {"height": manifest["base_height"],
                                              "app_hash": manifest["base_app_hash"]})
            app_hash = report["app_hash"]
            report = self.report(*args, "--resume", "--to", "47")
            self.assertEqual(report["blocks_verified"], 3)
            self.assertEqual(report["base"], {"height": 44, "app_hash": app_hash})
            report = self.report(*args, "--resume")
            self.assertEqual(report["app_hash"], manifest_of(TAIL)["final_app_hash"])
            # Once more: there is nothing left to do.
            report = self.report(*args, "--resume")
            self.assertEqual(report["blocks_verified"], 0)
            self.assertEqual(report["app_hash"], manifest_of(TAIL)["final_app_hash"])

    def test_resume_begins_where_nothing_is(self):
        self.run_tool("run", TAIL, "--db", self.path("db"), "--resume")

    def test_resume_proves_where_it_starts(self):
        db = self.path("db")
        recording = self.falsify(TAIL, "app-hash", 45)
        self.run_tool("run", TAIL, "--db", db, "--to", "45")
        # The same database, said to be of a recording that has another hash for block 45.
        info_path = os.path.join(db, "blockreplay.json")
        with open(info_path, encoding="utf-8") as file:
            info = json.load(file)
        digest = [line.split()[1] for line in self.run_tool("info", recording).stdout.splitlines()
                  if line.startswith("digest")][0]
        with open(info_path, "w", encoding="utf-8") as file:
            json.dump(dict(info, recording_digest=digest), file)
        done = self.run_tool("run", recording, "--db", db, "--resume", expect=2)
        self.assertIn("block 45: the app hash differs", done.stderr)

    def test_what_is_not_its_own_is_refused(self):
        db = self.path("db")
        self.run_tool("run", TAIL, "--db", db, "--to", "44")
        before = tree_of(db)
        self.assertIn("another recording", self.error_of("run", SMALL, "--db", db, "--resume"))
        self.assertIn("--persist=deferred",
                      self.error_of("run", TAIL, "--db", db, "--resume", "--persist", "every"))
        os.mkdir(self.path("foreign"))
        with open(self.path("foreign/precious"), "w", encoding="utf-8") as file:
            file.write("x")
        self.assertIn("not made by blockreplay",
                      self.error_of("run", TAIL, "--db", self.path("foreign"), "--resume"))
        self.assertEqual(tree_of(db), before)

    def test_a_locked_one_is_refused(self):
        db = self.path("db")
        self.run_tool("run", TAIL, "--db", db, "--to", "44")
        folder = os.open(db, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assertIn("locked by another process", self.error_of("run", TAIL, "--db", db, "--resume"))
        os.close(folder)
        with open(os.path.join(db, "application.db", "LOCK"), "r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            self.assertIn("lock", self.error_of("run", TAIL, "--db", db, "--resume").lower())
        self.run_tool("run", TAIL, "--db", db, "--resume")


class Trouble(CliTest):
    def test_unwritable_outputs_are_found_before_anything_is_done(self):
        db = self.path("db")
        for option in ("--report", "--csv", "--cpu-profile"):
            self.assertIn("nowhere", self.error_of("run", TAIL, "--db", db, option,
                                                   self.path("nowhere/file")))
        self.assertFalse(os.path.exists(db))
        self.assertIn("create", self.error_of("run", TAIL, "--db", self.path("no/such/db")))

    def test_a_file_that_cannot_grow(self):
        """What a full disk looks like, without needing one."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        self.error_of("run", CHURN, "--db", self.path("db"), "--quiet", preexec_fn=limit)
        self.run_tool("run", CHURN, "--db", self.path("db"), "--resume", "--quiet")

    def test_a_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True,
            check=False).returncode == 0
        if not mounted:
            self.skipTest("cannot mount a small file system here")
        try:
            error = self.error_of("run", CHURN, "--db", os.path.join(disk, "db"), "--persist", "every",
                                  "--quiet", "--report", self.path("report.json"))
            self.assertRegex(error, "(?i)space|full|disk")
            subprocess.run(["mount", "-o", "remount,size=2g", disk], check=True)
            self.run_tool("run", CHURN, "--db", os.path.join(disk, "db"), "--persist", "every",
                          "--quiet", "--resume")
        finally:
            subprocess.run(["umount", "-l", disk], check=False)

    def test_another_chains_snapshot(self):
        """The snapshot is whole and of the right height, but not the state that the blocks build on."""
        copy = self.falsify(TAIL, "none", 0)
        manifest = manifest_of(copy)
        manifest["base_app_hash"] = "11" * 32
        with open(os.path.join(copy, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        self.assertIn("app hash", self.error_of("run", copy))
        self.assert_nothing_left()


class Signals(CliTest):
    def start(self, *args):
        return subprocess.Popen([BLOCKREPLAY, "run", *args], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, env=self.env)

    def wait_for(self, condition, process):
        while not condition():
            if process.poll() is not None:
                self.fail(f"ended early: {process.stderr.read()}")
            time.sleep(0.005)

    def test_interrupts_finish_the_block_and_write_everything(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                db = self.path(f"db-{number}")
                report_path = self.path(f"report-{number}.json")
                rows_path = self.path(f"rows-{number}.csv")
                # At the original pace it would take almost an hour: it certainly waits somewhere.
                process = self.start(CHURN, "--db", db, "--report", report_path, "--csv", rows_path,
                                     "--pace", "100", "--quiet")
                ready = os.path.join(db, "blockreplay.json")
                self.wait_for(lambda: has_base(ready), process)
                time.sleep(0.5)
                process.send_signal(number)
                _, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, status, err)
                self.assertIn("--resume", err)
                with open(report_path, encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual(report["outcome"], "interrupted")
                with open(rows_path, encoding="utf-8") as file:
                    self.assertEqual(len(list(csv.DictReader(file))), report["blocks_measured"])
                done = self.report(CHURN, "--db", db, "--resume", "--quiet")
                self.assertEqual(done["blocks_verified"] + report["blocks_verified"], 560)
                self.assertEqual(done["app_hash"], manifest_of(CHURN)["final_app_hash"])

    def test_a_temporary_database_goes_away(self):
        process = self.start(CHURN, "--pace", "100", "--quiet")
        self.wait_for(lambda: os.listdir(self.path("tmp")), process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143)
        self.assert_nothing_left()

    def test_kill_at_any_moment(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}", file=sys.stderr)
        choose = random.Random(seed)
        for persist in ("deferred", "every"):
            db = self.path("db-" + persist)
            args = (CHURN, "--db", db, "--persist", persist, "--quiet", "--resume")
            # A whole run says how long the moments can be chosen from.
            began = time.monotonic()
            self.run_tool("run", CHURN, "--persist", persist, "--quiet")
            duration = time.monotonic() - began
            kills = 0
            while kills < 12:
                process = self.start(*args)
                try:
                    process.communicate(timeout=choose.uniform(0, duration / 4))
                    # It got to the end: from the start again.
                    self.assertEqual(process.returncode, 0)
                    shutil.rmtree(db)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills += 1
            done = self.report(*args)
            self.assertEqual(done["app_hash"], manifest_of(CHURN)["final_app_hash"], f"seed {seed}")


class Inspect(CliTest):
    def test_diff(self):
        self.run_tool("run", TAIL, "--db", self.path("a"), "--persist", "every")
        self.run_tool("run", TAIL, "--db", self.path("b"))
        self.run_tool("run", TAIL, "--db", self.path("c"), "--to", "45")
        same = self.run_tool("diff", self.path("a"), self.path("b"))
        self.assertIn("same", same.stdout)
        self.run_tool("diff", self.path("a") + "@45", self.path("c"))
        different = self.run_tool("diff", self.path("a") + "@44", self.path("a") + "@45", expect=2)
        self.assertIn("first difference: store ", different.stdout)
        self.run_tool("diff", self.path("a"), self.path("c"), expect=2)
        self.assertIn("heights", self.error_of("diff", self.path("a") + "@9999", self.path("b")) + " heights")
        self.assertIn("neither a database", self.error_of("diff", FIXTURES, self.path("b")))
        self.assertIn("does not exist", self.error_of("diff", self.path("x"), self.path("b")))

    def test_diff_finds_the_first_height(self):
        """Two histories that part at 45: the same value falsified, replayed as if it were right."""
        self.run_tool("run", TAIL, "--db", self.path("a"), "--persist", "every")
        recording = self.falsify(TAIL, "value", 45, "bank")
        self.run_tool("run", recording, "--db", self.path("b"), "--persist", "every", expect=2)
        # The falsified one stops at 44; up to there all is equal.
        text = self.run_tool("diff", self.path("a"), self.path("b"), expect=2).stdout
        self.assertIn("heights that both have are equal", text)

    def test_diff_with_a_nodes_database(self):
        """goleveldb, as nodes write it: read in a private copy, the source left as it was."""
        for name in ("send-send", "send-send-killed"):
            node = os.path.join(FIXTURES, "node-db", name)
            home = self.path(name)
            os.mkdir(home)
            subprocess.run(["tar", "--zstd", "-xf", os.path.join(node, "application.db.tar.zst"), "-C", home],
                           check=True)
            before = tree_of(home)
            ours = self.path(f"{name}-ours")
            self.run_tool("run", os.path.join(node, "recording"), "--db", ours, "--persist", "every")
            same = self.run_tool("diff", ours, home).stdout
            with open(os.path.join(node, "node.json"), encoding="utf-8") as file:
                facts = json.load(file)
            self.assertIn(facts["application_app_hash"], same)
            self.assertIn("same", same)
            for height, app_hash in facts["app_hash_by_height"].items():
                text = self.run_tool("diff", f"{ours}@{height}", f"{home}@{height}").stdout
                self.assertIn(app_hash, text)
            different = self.run_tool("diff", f"{home}@7", f"{ours}@8", expect=2).stdout
            self.assertIn("first difference: store ", different)
            self.assertEqual(tree_of(home), before)

    def test_diff_of_reports(self):
        a, b, c = (self.path(name) for name in ("a.json", "b.json", "c.json"))
        self.run_tool("run", TAIL, "--report", a)
        self.run_tool("run", TAIL, "--report", b, "--persist", "every")
        self.run_tool("run", TAIL, "--report", c, "--to", "45")
        self.assertIn("same results", self.run_tool("diff", a, b).stdout)
        self.assertIn("app_hash_chain", self.run_tool("diff", a, c, expect=2).stdout)
        self.error_of("diff", a, os.path.join(TAIL, "manifest.json"))

    def test_export_snapshot_is_the_one_it_came_from(self):
        self.run_tool("run", TAIL, "--db", self.path("db"), "--persist", "every")
        self.run_tool("export", self.path("db") + "@41", "-o", self.path("snapshot"))
        self.assertIn("0", os.listdir(self.path("snapshot")))
        self.error_of("export", self.path("db") + "@41", "-o", self.path("snapshot"))

    def test_exported_change_sets_replay(self):
        self.run_tool("run", TAIL, "--db", self.path("db"), "--persist", "every")
        for since in (40, 44):
            exported = self.path(f"exported-{since}")
            self.run_tool("export", self.path("db"), "--format", "change-sets", "--since", str(since),
                          "-o", exported)
            self.run_tool("check", exported)
            report = self.report(exported)
            self.assertEqual(report["app_hash"], manifest_of(TAIL)["final_app_hash"])

    def test_exported_change_sets_from_genesis_replay(self):
        recording = os.path.join(FIXTURES, "regression/send-send")
        self.run_tool("run", recording, "--db", self.path("db"), "--persist", "every")
        self.run_tool("export", self.path("db"), "--format", "change-sets", "-o", self.path("exported"))
        report = self.report(self.path("exported"))
        self.assertEqual(report["app_hash"], manifest_of(recording)["final_app_hash"])

    def test_export_json(self):
        self.run_tool("run", TAIL, "--db", self.path("db"))
        lines = self.run_tool("export", self.path("db"), "--format", "json", "--store", "bank",
                              "-o", "-").stdout.splitlines()
        keys = [json.loads(line)["key"] for line in lines]
        self.assertEqual(keys, sorted(keys))
        self.assertTrue(all(json.loads(line)["store"] == "bank" for line in lines))
        self.assertGreater(len(lines), 10)
        self.assertIn("no store", self.error_of("export", self.path("db"), "--format", "json",
                                                "--store", "x", "-o", "-"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
