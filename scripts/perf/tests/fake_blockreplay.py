#!/usr/bin/env python3
"""Stands for blockreplay in tests: `run` writes a report and a CSV of timings that the test chose.

FAKE_TIMINGS names a JSON file: {"seed", "noise" (share), "effects": {"--option": {"metric": factor}}}.
A run's values are a fixed base, noise from a seed that counts up with each run, and the factors of the
options that it was given. So the same test always sees the same timings, on any machine.
"""

import json
import os
import random
import sys

PHASES = ("decode", "apply", "begin_block", "deliver_tx", "end_block", "hash", "commit", "other")
BASE_MS = {"decode": 50, "apply": 500, "begin_block": 0, "deliver_tx": 0, "end_block": 0, "hash": 900,
           "commit": 500, "other": 50}


def value_of(arguments: list[str], name: str) -> str | None:
    return arguments[arguments.index(name) + 1] if name in arguments else None


def main() -> None:
    arguments = sys.argv[1:]
    plan_path = os.environ["FAKE_TIMINGS"]
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    recording = arguments[1]
    with open(os.path.join(recording, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    database = value_of(arguments, "--db")
    if database and "--resume" not in arguments:
        os.makedirs(os.path.join(database, "application.db"))
        return
    count_path = plan_path + ".count"
    count = 0
    if os.path.exists(count_path):
        with open(count_path, encoding="utf-8") as file:
            count = int(file.read())
    with open(count_path, "w", encoding="utf-8") as file:
        file.write(str(count + 1))
    rng = random.Random(plan.get("seed", 1) * 100003 + count)

    def noisy(value: float) -> float:
        return value * (1 + rng.gauss(0, plan.get("noise", 0.003)))

    factors: dict[str, float] = {}
    for option, effect in plan.get("effects", {}).items():
        if option in arguments:
            factors.update(effect)
    first, last = int(value_of(arguments, "--from")), int(value_of(arguments, "--to"))
    blocks = last - first + 1
    phases = {phase: noisy(BASE_MS[phase] * factors.get(phase, 1)) for phase in PHASES}
    wall_ms = sum(phases.values())
    # Execution is what is not committing; commits are on another thread in part.
    cpu = {"block_execution": (wall_ms - phases["commit"]) / 1000, "commit": noisy(0.4), "compaction": noisy(0.6),
           "flush": noisy(0.1), "other": noisy(0.02)}
    cpu["process"] = sum(cpu.values())
    times = [wall_ms / blocks * (0.5 + rng.random()) for _ in range(blocks)]
    ordered = sorted(times)
    rank = {p: ordered[max(0, -(-len(ordered) * p // 100) - 1)] for p in (50, 90, 99)}
    mean = sum(times) / blocks
    report = {
        "tool": {"version": "fake", "revision": "fake"},
        "recording": {"digest": plan.get("digest", {}).get(str(count), manifest["final_app_hash"]),
                      "chain_id": manifest["chain_id"], "first": first, "last": last},
        "host": {"cpu": "Fake CPU"}, "options": {}, "outcome": plan.get("outcome", "verified"), "exit_status": 0,
        "blocks_verified": blocks, "blocks_measured": blocks, "app_hash": "00", "app_hash_chain": "11",
        "digests": {"events": None, "codes": "22",
                    "gas": plan.get("gas", {}).get(next((o for o in plan.get("gas", {}) if o in arguments), ""), "33")},
        "wall_s": wall_ms / 1000,
        "block_ms": {"p50": rank[50], "p90": rank[90], "p99": rank[99], "mean": mean,
                     "stddev": (sum((t - mean) ** 2 for t in times) / (blocks - 1)) ** 0.5, "max": ordered[-1]},
        "phase_ms": phases, "cpu_s": cpu, "instructions": None, "peak_rss_bytes": int(noisy(4e8)),
        "bytes_written": 600000000, "allocations_per_block": 1000 * factors.get("allocations", 1),
        "allocated_bytes_per_block": 1e6,
    }
    with open(value_of(arguments, "--report"), "w", encoding="utf-8") as file:
        json.dump(report, file)
    with open(value_of(arguments, "--csv"), "w", encoding="utf-8") as file:
        file.write("pass,height,block_ms\n")
        for height, time in zip(range(first, last + 1), times):
            file.write(f"1,{height},{time:.6f}\n")


if __name__ == "__main__":
    main()
