#!/usr/bin/env python3
"""Tests mainnet-replay.sh: shards, chains of them, interruptions, Slurm. Short runs; no test looks at a time."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from perf_testing import BLOCKREPLAY, FIXTURES, SCRIPTS, SENDS, SEND_HEIGHT, PerfTest, main

from slurm_machine import SlurmMachine, why_not

STREAMING = FIXTURES / "regression/swaps-streaming-swaps"
TAIL = FIXTURES / "regression-tail/swaps-streaming-swaps-from-41"
CHURN = FIXTURES / "thor-churn"
GNO = FIXTURES / "gno-sends-300"


def manifest_of(recording: Path) -> dict:
    return json.loads((recording / "manifest.json").read_text(encoding="utf-8"))


class ReplayTest(PerfTest):
    def replay(self, *arguments: object, expect: int = 0, out: str = "out"):
        return self.script("mainnet-replay.sh", "--binary", BLOCKREPLAY, "--out", self.dir / out, *arguments, expect=expect)

    def merged(self, out: str = "out") -> dict:
        return self.load(self.dir / out / "report.json")

    def whole(self, recording: Path, *arguments: str) -> dict:
        """The report of one run without shards."""
        path = self.dir / "whole.json"
        subprocess.run([BLOCKREPLAY, "run", recording, "--quiet", "--report", path, *arguments], check=True, env=self.env)
        return self.load(path)


class Shards(ReplayTest):
    def test_shards_come_to_what_one_run_comes_to(self):
        for recording, count in ((STREAMING, 4), (GNO, 3), (TAIL, 2)):
            with self.subTest(recording=recording.name):
                manifest = manifest_of(recording)
                done = self.replay(recording, "--shards", count, out=recording.name)
                merged, whole = self.merged(recording.name), self.whole(recording)
                for name in ("app_hash", "app_hash_chain", "blocks_verified", "base"):
                    self.assertEqual(merged[name], whole[name], name)
                self.assertEqual(merged["app_hash"], manifest["final_app_hash"])
                self.assertEqual(merged["blocks_measured"], manifest["blocks"])
                self.assertIn("the chain of shards is whole", done.stdout)
                for figure in ("wall time", "block time p50", "block time p99", "process CPU", "block-execution CPU",
                               "compaction CPU"):
                    self.assertIn(f"| {figure} ", done.stdout)
                shards = [self.load(self.dir / recording.name / f"shards/{i}/shard.json") for i in range(count)]
                for before, after in zip(shards, shards[1:]):
                    self.assertEqual(after["base_height"], before["last"])
                    self.assertEqual(after["first"], before["last"] + 1)
                # Databases are gone when their shard is done.
                self.assertEqual(list((self.dir / recording.name).glob("shards/*/db")), [])

    def test_parallel_and_sequence_are_the_same(self):
        self.replay(STREAMING, "--shard-blocks", "20", "--jobs", "2")
        self.replay(STREAMING, "--shard-blocks", "20", out="sequence")
        self.assertEqual(self.merged()["app_hash_chain"], self.merged("sequence")["app_hash_chain"])

    def test_a_part_of_a_range(self):
        done = self.replay("10-30", "--recording", STREAMING, "--shards", "2")
        report = self.merged()
        self.assertEqual((report["recording"]["first"], report["recording"]["last"]), (10, 30))
        self.assertEqual(report["base"]["height"], 9)
        self.assertIn("blocks 10 to 30, 21 verified", done.stdout)

    def test_checkpoints_are_used_again(self):
        self.assertIn("making the checkpoint", self.replay(STREAMING, "--shards", "2", "--checkpoints",
                                                           self.dir / "points").stderr)
        done = self.replay(STREAMING, "--shards", "2", "--checkpoints", self.dir / "points", out="again")
        self.assertNotIn("making the checkpoint", done.stderr)
        self.assertEqual(self.merged()["app_hash_chain"], self.merged("again")["app_hash_chain"])

    def test_recordings_that_follow_one_another(self):
        head = self.dir / "head"
        # The first 40 blocks as a recording of their own; the tail's snapshot is of height 40.
        self.cut(STREAMING, head, manifest_of(TAIL)["base_height"])
        done = self.replay(head, TAIL)
        self.assertIn("in 2 shards", done.stdout)
        # The other way round the chain is broken.
        done = self.replay(TAIL, head, out="wrong", expect=2)
        self.assertIn("chain of shards: shard 1 starts from", done.stderr)

    def cut(self, recording: Path, target: Path, last: int) -> None:
        database = self.dir / "cut"
        subprocess.run([BLOCKREPLAY, "run", recording, "--db", database, "--to", str(last), "--persist", "every",
                        "--quiet"], check=True, env=self.env)
        subprocess.run([BLOCKREPLAY, "export", database, "--format", "change-sets", "-o", target, "--chain-id",
                        manifest_of(TAIL)["chain_id"]], check=True, env=self.env, stdout=subprocess.DEVNULL)
        manifest = manifest_of(target)
        manifest["application"] = manifest_of(TAIL)["application"]
        (target / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    def test_a_checkpoint_of_another_state_is_found(self):
        self.replay(STREAMING, "--shards", "2", "--checkpoints", self.dir / "points")
        (record,) = (self.dir / "points").glob("*/*.json")
        data = self.load(record)
        data["app_hash"] = "00" * 32
        record.write_text(json.dumps(data), encoding="utf-8")
        done = self.replay(STREAMING, "--shards", "2", "--checkpoints", self.dir / "points", out="again", expect=2)
        self.assertIn("chain of shards: shard 1", done.stderr)

    def test_a_falsified_block_is_2_and_named(self):
        done = self.replay(self.falsify(SENDS, "value", SEND_HEIGHT, "bank"), expect=2)
        self.assertIn(f"block {SEND_HEIGHT}: the app hash differs", done.stderr)

    def test_profiles_rotate(self):
        done = self.replay(STREAMING, "--shards", "2", "--profile-every", "10")
        profiles = sorted(path.name for path in (self.dir / "out").glob("shards/0/profiles/*.cpu.pb.gz"))
        self.assertEqual(profiles[0], "blocks-1-10.cpu.pb.gz")
        self.assertIn("profiles, the first", done.stdout)

    def test_baseline(self):
        self.replay(SENDS, "--label", "before")
        done = self.replay(SENDS, "--label", "after", "--baseline", self.dir / "out/report.json", out="after")
        self.assertRegex(done.stdout, r"\|  +\| +before \| +after \| +delta \|")
        self.assertRegex(done.stdout, r"process CPU .* [+−][0-9.]+ %")
        done = self.replay(STREAMING, "--baseline", self.dir / "out/report.json", out="other", expect=1)
        self.assertIn("another recording", done.stderr)

    def test_options_go_to_every_run(self):
        self.replay(SENDS, "--shards", "2", "--", "--exec", "verify", "--persist", "every")
        for path in (self.dir / "out").glob("shards/*/report-*.json"):
            options = self.load(path)["options"]
            self.assertEqual((options["exec"], options["persist"]), ("verify", "every"))


class Stopped(ReplayTest):
    def start(self, *arguments: object) -> subprocess.Popen:
        return subprocess.Popen([SCRIPTS / "mainnet-replay.sh", "--binary", BLOCKREPLAY, "--out", self.dir / "out",
                                 *map(str, arguments)], env=self.env, cwd=self.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_until_running(self) -> None:
        """Until a shard has replayed a block, so that there is something to go on with."""
        log = self.dir / "out/shards/0/log-001.txt"
        for _ in range(6000):
            if log.exists() and "blocks/s" in log.read_text(encoding="utf-8", errors="replace"):
                return
            time.sleep(0.02)
        self.fail("no shard started")

    def unpace(self) -> None:
        for path in (self.dir / "out").glob("shards/*/shard.json"):
            shard = self.load(path)
            shard["options"] = []
            path.write_text(json.dumps(shard), encoding="utf-8")


class Interruptions(Stopped):
    def test_signals_stop_cleanly_and_it_goes_on(self):
        # Builds with a sanitizer have no heap profiles.
        heap = subprocess.run([BLOCKREPLAY, "run", SENDS, "--quiet", "--heap-profile", self.dir / "heap.pb.gz"],
                              env=self.env, capture_output=True, text=True, check=False)
        profiles = () if "not available" in heap.stderr else ("--profiles",)
        # Paced, so that it is still running when the signal comes.
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                shutil.rmtree(self.dir / "out", ignore_errors=True)
                process = self.start(SENDS, "--shards", "2", *profiles, "--", "--pace", "0.05")
                self.wait_until_running()
                process.send_signal(number)
                _, errors = process.communicate(timeout=300)
                self.assertEqual(process.returncode, status, errors)
                self.assertIn("--continue", errors)
                report = self.load(next((self.dir / "out").glob("shards/0/report-001.json")))
                self.assertEqual((self.dir / "out/shards/0/profile-001.cpu.pb.gz").exists(), bool(profiles))
                self.assertEqual(report["outcome"], "interrupted")
                self.unpace()
                done = self.script("mainnet-replay.sh", "--continue", self.dir / "out")
                self.assertIn("8 blocks in 2 shards", done.stdout)
                self.assertEqual(self.merged()["app_hash_chain"], self.whole(SENDS)["app_hash_chain"])

    def test_killed_it_starts_its_shard_over(self):
        process = self.start(SENDS, "--", "--pace", "0.05")
        self.wait_until_running()
        shard = int((self.dir / "out/shards/0/pid").read_text())
        children = Path(f"/proc/{shard}/task/{shard}/children").read_text().split()
        for pid in (process.pid, shard, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        process.communicate()
        self.unpace()
        done = self.script("mainnet-replay.sh", "--continue", self.dir / "out")
        self.assertIn("8 blocks in 1 shard", done.stdout)
        self.assertEqual(self.merged()["app_hash_chain"], self.whole(SENDS)["app_hash_chain"])

    def test_continuing_what_is_done_changes_nothing(self):
        self.replay(SENDS, "--shards", "2")
        before = self.merged()
        self.script("mainnet-replay.sh", "--continue", self.dir / "out")
        self.assertEqual(self.merged(), before)


class Usage(ReplayTest):
    def test_usage(self):
        self.assertIn("exit status", self.script("mainnet-replay.sh", "--help").stdout)
        for arguments, text in ((("/nothing",), "not a recording"), (("1-100", "--recording", SENDS), "not a range"),
                                ((SENDS, GNO), "different chains"), ((SENDS, "--shards", "9"), "has 8 blocks"),
                                ((SENDS, "--shards", "0"), "--shards 0"), ((SENDS, "--jobs", "0"), "at least 1"),
                                ((SENDS, "--", "--to", "3"), "sets it itself"),
                                ((SENDS, "--pprof-listen", "nonsense"), "HOST:PORT")):
            self.assertIn(text, self.replay(*arguments, expect=1).stderr)
        self.assertEqual(list(self.dir.glob("out")), [])
        (self.dir / "out").mkdir()
        self.assertIn("exists already", self.replay(SENDS, expect=1).stderr)

    def test_the_profile_listener_keeps_off_what_is_taken(self):
        # A program that has the option, whatever the real one has.
        binary = self.wrapper("listening", before=(
            "if '--help' in arguments: print('--pprof-listen'); sys.exit(0)\n"
            "if '--pprof-listen' in arguments:\n"
            "    i = arguments.index('--pprof-listen'); open(arguments[i + 1].replace(':', '-'), 'w'); del arguments[i:i + 2]"))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = self.script("mainnet-replay.sh", "--binary", binary, "--out", self.dir / "out", SENDS, "--pprof-listen",
                               f":{port}", expect=1)
            self.assertIn(f"127.0.0.1:{port} is not free", done.stderr)
        done = self.script("mainnet-replay.sh", "--binary", binary, "--out", self.dir / "out", SENDS, "--pprof-listen", ":6060",
                           expect=1)
        self.assertIn("6060", done.stderr)
        # Off unless asked for.
        self.script("mainnet-replay.sh", "--binary", binary, "--out", self.dir / "off", SENDS)
        self.assertEqual(list(self.dir.glob("127.0.0.1-*")), [])
        self.script("mainnet-replay.sh", "--binary", binary, "--out", self.dir / "on", SENDS, "--pprof-listen", f":{port}")
        self.assertEqual([path.name for path in self.dir.glob("127.0.0.1-*")], [f"127.0.0.1-{port}"])


@unittest.skipIf(why_not(), why_not())
class Slurm(Stopped):
    """On a real slurmctld and slurmd."""

    def test_shards_as_a_job_array(self):
        with SlurmMachine(self.dir / "slurm") as machine:
            self.env |= machine.env
            done = self.replay(STREAMING, "--shards", "4", "--slurm")
            self.assertIn("4 shards", done.stderr)
            self.assertIn("the chain of shards is whole", done.stdout)
            self.assertEqual(self.merged()["app_hash_chain"], self.whole(STREAMING)["app_hash_chain"])
            self.assertIn("#SBATCH --array=0,1,2,3", (self.dir / "out/job.sh").read_text())
            self.assertEqual(len(list((self.dir / "out").glob("shards/*/slurm.log"))), 4)
            # A shard that differs is found, and the others are verified nevertheless.
            falsified = self.falsify(SENDS, "value", 8, "bank")
            done = self.replay(falsified, "--shards", "2", "--slurm", "--slurm-option=--time=5", out="falsified", expect=2)
            self.assertIn("block 8: the app hash differs", done.stderr)
            self.assertTrue((self.dir / "falsified/shards/0/done.json").exists())

    def test_a_job_that_is_stopped_goes_on(self):
        with SlurmMachine(self.dir / "slurm") as machine:
            self.env |= machine.env
            process = self.start(SENDS, "--shards", "2", "--slurm", "--", "--pace", "0.05")
            self.wait_until_running()
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 143, errors)
            self.assertEqual(self.load(self.dir / "out/shards/0/report-001.json")["outcome"], "interrupted")
            self.unpace()
            done = self.script("mainnet-replay.sh", "--continue", self.dir / "out", "--slurm")
            self.assertIn("8 blocks in 2 shards", done.stdout)


if __name__ == "__main__":
    main()
