"""guard.sh: proves that two builds behave the same, over every recording, and shows where they do not."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .database import load_manifest
from .differences import (ABSENT, Computed, Difference, app_hashes, compare_results_files, first_hash_difference,
                          first_state_difference)
from .errors import Parser, PerfError, run_main
from .render import table
from .reports import RunReport
from .sides import DEFAULT_BINARY, REPOSITORY, Side, check_run_options, parse_side

DESCRIPTION = """\
Proves that CANDIDATE behaves as BASE: both replay every recording below fixtures/, and below each DIR, and
the exported state, the app hash of every block, and in native execution events, gas, result codes and data
that each side computed itself must be byte-identical. What a side did not compute is listed as not computed.
BASE and CANDIDATE are bin:PATH (or a path), rev:REVISION or opt:'OPTIONS' (docs/guard.md).
"""
EPILOG = """\
exit status: 0 identical, 1 error, 2 different
example: scripts/perf/guard.sh rev:main bin:build/release/bin/blockreplay
"""
VERIFIED, HASH_DIFFERS, EXECUTION_DIFFERS = 0, 2, 3


@dataclass
class SideRun:
    """What one side made of a recording."""

    status: int
    stderr: str
    folder: Path
    mode: str  # of --exec
    state: Path | None = None
    state_problem: str = ""

    @property
    def reproduces(self) -> bool:
        """Every app hash was equal to the recording; native execution may still differ from it."""
        return self.status in (VERIFIED, EXECUTION_DIFFERS)

    def report(self) -> RunReport:
        return RunReport.load(self.folder / "report.json")


@dataclass
class Finding:
    """Of one recording."""

    recording: str
    blocks: int = 0
    checks: dict[str, str] = field(default_factory=dict)  # for the table
    computed: dict[str, Computed] = field(default_factory=dict)
    not_computed: list[str] = field(default_factory=list)
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        return {"recording": self.recording, "blocks": self.blocks, "checks": self.checks,
                "computed": {name: vars(count) for name, count in self.computed.items()},
                "not_computed": self.not_computed,
                "first_difference": self.difference.to_json() if self.difference else None}


def find_recordings(folders: list[Path]) -> list[Path]:
    found = []
    for folder in folders:
        if not folder.is_dir():
            raise PerfError(f"{folder} is not a folder")
        for manifest in sorted(folder.rglob("manifest.json")):
            try:
                if json.loads(manifest.read_text(encoding="utf-8")).get("format") == "blockreplay.v1":
                    found.append(manifest.parent.resolve())
            except (ValueError, AttributeError):
                continue
    if not found:
        raise PerfError(f"no recordings below {', '.join(map(str, folders))}")
    return list(dict.fromkeys(found))


class Guard:
    """Runs both sides over recordings and compares."""

    def __init__(self, base: Side, candidate: Side, common: tuple[str, ...], mode: str, work: Path) -> None:
        self.sides = {"base": base, "candidate": candidate}
        self.common = common
        self.mode = mode
        self.work = work

    def check(self, recording: Path, name: str) -> Finding:
        folder = Path(tempfile.mkdtemp(prefix="guard-", dir=self.work))
        try:
            return self._check(recording, Finding(name), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _check(self, recording: Path, finding: Finding, folder: Path) -> Finding:
        runs = {name: self._run(side, recording, folder / name) for name, side in self.sides.items()}
        base, candidate = runs["base"], runs["candidate"]
        finding.blocks = int(load_manifest(recording)["blocks"])
        if not base.reproduces:
            raise PerfError(f"{recording}: the base does not reproduce it: {base.stderr.strip().splitlines()[0]}")
        self._compare_hashes(finding, recording, base, candidate, folder)
        self._compare_states(finding, base, candidate)
        self._compare_results(finding, base, candidate)
        return finding

    def _run(self, side: Side, recording: Path, folder: Path) -> SideRun:
        folder.mkdir()
        database = folder / "db"
        options = ["run", str(recording), "--db", str(database), "--report", str(folder / "report.json"), "--csv",
                   str(folder / "blocks.csv"), "--bundle", str(folder / "bundle"), "--quiet", *self.common, *side.options]
        mode, done = "apply", None
        if self.mode == "native" or self.mode == "verify" and any(recording.glob("phases*.zst")):
            done = _tool(side, [*options, "--exec", self.mode, "--results", str(folder / "results.jsonl")])
            mode = self.mode
            if done.returncode == 1 and f"--exec {self.mode} is not available" in done.stderr:
                done, mode = None, "apply"
        if done is None:
            done = _tool(side, options)
        if done.returncode not in (VERIFIED, HASH_DIFFERS, EXECUTION_DIFFERS):
            problem = done.stderr.strip().splitlines()
            raise PerfError(f"{recording}: {side.spec} ended with status {done.returncode}: "
                            f"{problem[-1] if problem else 'no message'}")
        run = SideRun(done.returncode, done.stderr, folder, mode)
        if run.reproduces:
            self._export(side, database, run)
        shutil.rmtree(database, ignore_errors=True)
        return run

    def _export(self, side: Side, database: Path, run: SideRun) -> None:
        state = run.folder / "state.jsonl"
        done = _tool(side, ["export", str(database), "--format", "json", "-o", str(state)])
        if done.returncode == 0:
            run.state = state
        else:
            run.state_problem = done.stderr.strip().removeprefix("blockreplay: error: ")

    def _compare_hashes(self, finding: Finding, recording: Path, base: SideRun, candidate: SideRun, folder: Path) -> None:
        if candidate.status == HASH_DIFFERS:
            finding.checks["app hashes"] = "DIFFER"
            finding.difference = self._explain(recording, candidate, folder)
            return
        difference = first_hash_difference(app_hashes(base.folder / "blocks.csv"),
                                           app_hashes(candidate.folder / "blocks.csv"))
        chains = [run.report().data["app_hash_chain"] for run in (base, candidate)]
        if difference is None and chains[0] != chains[1]:
            difference = Difference("app hash chain", chains[0], chains[1])
        finding.checks["app hashes"] = "DIFFER" if difference else f"{finding.blocks} equal"
        finding.difference = difference

    def _explain(self, recording: Path, candidate: SideRun, folder: Path) -> Difference:
        """The first key that differs in the block whose app hash the candidate misses."""
        match = re.search(r"block (\d+):", candidate.stderr)
        expected = re.search(r"expected ([0-9a-f]+)", candidate.stderr)
        actual = re.search(r"actual +([0-9a-f]+)", candidate.stderr)
        hashes = (expected.group(1) if expected else ABSENT, actual.group(1) if actual else ABSENT)
        height = int(match.group(1)) if match else None
        keys_path = candidate.folder / "bundle/keys.jsonl"
        if height is None or not keys_path.exists():
            return Difference("app hash", *hashes, height, "commit")
        with keys_path.open(encoding="utf-8") as file:
            written = [line for line in map(json.loads, file) if line["store_differs"]]
        ours = self._state_at(recording, height, sorted({line["store"] for line in written}), folder)
        after = {(line["store"], line["key"]): line["after"] for line in written}
        before = {(line["store"], line["key"]): line["before"] for line in written}
        # Keys that only the base wrote in this block are those that it has and that the candidate's parent state
        # lacks or has with another value; the bundle knows only of what the candidate wrote.
        for place in sorted(after):
            theirs = after[place]
            if ours.get(place) != theirs:
                return Difference("key", ours.get(place) or ABSENT, theirs or f"{ABSENT}, before the block {before[place]}",
                                  height, "net writes of the block", place[0], f"0x{place[1]}")
        store = re.search(r"stores that differ:\n +(\S+): expected ([0-9a-f]+), actual ([0-9a-f]+)", candidate.stderr)
        if store:
            # Every key that the candidate wrote has the base's value: it missed one, or its tree is another.
            return Difference("store root", store.group(2), store.group(3), height, "commit", store.group(1))
        return Difference("app hash", *hashes, height, "commit")

    def _state_at(self, recording: Path, height: int, stores: list[str], folder: Path) -> dict[tuple[str, str], str]:
        """The base's state after a block: by store and key."""
        side, database = self.sides["base"], folder / "base-at"
        done = _tool(side, ["run", str(recording), "--db", str(database), "--to", str(height), "--quiet", *self.common,
                            *side.options])
        state: dict[tuple[str, str], str] = {}
        for store in stores if done.returncode == 0 else []:
            exported = folder / "base-at.jsonl"
            if _tool(side, ["export", str(database), "--format", "json", "--store", store, "-o",
                            str(exported)]).returncode == 0:
                with exported.open(encoding="utf-8") as file:
                    state |= {(entry["store"], entry["key"]): entry["value"] for entry in map(json.loads, file)}
        return state

    def _compare_states(self, finding: Finding, base: SideRun, candidate: SideRun) -> None:
        if base.state and candidate.state:
            last = base.report().data["recording"]["last"]
            difference, keys = first_state_difference(base.state, candidate.state, last)
            finding.checks["state"] = "DIFFERS" if difference else f"{keys} keys equal"
            finding.difference = finding.difference or difference
            return
        finding.checks["state"] = "not computed"
        if candidate.status == HASH_DIFFERS:
            finding.not_computed.append("state: the candidate stopped before the end")
        else:
            without = {name: run.state_problem for name, run in (("base", base), ("candidate", candidate)) if not run.state}
            problems = ", ".join(dict.fromkeys(without.values()))
            finding.not_computed.append(f"state: no export by {' and '.join(without)}: {problems}")

    def _compare_results(self, finding: Finding, base: SideRun, candidate: SideRun) -> None:
        missing = [name for name, run in (("base", base), ("candidate", candidate)) if run.mode == "apply"]
        if missing:
            for name in ("events", "gas", "codes"):
                finding.checks[name] = "not computed"
            finding.not_computed.append("events, gas, codes, data: no native execution by "
                                        + " and ".join(missing))
            return
        compared = compare_results_files(base.folder / "results.jsonl", candidate.folder / "results.jsonl")
        finding.computed = compared.computed
        if candidate.status != HASH_DIFFERS:
            # Where the candidate stopped early, its results end early too; the hash is what came first.
            finding.difference = finding.difference or compared.first
        for name in ("events", "gas", "codes"):
            count = compared.computed[name]
            text = f"{count.equal} equal" if count.equal == count.both else f"{count.both - count.equal} DIFFER"
            finding.checks[name] = text + (f", {count.missing} not computed" if count.missing else "")
        for name, count in compared.computed.items():
            if name != "validator updates" and count.missing:
                parts = [f"{number} {text}" for number, text in (
                    (count.neither, "by neither side"), (count.only_base, "by the base only"),
                    (count.only_candidate, "by the candidate only")) if number]
                finding.not_computed.append(f"{name}: " + ", ".join(parts))


def _tool(side: Side, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(side.binary), *arguments], capture_output=True, text=True, errors="replace", check=False)


def _summary(findings: list[Finding]) -> str:
    rows = [["recording", "blocks", "app hashes", "state", "events", "gas", "codes"]]
    rows += [[f.recording, str(f.blocks), *(f.checks.get(n, "") for n in ("app hashes", "state", "events", "gas", "codes"))]
             for f in findings]
    return table(rows)


def _not_computed(findings: list[Finding]) -> list[str]:
    """Each reason once, with how many recordings it is true of."""
    total: dict[str, Computed] = {}
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        for name, count in finding.computed.items():
            total.setdefault(name, Computed()).merge(count)
        for reason in finding.not_computed:
            if not re.match(r"(events|gas|codes|data): \d", reason):
                reasons.setdefault(reason, []).append(finding.recording)
    lines = [f"  {name}: {count.neither} phases by neither side, {count.only_base} by the base only, "
             f"{count.only_candidate} by the candidate only"
             for name, count in total.items() if count.missing and name != "validator updates"]
    for reason, where in reasons.items():
        lines.append(f"  {reason} ({where[0]}" + (f" and {len(where) - 1} more)" if len(where) > 1 else ")"))
    return lines + ["  answers of queries: neither side executes queries"]


def _verdict(findings: list[Finding], first: Finding | None) -> str:
    if first is not None and first.difference is not None:
        d = first.difference
        place = ", ".join(part for part in (f"height {d.height}" if d.height is not None else "", d.phase, d.store, d.key)
                          if part)
        return f"guard: DIFFERENT: {d.what} of {first.recording} at {place}"
    total = Computed()
    for finding in findings:
        for count in finding.computed.values():
            total.merge(count)
    blocks = sum(finding.blocks for finding in findings)
    return (f"guard: identical: {len(findings)} recordings, {blocks} blocks, {total.equal} native results; what was not "
            "computed is listed above and proves nothing")


def main(argv: list[str]) -> int:
    own, rest = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = Parser("guard.sh", DESCRIPTION, EPILOG)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("candidate", metavar="CANDIDATE")
    parser.add_argument("directories", metavar="DIR", nargs="*", help="more folders with recordings")
    parser.add_argument("--no-fixtures", action="store_true", help="only the DIRs")
    parser.add_argument("--exec", dest="mode", choices=("verify", "native", "apply"), default="verify",
                        help="execute natively where there is code (default), or apply recorded writes only")
    parser.add_argument("--binary", default=str(DEFAULT_BINARY), metavar="PATH", help="program of opt: sides")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="recordings at a time (default: all CPUs)")
    parser.add_argument("--json", metavar="FILE", help="write everything found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no table, only differences and the verdict")
    arguments = parser.parse_intermixed_args(own)
    check_run_options(tuple(rest))
    folders = ([] if arguments.no_fixtures else [REPOSITORY / "fixtures"]) + [Path(d) for d in arguments.directories]
    if not folders:
        parser.error("--no-fixtures needs a DIR")
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: at least 1")
    if arguments.json and not Path(arguments.json).absolute().parent.is_dir():
        parser.error(f"--json {arguments.json}: there is no such folder")
    recordings = find_recordings(folders)
    base = parse_side(arguments.base, Path(arguments.binary))
    candidate = parse_side(arguments.candidate, Path(arguments.binary))

    def name_of(recording: Path) -> str:
        return str(recording.relative_to(REPOSITORY)) if recording.is_relative_to(REPOSITORY) else str(recording)

    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="blockreplay-guard-") as work:
        guard = Guard(base, candidate, tuple(rest), arguments.mode, Path(work))
        with ThreadPoolExecutor(arguments.jobs) as pool:
            futures = [pool.submit(guard.check, recording, name_of(recording)) for recording in recordings]
            try:
                for future in futures:
                    findings.append(future.result())
                    if not arguments.quiet:
                        print(f"{len(findings)} of {len(recordings)}: {findings[-1].recording}", file=sys.stderr, flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    different = [finding for finding in findings if finding.difference]
    if not arguments.quiet:
        print(_summary(findings))
        print("\nNot computed, so neither equal nor different:")
        print("\n".join(_not_computed(findings)) + "\n")
    for finding in different:
        print(f"first difference of {finding.recording}:")
        print("\n".join("  " + line for line in finding.difference.lines()))
    verdict = _verdict(findings, different[0] if different else None)
    print(verdict)
    if arguments.json:
        data = {"base": base.spec, "candidate": candidate.spec, "recordings": [f.to_json() for f in findings],
                "verdict": verdict, "exit_status": HASH_DIFFERS if different else 0}
        Path(arguments.json).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return HASH_DIFFERS if different else 0


if __name__ == "__main__":
    run_main("guard.sh", main)
