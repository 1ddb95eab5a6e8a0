"""Google Benchmark programs as benchmarks of a comparison."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np

from .errors import PerfError
from .runner import Benchmark, Command, run_process
from .sides import Side

# What benchmarks have besides their counters and is no measurement.
NOT_COUNTERS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
                "iterations", "real_time", "cpu_time"}
UNIT_NANOS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def programs_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*_bench"))


def benchmark_names(program: Path, pattern: str) -> list[str]:
    done = subprocess.run([str(program), f"--benchmark_filter={pattern}", "--benchmark_list_tests=true"],
                          capture_output=True, text=True, check=False)
    names = done.stdout.split("\n") if done.returncode == 0 else []
    return [name for name in names if name and not name.startswith("Failed to match")]


def parse_results(text: str, name: str) -> dict[str, float]:
    """Values of one benchmark from Google Benchmark's JSON; lower is better, so rates are left out."""
    try:
        rows = [row for row in json.loads(text)["benchmarks"]
                if row["name"] == name and row.get("run_type", "iteration") == "iteration"]
        row = rows[0]
        if row.get("error_occurred"):
            raise PerfError(f"benchmark {name}: {row.get('error_message', 'failed')}")
        scale = UNIT_NANOS[row["time_unit"]]
        values = {"real_time": row["real_time"] * scale, "cpu_time": row["cpu_time"] * scale}
        for key, value in row.items():
            if key not in NOT_COUNTERS and isinstance(value, (int, float)) and "per_second" not in key:
                values[key] = float(value)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise PerfError(f"benchmark {name}: unusable output ({error!r})") from error
    return values


class GoogleBenchmark(Benchmark):
    """One benchmark of one program, a fresh process for each run."""

    def __init__(self, program: str, name: str, sides: dict[str, Side], command: Command) -> None:
        self.program = program
        self.benchmark = name
        self.name = re.sub(r"[^\w.=-]+", "_", name)
        self.sides = sides
        self.command = command

    def describe(self) -> str:
        return f"{self.program}: {self.benchmark}"

    def run(self, side_name: str, folder: Path) -> tuple[dict[str, float], float, np.ndarray | None]:
        side = self.sides[side_name]
        command = [*self.command.prefix(), str(side.programs / self.program),
                   f"--benchmark_filter=^{re.escape(self.benchmark)}$", "--benchmark_format=json",
                   *self.command.common, *side.options]
        (folder / "command.json").write_text(json.dumps(command) + "\n", encoding="utf-8")
        finished = run_process(command, folder / "benchmark.json", folder / "stderr.txt")
        if finished.status != 0:
            raise PerfError(f"side {side_name}: {self.program} ended with status {finished.status} (see {folder})")
        text = (folder / "benchmark.json").read_text(encoding="utf-8")
        return parse_results(text, self.benchmark), finished.cpu_s, None


def find_benchmarks(pattern: str, sides: dict[str, Side], command: Command) -> list[Benchmark]:
    """Those of bench/ that both sides have and that match."""
    found: list[Benchmark] = []
    base, candidate = sides["A"].programs, sides["B"].programs
    for program in programs_in(base):
        if not (candidate / program).exists():
            continue
        there = set(benchmark_names(candidate / program, pattern))
        found += [GoogleBenchmark(program, name, sides, command)
                  for name in benchmark_names(base / program, pattern) if name in there]
    if not found:
        raise PerfError(f"no benchmark matches {pattern!r} in both {base} and {candidate}: build the programs "
                        "*_bench there")
    return found
