#!/usr/bin/env python3
"""Tests native execution as the program's users meet it: --exec verify and native, info --codec.

usage: execution_test.py BLOCKREPLAY FALSIFY_RECORDING FIXTURES [unittest arguments]
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cli_test import FIXTURES, SMALL, TAIL, CliTest, manifest_of

# Its transactions are executed natively to the last one.
SENDS = os.path.join(FIXTURES, "regression/send-send")
# The block of a successful send, which is its first transaction.
SEND_HEIGHT = 3
GNO = os.path.join(FIXTURES, "gno-sends-300")


class ExecutionTest(CliTest):
    def edited(self, recording, edit):
        """A copy of a recording with another manifest."""
        copy = tempfile.mkdtemp(prefix="copy-", dir=self.dir)
        shutil.copytree(recording, copy, dirs_exist_ok=True)
        os.chmod(copy, 0o755)
        manifest = manifest_of(copy)
        edit(manifest)
        path = os.path.join(copy, "manifest.json")
        os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        return copy

    def without(self, recording, name):
        """A copy of a recording that lacks one file."""
        def leave_out(manifest):
            manifest["files"] = [file for file in manifest["files"] if file["name"] != name]
        copy = self.edited(recording, leave_out)
        os.remove(os.path.join(copy, name))
        return copy


class Verify(ExecutionTest):
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
        copy = self.without(SENDS, "phases.zst")
        self.run_tool("run", copy, "--quiet")
        self.assertIn("has no phases.zst", self.error_of("run", copy, "--exec", "verify", "--db", self.path("db")))
        self.assertFalse(os.path.exists(self.path("db")))

    def test_optimisations_are_switched_off_by_name_and_change_nothing(self):
        names = "attestations,bech32-texts"
        with_all = self.verify(SENDS)
        self.assertEqual(with_all["options"]["disable"], [])
        without = self.verify(SENDS, "--disable", names)
        self.assertEqual(without["options"]["disable"], names.split(","))
        for report in (with_all, without):
            del report["execution"]["ms_by_kind"]
        for field in ("execution", "digests", "app_hash_chain"):
            self.assertEqual(without[field], with_all[field])
        header = self.run_tool("run", SENDS, "--exec", "verify", "--disable", names).stdout
        self.assertRegex(header, "(?m)^disabled +attestations, bech32-texts$")
        header = self.run_tool("run", SENDS, "--exec", "verify").stdout
        self.assertRegex(header, "(?m)^disabled +no optimisation$")

    def test_an_unknown_optimisation_is_refused_with_those_there_are(self):
        error = self.error_of("run", SENDS, "--exec", "verify", "--disable", "attestations,speed")
        self.assertIn('no optimisation "speed"', error)
        self.assertIn("active-validators", error)
        self.assertIn("--exec verify", self.error_of("run", SENDS, "--disable", "attestations"))

    def test_other_chains_are_refused(self):
        copy = self.edited(SENDS, lambda manifest: manifest["application"].update(name="otherd"))
        error = self.error_of("run", copy, "--exec", "verify")
        self.assertIn("no native code for the application \"otherd\"", error)
        self.assertIn("gnoland, thornode", error)


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


class Gno(ExecutionTest):
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
        for mode in ("apply", "verify", "native"):
            db = self.path(f"db-{mode}")
            self.run_tool("run", GNO, "--exec", mode, "--quiet", "--to", "7", "--db", db)
            report = self.report(GNO, "--exec", mode, "--quiet", "--to", "12", "--db", db, "--resume")
            self.assertEqual(report["blocks_verified"], 5)
            if mode != "apply":
                self.assertEqual(report["execution"]["coverage"], 1)

    def assert_executed(self, report, blocks=300):
        manifest = manifest_of(GNO)
        self.assertEqual((report["outcome"], report["blocks_verified"]), ("verified", blocks))
        execution = report["execution"]
        self.assertEqual(execution["phases"], 102 * blocks)
        self.assertEqual(execution["native"], execution["phases"])
        self.assertEqual(execution["matched"], execution["phases"])
        self.assertEqual((execution["coverage"], execution["coverage_by_writes"]), (1, 1))
        self.assertEqual(execution["genesis"]["matched"], 1)
        if blocks == manifest["blocks"]:
            self.assertEqual(report["app_hash"], manifest["final_app_hash"])
            self.assertEqual(report["app_hash_chain"], manifest["notes"]["app_hash_chain_sha256"])
            failed = sum(kind["phases"] for name, kind in execution["by_kind"].items() if "(failed)" in name)
            self.assertEqual(failed, sum(count for name, count in manifest["notes"]["outcomes"].items()
                                         if not name.endswith("-> ")))

    def test_every_phase(self):
        digests = {}
        for mode in ("verify", "native"):
            for threads in ("1", "3"):
                report = self.report(GNO, "--exec", mode, "--quiet", "--threads", threads)
                with self.subTest(mode=mode, threads=threads):
                    self.assert_executed(report)
                    self.assertLess(abs(report["cpu_s"]["other"]), 0.1 * report["cpu_s"]["process"])
                digests[mode, threads] = report["digests"]
        self.assertEqual(len({json.dumps(digest) for digest in digests.values()}), 1)
        self.assertIsNotNone(digests["native", "1"]["events"])

    def test_native_goes_through_every_way_to_keep_it(self):
        for args in (("--persist", "every"), ("--repeat-block", "2"), ("--passes", "2")):
            with self.subTest(args=args):
                report = self.report(GNO, "--exec", "native", "--quiet", "--to", "12", *args)
                self.assertEqual(report["execution"]["coverage"], 1)
        text = self.run_tool("run", GNO, "--exec", "native", "--to", "5").stdout
        self.assertIn("nothing recorded but the requests", text)
        self.assertRegex(text, r"(?m)^genesis \(not in the total\) +1 +1 +1 ")

    def test_native_consults_nothing_recorded(self):
        # What a replay of recorded writes would stumble over changes nothing.
        for edit, store in (("value", "main"), ("drop-write", "main"), ("set-to-delete", "main"), ("key", "main")):
            recording = self.falsify(GNO, edit, 4, store)
            report = self.report(recording, "--exec", "native", "--quiet", "--to", "8")
            self.assert_executed(report, blocks=8)
            shutil.rmtree(recording)
        report = self.report(self.without(GNO, "phases.zst"), "--exec", "native", "--quiet", "--to", "8")
        self.assertEqual((report["blocks_verified"], report["execution"]["matched"]), (8, 816))

    def test_falsified_results_are_3(self):
        for mode in ("verify", "native"):
            for edit, named in (("result-code", "    code:"), ("result-gas", "    gas used:"),
                                ("result-data", "    data:"), ("tx-write", "    write to main ")):
                # A falsified write is what verification commits, so the next transaction that reads it
                # differs as well.
                differing = 2 if mode == "verify" and edit == "tx-write" else 1
                with self.subTest(mode=mode, edit=edit):
                    recording = self.falsify(GNO, edit, 3)
                    path = self.path("report.json")
                    done = self.run_tool("run", recording, "--exec", mode, "--quiet", "--to", "6", "--report", path,
                                         expect=3)
                    self.assertIn(f"mismatch: {differing} of 612 ", done.stderr)
                    self.assertRegex(done.stderr, r"(?m)^/bank\.MsgSend.*: height 3, transaction 0:$")
                    self.assertIn(named, done.stderr)
                    with open(path, encoding="utf-8") as file:
                        report = json.load(file)
                    self.assertEqual(report["blocks_verified"], 6)
                    self.assertEqual(report["execution"]["matched"], report["execution"]["native"] - differing)
                    shutil.rmtree(recording)

    def evidence(self, edit, height, store=""):
        """The bundle of a run over a falsified block: its files, and the block's keys by store and key."""
        recording, bundle = self.falsify(GNO, edit, height, store), self.path(f"bundle-{edit}-{height}")
        self.run_tool("run", recording, "--quiet", "--bundle", bundle, expect=2)
        shutil.rmtree(recording)
        files = {}
        for name in os.listdir(bundle):
            with open(os.path.join(bundle, name), "rb") as file:
                files[name] = file.read()
        keys = {}
        for line in files["keys.jsonl"].splitlines():
            entry = json.loads(line)
            keys[entry["store"], entry["key"]] = entry
        return files, keys

    def test_bundles_have_what_the_trees_had_before_the_block(self):
        files, third = self.evidence("app-hash", 3)
        # Only the app hash was falsified, so ours is the recorded commit info, to the byte.
        self.assertEqual(files["commit_info_actual.pb"], files["commit_info_expected.pb"])
        self.assertEqual(files["commit_info_actual.json"], files["commit_info_expected.json"])
        files, fourth = self.evidence("value", 4, "main")
        actual, expected = (json.loads(files[f"commit_info_{name}.json"]) for name in ("actual", "expected"))
        self.assertEqual([info["name"] for info in actual["store_infos"]], ["base", "main"])
        self.assertEqual(actual["store_infos"][0], expected["store_infos"][0])
        self.assertNotEqual(actual["store_infos"][1], expected["store_infos"][1])
        both = third.keys() & fourth.keys()
        self.assertEqual({store for store, _ in both}, {"base", "main"})
        for place in both:
            self.assertEqual(fourth[place]["before"], third[place]["after"], place)
        for (store, _), entry in fourth.items():
            self.assertEqual(entry["store_differs"], store == "main")
        created = [entry for entry in third.values() if entry["before"] is None]
        self.assertEqual({entry["op"] for entry in created}, {"set"})

    def state_of(self, *args):
        path = self.path("state.jsonl")
        self.run_tool("export", *args, "--format", "json", "-o", path)
        with open(path, encoding="utf-8") as file:
            return {(entry["store"], entry["key"]): entry["value"] for entry in map(json.loads, file)}

    def test_kept_databases_are_compared_and_exported(self):
        every, deferred, other = self.path("every"), self.path("deferred"), self.path("other")
        self.run_tool("run", GNO, "--quiet", "--to", "5", "--db", every, "--persist", "every")
        self.run_tool("run", GNO, "--quiet", "--to", "4", "--db", deferred)
        self.assertIn("\nsame", self.run_tool("diff", every + "@4", deferred + "@4").stdout)
        before, after = self.state_of(every + "@3"), self.state_of(deferred)
        self.assertEqual(self.state_of(every + "@4"), after)
        self.assertEqual({store for store, _ in after}, {"main"})
        # What block 4 wrote is what its evidence says.
        _, written = self.evidence("app-hash", 4)
        for place, entry in written.items():
            if place[0] == "main":
                self.assertEqual((before.get(place), after.get(place)), (entry["before"], entry["after"]))
        changed = {place for place in before.keys() | after.keys() if before.get(place) != after.get(place)}
        self.assertLessEqual(changed, written.keys())
        done = self.run_tool("diff", every + "@3", every + "@4", expect=2)
        self.assertIn(f"first difference: store main, key 0x{min(changed)[1]}\n", done.stdout)
        # A falsified value, committed: another state at the same height.
        recording = self.falsify(GNO, "request-tx", 3)
        self.run_tool("run", recording, "--exec", "native", "--quiet", "--to", "3", "--db", other, expect=2)
        self.run_tool("diff", other, every + "@2")
        for arguments, named in ((("--format", "snapshot"), "is no IAVL tree"),
                                 (("--format", "change-sets", "--since", "3"), "is no IAVL tree"),
                                 (("--format", "json", "--store", "base"), "has no tree")):
            self.assertIn(named, self.error_of("export", every, *arguments, "-o", self.path("none")))

    def test_falsified_genesis_is_3(self):
        for mode in ("verify", "native"):
            recording = self.falsify(GNO, "genesis-write", 1)
            done = self.run_tool("run", recording, "--exec", mode, "--quiet", "--to", "3", expect=3)
            self.assertIn("GENESIS: height 1:", done.stderr)
            shutil.rmtree(recording)

    def test_native_app_hashes_that_differ_are_2(self):
        for edit, named in (("request-tx", "writes of the block that differ"), ("app-hash", "every store root equals")):
            recording = self.falsify(GNO, edit, 3)
            done = self.run_tool("run", recording, "--exec", "native", "--quiet", "--to", "5", expect=2)
            self.assertIn("block 3: the app hash differs", done.stderr)
            self.assertIn(named, done.stderr)
            shutil.rmtree(recording)

    def test_parameters_change_only_where_the_notes_say_so(self):
        copy = self.edited(GNO, lambda manifest: manifest["notes"].pop("setparam"))
        done = self.run_tool("run", copy, "--exec", "verify", "--quiet", "--to", "95", expect=3)
        self.assertIn("mismatch: 1 of ", done.stderr)
        self.assertIn("tx_size_cost_per_byte", done.stderr)
        self.assertIn("block 90: the app hash differs",
                      self.run_tool("run", copy, "--exec", "native", "--quiet", "--to", "95", expect=2).stderr)


class GnoCheckTx(ExecutionTest):
    OUTCOMES = ("ok", "ok_gas_differs", "failed", "skipped_failed")

    def check(self, recording, *args, expect=0):
        return self.report(recording, "--quiet", "--checktx", *args, expect=expect)["checktx"]

    def test_every_result(self):
        notes = manifest_of(GNO)["notes"]
        for args in ((), ("--no-memo",), ("--no-memo=fee-collector",), ("--signature-cache", "20000", "--threads", "1")):
            with self.subTest(args=args):
                found = self.check(GNO, *args)
                self.assertEqual([found["checks"][name] for name in ("total", *self.OUTCOMES)],
                                 [29900, notes["checktx_ok"] - found["rechecks"]["ok"], 0, 0,
                                  found["checks"]["skipped_failed"]])
                self.assertEqual((found["rechecks"]["total"], found["rechecks"]["failed"],
                                  found["rechecks"]["ok_gas_differs"]), (29290, 0, 0))
                self.assertEqual(found["gas_used"], notes["checktx_ok_gas_used_sum"])
                self.assertIsNone(found["first_difference"])

    def test_the_summary_has_the_classes(self):
        text = self.run_tool("run", GNO, "--checktx", "--exec", "native", "--to", "9").stdout
        self.assertRegex(text, r"(?m)^CheckTx +\d+ results \(\d+ checks, \d+ rechecks\): ok \d+, ok_gas_differs 0, "
                               r"failed 0, skipped_failed \d+; ")

    def test_a_resumed_run_goes_on_with_the_checks(self):
        db = self.path("db")
        first = self.check(GNO, "--db", db, "--to", "5")
        rest = self.check(GNO, "--db", db, "--resume", "--to", "9")
        whole = self.check(GNO, "--to", "9")
        for kind in ("checks", "rechecks"):
            self.assertEqual(first[kind]["ok"] + rest[kind]["ok"], whole[kind]["ok"])

    def rewritten(self, edit):
        """A copy of the recording with other lines in checktx.jsonl.zst."""
        name = "checktx.jsonl.zst"
        plain = subprocess.run(["zstd", "-dc", os.path.join(GNO, name)], capture_output=True, check=True).stdout
        lines = [json.loads(line) for line in plain.splitlines()[:2000]]
        edit(lines)
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
        packed = subprocess.run(["zstd", "-qc"], input=text, capture_output=True, check=True).stdout

        def describe(manifest):
            for file in manifest["files"]:
                if file["name"] == name:
                    file.update(size=len(packed), sha256=hashlib.sha256(packed).hexdigest())
        copy = self.edited(GNO, describe)
        os.remove(os.path.join(copy, name))
        with open(os.path.join(copy, name), "wb") as file:
            file.write(packed)
        return copy

    def test_falsified_results_are_3(self):
        def more_gas(lines):
            lines[10]["gas_used"] += 1
        def an_error(lines):
            lines[10]["error"] = "/std.UnauthorizedError"
        def no_error(lines):
            next(line for line in lines if line["error"])["error"] = ""
        def other_error(lines):
            next(line for line in lines if line["error"])["error"] = "/std.InternalError"
        for edit, outcome in ((more_gas, "ok_gas_differs"), (an_error, "failed"), (no_error, "failed"),
                              (other_error, "failed")):
            with self.subTest(edit=edit.__name__):
                copy = self.rewritten(edit)
                path = self.path("report.json")
                done = self.run_tool("run", copy, "--quiet", "--checktx", "--to", "9", "--report", path, expect=3)
                self.assertIn("results of CheckTx differ from the recording", done.stderr)
                self.assertIn("    recorded: ", done.stderr)
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual((report["outcome"], report["blocks_verified"]), ("execution_differs", 9))
                found = report["checktx"]
                self.assertEqual(sum(found[kind][outcome] for kind in ("checks", "rechecks")), 1)
                shutil.rmtree(copy)

    def test_gas_of_failed_checks_is_not_compared(self):
        def other_gas(lines):
            for line in lines:
                if line["error"]:
                    line["gas_used"] += 1000
        copy = self.rewritten(other_gas)
        self.assertGreater(self.check(copy, "--to", "9")["checks"]["skipped_failed"], 0)

    def test_what_it_cannot_be_is_1(self):
        def far_away(lines):
            lines[5]["tx"] = 100
        error = self.error_of("run", self.rewritten(far_away), "--quiet", "--checktx", "--to", "9")
        self.assertIn("transaction 100 of block 2, which has 100", error)
        self.assertIn("has no checktx.jsonl.zst",
                      self.error_of("run", self.without(GNO, "checktx.jsonl.zst"), "--checktx"))
        self.assertIn("--checktx is not available", self.error_of("run", SENDS, "--checktx"))
        self.assertIn("need --checktx", self.error_of("run", GNO, "--no-memo"))
        self.error_of("run", GNO, "--checktx", "--no-memo=nothing")


class Mempool(ExecutionTest):
    def mempool(self, *args):
        path = self.path("mempool.json")
        self.run_tool("mempool", GNO, "--quiet", "--report", path, *args)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    @staticmethod
    def identity(report):
        mempool = report["mempool"]
        return (report["app_hash"], report["app_hash_chain"], mempool["delivertx_gas_used"],
                mempool["checktx_gas_used"], mempool["checktx_failures"], mempool["checks"], mempool["rechecks"])

    def test_blocks_are_made_and_the_rest_is_rechecked(self):
        report = self.mempool("--depth", "500", "--block-txs", "50", "--blocks", "4")
        mempool = report["mempool"]
        self.assertEqual((report["outcome"], report["exit_status"]), ("completed", 0))
        self.assertEqual(report["blocks_verified"], 5)  # the recording's first comes before
        self.assertEqual((report["recording"]["first"], report["recording"]["last"]), (2, 5))
        self.assertEqual(report["blocks_measured"], 4)
        self.assertEqual(mempool["pool_after_fill"], 500)
        self.assertEqual(mempool["checks"]["total"] - mempool["checks"]["failed"], 500)
        self.assertEqual(mempool["delivered"], 100 + 4 * 50)
        # Nothing that waits is refused later here: no parameter changes.
        self.assertEqual(mempool["rechecks"]["total"], 450 + 400 + 350 + 300)
        self.assertEqual(mempool["pool_at_end"], 300)
        for name in ("block_ms", "phase_ms", "cpu_s"):
            self.assertTrue(report[name])
        self.assertGreater(report["phase_ms"]["check_tx"], 0)
        self.assertEqual(set(mempool["recheck_us"]), {"p50", "p90", "p99", "mean", "stddev", "max"})

    def test_what_is_remembered_changes_nothing(self):
        args = ("--depth", "500", "--block-txs", "50", "--blocks", "4")
        plain = self.identity(self.mempool(*args, "--no-memo"))
        for more in ((), ("--no-memo=params",), ("--no-memo=fee-collector",), ("--signature-cache", "4096"), ("--threads", "3"),
                     ("--threads", "2", "--signature-cache", "100")):
            self.assertEqual(self.identity(self.mempool(*args, *more)), plain, more)

    def test_refill_keeps_the_depth(self):
        report = self.mempool("--depth", "300", "--block-txs", "50", "--blocks", "3", "--refill")
        self.assertEqual(report["mempool"]["pool_at_end"], 300)
        self.assertEqual(report["mempool"]["rechecks"]["total"], 3 * 250)

    def test_the_summary_has_what_is_compared(self):
        text = self.run_tool("mempool", GNO, "--depth", "200", "--block-txs", "20", "--blocks", "2", "--csv",
                             self.path("blocks.csv")).stdout
        for pattern in (r"^app hash +[0-9a-f]{64}$", r"^chain +[0-9a-f]{64} ", r"^DeliverTx .* gas used \d+$",
                        r"^CheckTx .* failures, gas used \d+$", r"^block +p50 ", r"^  recheck +p50 ", r"^one recheck p50 ",
                        r"^CPU +process "):
            self.assertRegex(text, re.compile(pattern, re.MULTILINE))
        with open(self.path("blocks.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 3)

    def test_wrong_usage_is_1(self):
        self.assertIn("fill the pool to", self.error_of("mempool", GNO, "--quiet", "--depth", "40000"))
        self.error_of("mempool", GNO, "--depth", "0")
        self.assertIn("end block", self.error_of("mempool", SENDS))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
