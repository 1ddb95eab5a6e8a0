#!/usr/bin/env python3
"""Tests native execution as the program's users meet it: --exec verify and native, info --codec.

usage: execution_test.py BLOCKREPLAY FALSIFY_RECORDING FIXTURES [unittest arguments]
"""

import hashlib
import json
import os
import re
import shutil
import sys
import unittest

from cli_test import FIXTURES, SMALL, TAIL, CliTest, manifest_of

# Its transactions are executed natively to the last one.
SENDS = os.path.join(FIXTURES, "regression/send-send")
# The block of a successful send, which is its first transaction.
SEND_HEIGHT = 3
GNO = os.path.join(FIXTURES, "gno-sends-300")


class Verify(CliTest):
    def verify(self, recording, *args, expect=0):
        report = self.report(recording, "--exec", "verify", "--quiet", *args, expect=expect)
        self.assertEqual(report["exit_status"], expect)
        return report

    def test_phases_are_executed_and_the_app_hashes_stay_proven(self):
        manifest = manifest_of(SENDS)
        report = self.verify(SENDS)
        self.assertEqual(report["outcome"], "verified")
        self.assertEqual(report["blocks_verified"], manifest["blocks"])
        self.assertEqual(report["app_hash"], manifest["final_app_hash"])
        execution = report["execution"]
        self.assertEqual(execution["phases"], 2 * manifest["blocks"] + manifest["notes"]["txs"])
        self.assertGreaterEqual(execution["native"], manifest["notes"]["txs"])
        self.assertEqual(execution["matched"], execution["native"])
        kinds = execution["by_kind"]
        for name in ("phases", "native", "matched", "writes", "matched_writes"):
            self.assertEqual(sum(kind[name] for kind in kinds.values()), execution[name])
        self.assertEqual(execution["coverage"], execution["matched"] / execution["phases"])
        self.assertEqual(execution["coverage_by_writes"],
                         execution["matched_writes"] / execution["writes"])
        for kind in kinds.values():
            self.assertIsNone(kind["first_difference"])
        self.assert_nothing_left()

    def test_what_has_no_native_code_does_not_count(self):
        end = self.verify(SENDS)["execution"]["by_kind"]["END"]
        self.assertEqual(end["phases"], manifest_of(SENDS)["blocks"])
        self.assertEqual((end["native"], end["matched"], end["matched_writes"]), (0, 0, 0))
        self.assertGreater(end["writes"], 0)
        self.assertIn("end blocks", end["not_native"])

    def test_the_summary_has_the_coverage(self):
        text = self.run_tool("run", SENDS, "--exec", "verify").stdout
        self.assertRegex(text, r"native +\d+ of \d+ phases executed, \d+ matched: coverage [0-9.]+ % of phases, "
                               r"[0-9.]+ % of recorded writes")
        self.assertRegex(text, r"(?m)^/types\.MsgSend +\d+ +\d+ +\d+ ")
        self.assertIn("not native: end blocks", text)
        self.assertIn("--exec verify", text)

    def test_time_goes_to_what_executes(self):
        phases = self.verify(SENDS)["phase_ms"]
        self.assertGreater(phases["deliver_tx"], 0)
        self.assertGreater(phases["begin_block"], 0)

    def test_digests_are_of_what_this_run_computed(self):
        honest = self.verify(SENDS)
        digests = honest["digests"]
        self.assertRegex(digests["codes"], "^[0-9a-f]{64}$")
        self.assertRegex(digests["gas"], "^[0-9a-f]{64}$")
        self.assertIsNone(digests["events"])  # end blocks are not executed
        self.assertEqual(self.verify(SENDS, "--persist", "every", "--repeat-block", "2")["digests"], digests)
        falsified = self.falsify(SENDS, "result-gas", SEND_HEIGHT)
        self.assertEqual(self.verify(falsified, expect=3)["digests"], digests)
        self.assertNotEqual(self.verify(SENDS, "--to", "6")["digests"]["gas"], digests["gas"])

    def test_results_are_what_the_digests_are_of(self):
        for args in ((), ("--repeat-block", "2"), ("--passes", "2")):
            path = self.path("results.jsonl")
            report = self.verify(SENDS, "--results", path, *args)
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual(len(lines), 2 * manifest_of(SENDS)["blocks"] + manifest_of(SENDS)["notes"]["txs"])
            txs = [line for line in lines if line["phase"] == "tx"]
            for name, fields in (("codes", ("code", "codespace")), ("gas", ("gas_wanted", "gas_used"))):
                text = "".join(f"{tx['height']} {tx['index']} {tx[fields[0]]} {tx[fields[1]]}\n" for tx in txs)
                self.assertEqual(hashlib.sha256(text.encode()).hexdigest(), report["digests"][name])
            self.assertTrue(all(tx["events"] and tx["kind"] for tx in txs))
            # What is not executed has no answer, not the recorded one.
            unanswered = [line for line in lines if not line["native"]]
            self.assertLessEqual({tuple(line) for line in unanswered}, {("height", "phase", "native")})
            times = report["execution"]["phases"] // len(lines)
            self.assertEqual(times * (len(lines) - len(unanswered)), report["execution"]["native"])

    def test_results_need_execution(self):
        self.assertIn("--exec verify", self.error_of("run", SENDS, "--results", self.path("results.jsonl")))

    def test_repetitions_and_passes_count_each_execution(self):
        once = self.verify(SENDS)["execution"]
        for args in (("--repeat-block", "3"), ("--passes", "3")):
            again = self.verify(SENDS, *args)["execution"]
            for name in ("phases", "native", "matched", "writes"):
                self.assertEqual(again[name], 3 * once[name], args)

    def test_resume_goes_on_where_the_database_is(self):
        whole = self.verify(SENDS)["execution"]
        db = self.path("db")
        first = self.verify(SENDS, "--db", db, "--to", "4")["execution"]
        rest = self.verify(SENDS, "--db", db, "--resume")["execution"]
        for name in ("phases", "native", "matched", "writes"):
            self.assertEqual(first[name] + rest[name], whole[name])

    def test_from_a_snapshot(self):
        execution = self.verify(TAIL)["execution"]
        self.assertGreater(execution["native"], 0)
        self.assertEqual(execution["matched"], execution["native"])

    def test_a_recording_without_phases_is_refused(self):
        copy = self.path("copy")
        shutil.copytree(SENDS, copy)
        os.chmod(copy, 0o755)
        os.remove(os.path.join(copy, "phases.zst"))
        manifest = manifest_of(copy)
        manifest["files"] = [file for file in manifest["files"] if file["name"] != "phases.zst"]
        path = os.path.join(copy, "manifest.json")
        os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        self.run_tool("run", copy, "--quiet")
        self.assertIn("has no phases.zst", self.error_of("run", copy, "--exec", "verify", "--db", self.path("db")))
        self.assertFalse(os.path.exists(self.path("db")))

    def test_other_chains_are_refused(self):
        error = self.error_of("run", GNO, "--exec", "verify")
        self.assertIn("no native code for the application \"gnoland\"", error)


class FalsifiedExecution(CliTest):
    """Results that were an echo of the recording would go along with these."""

    def test_each_falsified_result_is_3_and_named(self):
        honest = self.report(SENDS, "--exec", "verify", "--quiet")["execution"]
        for edit, named in (("result-code", "    code:"), ("result-gas", "    gas used:"),
                            ("result-data", "    data:"), ("result-event", "    event 0 of"),
                            ("tx-write", "    write to ")):
            with self.subTest(edit=edit):
                recording = self.falsify(SENDS, edit, SEND_HEIGHT)
                path = self.path("report.json")
                done = self.run_tool("run", recording, "--exec", "verify", "--quiet", "--report", path,
                                     expect=3)
                self.assertIn("mismatch: 1 of ", done.stderr)
                self.assertRegex(done.stderr, rf"MsgSend.*: height {SEND_HEIGHT}, transaction 0:")
                self.assertIn(named, done.stderr)
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual((report["outcome"], report["exit_status"]), ("execution_differs", 3))
                # Every block was verified nevertheless.
                self.assertEqual(report["blocks_verified"], manifest_of(SENDS)["blocks"])
                self.assertEqual(report["app_hash"], manifest_of(SENDS)["final_app_hash"])
                execution = report["execution"]
                self.assertEqual(execution["native"], honest["native"])
                self.assertEqual(execution["matched"], honest["matched"] - 1)
                differing = [kind["first_difference"] for kind in execution["by_kind"].values()
                             if kind["first_difference"]]
                self.assertEqual(len(differing), 1)
                self.assertEqual((differing[0]["height"], differing[0]["tx_index"]), (SEND_HEIGHT, 0))
                self.assertIn(named.strip(), differing[0]["text"])

    def test_begin_blocks_are_compared_too(self):
        recording = self.falsify(SENDS, "begin-write", 5)
        text = self.run_tool("run", recording, "--exec", "verify", "--quiet", expect=3).stderr
        self.assertIn("BEGIN: height 5:", text)
        self.assertIn("    write to ", text)

    def test_an_app_hash_that_differs_comes_first(self):
        recording = self.falsify(SENDS, "value", SEND_HEIGHT, "bank")
        text = self.run_tool("run", recording, "--exec", "verify", "--quiet", expect=2).stderr
        self.assertIn(f"block {SEND_HEIGHT}: the app hash differs", text)


class Native(CliTest):
    def test_what_is_missing_is_named_before_anything_is_touched(self):
        error = self.error_of("run", SMALL, "--exec", "native", "--db", self.path("db"), "--report",
                              self.path("report.json"))
        self.assertIn("--exec native", error)
        self.assertIn("end block", error)
        self.assertEqual(os.listdir(self.dir), ["tmp"])


class Codec(CliTest):
    def test_every_value_is_encoded_as_it_is_stored(self):
        for recording in (SENDS, TAIL):
            text = self.run_tool("info", recording, "--codec").stdout
            seen, equal = re.search(r"(?m)^total +(\d+) +(\d+)$", text).groups()
            self.assertGreater(int(seen), 100)
            self.assertEqual(seen, equal)
            self.assertRegex(text, r"(?m)^unknown +0$")
            self.assertRegex(text, r"(?m)^bank .* \(.+\) +\d+ +\d+$")

    def test_an_unknown_value_is_1_and_named(self):
        recording = self.falsify(SENDS, "value", SEND_HEIGHT, "acc")
        done = self.run_tool("info", recording, "--codec", expect=1)
        self.assertIn("stored", done.stdout)
        self.assertIn("other bytes than are stored", done.stderr)

    def test_other_chains_are_refused(self):
        self.assertIn("gnoland", self.error_of("info", GNO, "--codec"))


class Gno(CliTest):
    def test_every_app_hash(self):
        manifest = manifest_of(GNO)
        for args in ((), ("--persist", "every"), ("--repeat-block", "2", "--to", "20")):
            with self.subTest(args=args):
                report = self.report(GNO, "--quiet", *args)
                blocks = 20 if "--to" in args else manifest["blocks"]
                self.assertEqual(report["blocks_verified"], blocks)
                if blocks == manifest["blocks"]:
                    self.assertEqual(report["app_hash"], manifest["final_app_hash"])
                    self.assertEqual(report["app_hash_chain"], manifest["notes"]["app_hash_chain_sha256"])

    def test_falsified(self):
        for edit, store in (("value", "main"), ("app-hash", ""), ("store-root", "main")):
            recording = self.falsify(GNO, edit, 3, store)
            self.assertIn("block 3: ", self.run_tool("run", recording, "--quiet", "--to", "5", expect=2).stderr)
            shutil.rmtree(recording)

    def test_resume(self):
        db = self.path("db")
        self.run_tool("run", GNO, "--quiet", "--to", "7", "--db", db)
        report = self.report(GNO, "--quiet", "--to", "12", "--db", db, "--resume")
        self.assertEqual(report["blocks_verified"], 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
