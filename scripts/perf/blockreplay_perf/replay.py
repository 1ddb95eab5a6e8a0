"""mainnet-replay.sh: long replays without anybody watching, in shards, with the table that the field publishes."""

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .checkpoints import Checkpoints, shard_ends
from .database import load_manifest
from .engines import choose
from .errors import Parser, PerfError, run_main
from .merge import check_chain, load_part, merge
from .render import percent, table
from .reports import RunReport
from .shard import Shard, describe_status, is_done
from .sides import DEFAULT_BINARY, REPOSITORY, Side, parse_side

DESCRIPTION = """\
Replays a recording, a part of it (FROM-TO, of fixtures/thor-2000 or of --recording), or a list of recordings that
follow one another, and prints wall time, block times and CPU. Shards start from checkpoints that are made once;
each is verified from its own state, and the chain of shards is checked. SIGINT and SIGTERM stop cleanly, with
reports and profiles written; --continue DIR goes on. Run options after -- go to every run.
"""
EPILOG = """\
exit status: 0 verified; 1 error; 2, 3, 4 as of `blockreplay run`, 2 also for a broken chain of shards;
130, 143 interrupted, with everything written (docs/mainnet-replay.md)
examples:
  scripts/perf/mainnet-replay.sh 101-2100 --shards 4 --jobs 2
  scripts/perf/mainnet-replay.sh ~/recordings/range-* --slurm --profile-every 10000
  scripts/perf/mainnet-replay.sh --baseline before/report.json --label after
"""
RANGE = re.compile(r"(\d+)-(\d+)")
# Where nodes' own profilers listen, which is why it is kept free.
NODE_PPROF_PORT = 6060
OWN_OPTIONS = ("--db", "--resume", "--from", "--to", "--passes", "--report", "--csv", "--profile-dir", "--profile-every",
               "--cpu-profile", "--heap-profile", "--wall-profile", "--pprof-listen")
FORMAT = "blockreplay.mainnet-replay.v1"


@dataclass(frozen=True)
class Range:
    recording: Path
    first: int
    last: int


def ranges_of(arguments: argparse.Namespace) -> list[Range]:
    default = Path(arguments.recording)
    found = []
    for text in arguments.what or [str(default)]:
        match = RANGE.fullmatch(text)
        path = default if match and not Path(text).exists() else Path(text)
        manifest = load_manifest(path)
        first, last = int(manifest["first_height"]), int(manifest["last_height"])
        begin, end = (int(match.group(1)), int(match.group(2))) if path is default and match else (first, last)
        if not first <= begin <= end <= last:
            raise PerfError(f"{path} has blocks {first} to {last}: {text} is not a range of it")
        found.append(Range(path.resolve(), begin, end))
    chains = {str(load_manifest(r.recording)["chain_id"]) for r in found}
    if len(chains) > 1:
        raise PerfError(f"recordings of different chains ({', '.join(sorted(chains))}) are not shards of one range")
    return found


def digest_of(binary: Path, recording: Path) -> str:
    done = subprocess.run([str(binary), "info", str(recording)], capture_output=True, text=True, check=False)
    match = re.search(r"\b([0-9a-f]{64})\b", "\n".join(line for line in done.stdout.splitlines() if "digest" in line))
    if done.returncode != 0 or not match:
        raise PerfError(f"{recording}: no digest from `{binary} info`: {done.stderr.strip()}")
    return match.group(1)


def plan_shards(ranges: list[Range], side: Side, common: tuple[str, ...], arguments: argparse.Namespace,
                checkpoints_folder: Path) -> list[Shard]:
    shards: list[Shard] = []
    for part in ranges:
        manifest = load_manifest(part.recording)
        digest = digest_of(side.binary, part.recording)
        ends = shard_ends(part.first, part.last, arguments.shards, arguments.shard_blocks)
        begins = [part.first, *(end + 1 for end in ends[:-1])]
        checkpoints = Checkpoints(checkpoints_folder, side, part.recording, digest, common)
        first_height = int(manifest["first_height"])
        made = {c.height: c for c in checkpoints.make([b - 1 for b in begins if b > first_height])}
        for begin, end in zip(begins, ends, strict=True):
            checkpoint = made.get(begin - 1)
            base_height = checkpoint.height if checkpoint else int(manifest.get("base_height") or 0)
            base_hash = checkpoint.app_hash if checkpoint else manifest.get("base_app_hash")
            shards.append(Shard(len(shards), arguments.label or "", str(part.recording), digest, begin, end, base_height,
                                base_hash, str(checkpoint.database.resolve()) if checkpoint else None,
                                [str(side.binary)], [*common, *side.options], arguments.profiles, arguments.profile_every))
    return shards


def check_listener(address: str, binary: Path, shards: int, jobs: int) -> list[str]:
    """Addresses for the shards' profile listeners; each must be free now."""
    host, colon, port_text = address.rpartition(":")
    if not colon or not port_text.isdigit() or not 0 < int(port_text) < 65536:
        raise PerfError(f"--pprof-listen {address}: give HOST:PORT or :PORT")
    host, port = host or "127.0.0.1", int(port_text)
    done = subprocess.run([str(binary), "run", "--help"], capture_output=True, text=True, check=False)
    if "--pprof-listen" not in done.stdout:
        raise PerfError(f"{binary} has no --pprof-listen")
    ports = [port + number for number in range(shards if jobs > 1 else 1)]
    if NODE_PPROF_PORT in ports:
        raise PerfError(f"--pprof-listen {address}: port {NODE_PPROF_PORT} is where a node's own profiler listens; "
                        "choose another")
    for number in ports:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host.strip("[]"), number))
            except OSError as error:
                raise PerfError(f"--pprof-listen {address}: {host}:{number} is not free ({error.strerror}); "
                                "choose another port") from error
    return [f"{host}:{ports[number % len(ports)]}" for number in range(shards)]


FIGURES = (("wall time", "s", ("wall_s",)), ("block time p50", "ms", ("block_ms", "p50")),
           ("block time p99", "ms", ("block_ms", "p99")), ("process CPU", "s", ("cpu_s", "process")),
           ("block-execution CPU", "s", ("cpu_s", "block_execution")), ("compaction CPU", "s", ("cpu_s", "compaction")))


def figures_table(merged: RunReport, baseline: RunReport | None, baseline_label: str) -> str:
    label = merged.data["label"]
    rows = [["", *([baseline_label] if baseline else []), label, *(["delta"] if baseline else [])]]
    for name, unit, path in FIGURES:
        after = merged.value(*path)
        before = baseline.value(*path) if baseline else None

        def text(value: float | None, unit: str = unit) -> str:
            return "unknown" if value is None else f"{value:,.3f} {unit}"

        row = [name, *([text(before)] if baseline else []), text(after)]
        if baseline:
            row.append(percent(100 * (after / before - 1)) if before and after is not None else "")
        rows.append(row)
    return table(rows)


def shards_table(shards: list[Shard], parts: list[Any]) -> str:
    rows = [["shard", "blocks", "starts from", "wall", "p50", "p99", "process CPU", "execution CPU", "compaction CPU",
             "last app hash"]]
    for shard, part in zip(shards, parts, strict=True):
        if not part.reports:
            rows.append([str(shard.number), f"{shard.first} to {shard.last}", "", "", "", "", "", "", "", "nothing replayed"])
            continue
        one = RunReport(Path(), merge([part], ""))
        base = (shard.base_app_hash or "nothing")[:12]
        rows.append([str(shard.number), f"{shard.first} to {shard.last}", base,
                     *(f"{one.value(*path) or 0:.3f} {unit}" for unit, path in (
                         ("s", ("wall_s",)), ("ms", ("block_ms", "p50")), ("ms", ("block_ms", "p99")),
                         ("s", ("cpu_s", "process")), ("s", ("cpu_s", "block_execution")), ("s", ("cpu_s", "compaction")))),
                     part.app_hash[:12]])
    return table(rows)


def load_baseline(path: str) -> tuple[RunReport, str]:
    report = RunReport.load(Path(path) if not Path(path).is_dir() else Path(path) / "report.json")
    return report, str(report.data.get("label") or "baseline")


def check_baseline(baseline: RunReport, merged: dict[str, Any]) -> list[str]:
    """What a reader has to know before believing the deltas."""
    first, second = baseline.data["recording"], merged["recording"]
    notes = []
    if first["digest"] != second["digest"]:
        raise PerfError(f"{baseline.path} is of another recording (digest {first['digest']}, this one "
                        f"{second['digest']}): no deltas between them")
    if (first["first"], first["last"]) != (second["first"], second["last"]):
        raise PerfError(f"{baseline.path} measured blocks {baseline.range_text}, this one {second['first']} to "
                        f"{second['last']}: no deltas between them")
    if baseline.data["app_hash"] != merged["app_hash"]:
        notes.append("the last app hash DIFFERS from the baseline's")
    notes.append("one run each: what of a delta is noise, ab.sh tells")
    return notes


def prepare(arguments: argparse.Namespace, common: tuple[str, ...]) -> tuple[Path, list[Shard]]:
    """A new folder with its shards, or those of the folder to go on with."""
    if arguments.resume:
        folder = Path(arguments.resume)
        paths = sorted(folder.glob("shards/*/shard.json"), key=lambda path: int(path.parent.name))
        if not paths:
            raise PerfError(f"--continue {folder}: there are no shards in it")
        return folder, [Shard.load(path) for path in paths]
    for option in common:
        if option.partition("=")[0] in OWN_OPTIONS:
            raise PerfError(f"{option.partition('=')[0]} is not for run options: the script sets it itself")
    side = parse_side(arguments.side, Path(arguments.binary))
    ranges = ranges_of(arguments)
    folder = Path(arguments.out) if arguments.out else Path("runs/mainnet-replay") / time.strftime("%Y%m%d-%H%M%S")
    if folder.exists():
        raise PerfError(f"{folder} exists already: give a new folder, or --continue {folder}")
    checkpoints = Path(arguments.checkpoints) if arguments.checkpoints else folder / "checkpoints"
    listeners: list[str] = []
    if arguments.pprof_listen:
        total = sum(len(shard_ends(r.first, r.last, arguments.shards, arguments.shard_blocks)) for r in ranges)
        listeners = check_listener(arguments.pprof_listen, side.binary, total, arguments.jobs)
    folder.mkdir(parents=True)
    try:
        shards = plan_shards(ranges, side, common, arguments, checkpoints)
    except BaseException:
        if not arguments.checkpoints:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    for index, listener in enumerate(listeners):
        shards[index] = replace(shards[index], options=[*shards[index].options, "--pprof-listen", listener])
    for shard in shards:
        shard.save(folder.resolve() / "shards" / str(shard.number))
    return folder, shards


def finish(folder: Path, shards: list[Shard], folders: list[Path], arguments: argparse.Namespace) -> int:
    """Puts the shards together and prints what there is to say."""
    status = 0
    for shard, path in zip(shards, folders, strict=True):
        result = path / "status.json"
        code = json.loads(result.read_text(encoding="utf-8"))["status"] if result.exists() else 1
        if is_done(path) or code == 0:
            continue
        status = status or code
        print(f"shard {shard.number} ({shard.first} to {shard.last}): {describe_status(path, code)}", file=sys.stderr)
    parts = [load_part(shard, path) for shard, path in zip(shards, folders, strict=True)]
    problems = check_chain(parts)
    if any(part.reports for part in parts):
        replayed = [part for part in parts if part.reports]
        label = arguments.label or shards[0].label or replayed[0].reports[0].data["tool"]["revision"]
        merged = merge(replayed, label)
        merged["format"] = FORMAT
        merged["outcome"] = "verified" if not problems and status == 0 else "incomplete"
        (folder / "report.json").write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
        print_result(folder, shards, parts, merged, arguments)
    for problem in problems:
        print(f"chain of shards: {problem}", file=sys.stderr)
    if status == 0 and problems:
        status = 2
    if status == 0:
        whole = merged["app_hash_chain"]
        print(f"\nverified: {merged['blocks_verified']} blocks in {len(shards)} shard{'s' if len(shards) > 1 else ''}, each "
              f"from its own state; the chain of shards is whole\napp hash {merged['app_hash']}\nchain    {whole}")
    return status


def print_result(folder: Path, shards: list[Shard], parts: list[Any], merged: dict[str, Any],
                 arguments: argparse.Namespace) -> None:
    baseline, baseline_label, notes = None, "", []
    if arguments.baseline:
        baseline, baseline_label = load_baseline(arguments.baseline)
        notes = check_baseline(baseline, merged)
        if baseline_label == merged["label"]:
            baseline_label = "baseline"
    recording = merged["recording"]
    lines = [f"{recording['chain_id']}, blocks {recording['first']} to {recording['last']}, "
             f"{merged['blocks_verified']} verified", "",
             figures_table(RunReport(folder / "report.json", merged), baseline, baseline_label)]
    lines += ["", *notes] if notes else []
    if len(shards) > 1:
        lines += ["", shards_table(shards, parts), "", "Wall time and CPU of all shards are sums over them."]
    profiles = sorted(str(path) for path in folder.glob("shards/*/**/*.pb.gz"))
    if profiles:
        lines += ["", f"{len(profiles)} profiles, the first {profiles[0]}"]
    text = "\n".join(lines) + "\n"
    (folder / "result.md").write_text(text, encoding="utf-8")
    print(text)


def main(argv: list[str]) -> int:
    own, rest = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = Parser("mainnet-replay.sh", DESCRIPTION, EPILOG)
    parser.add_argument("what", metavar="RANGE|RECORDING", nargs="*")
    parser.add_argument("--recording", default=str(REPOSITORY / "fixtures/thor-2000"), metavar="DIR",
                        help="what a RANGE is of (default fixtures/thor-2000)")
    parser.add_argument("--side", default="opt:", metavar="BUILD",
                        help="bin:PATH, rev:REVISION or opt:'OPTIONS' (default: the program of --binary)")
    parser.add_argument("--binary", default=str(DEFAULT_BINARY), metavar="PATH")
    parser.add_argument("--label", metavar="NAME", help="name of this run in tables (default: the program's revision)")
    parser.add_argument("--baseline", metavar="REPORT", help="report.json of an earlier run: deltas against it")
    parser.add_argument("--shards", type=int, metavar="N", help="split each recording into N shards")
    parser.add_argument("--shard-blocks", type=int, metavar="N", help="or into shards of N blocks")
    parser.add_argument("--checkpoints", metavar="DIR", help="keep checkpoints here, and use those that are there")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="shards at a time, with GNU parallel or Slurm (default 1; with --slurm as Slurm decides)")
    parser.add_argument("--slurm", action="store_true", help="submit the shards as a Slurm job array and wait for it")
    parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION",
                        help="an #SBATCH option, such as --partition=long (repeatable)")
    parser.add_argument("--profiles", action="store_true", help="a CPU and heap profile of each shard")
    parser.add_argument("--profile-every", type=int, metavar="N", help="a CPU and heap profile every N blocks")
    parser.add_argument("--pprof-listen", metavar="[HOST]:PORT",
                        help="profile listener of the runs (default: none); several shards take the following ports")
    parser.add_argument("--out", metavar="DIR", help="where results go (default runs/mainnet-replay/<time>)")
    parser.add_argument("--continue", dest="resume", metavar="DIR", help="go on with an interrupted replay")
    arguments = parser.parse_intermixed_args(own)
    if arguments.shards and arguments.shard_blocks:
        parser.error("--shards and --shard-blocks exclude each other")
    for name in ("jobs", "profile_every"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')} {value}: at least 1")
    if arguments.resume and (arguments.what or arguments.out or rest):
        parser.error("--continue goes on as it began: give no recordings, --out or run options")
    folder, shards = prepare(arguments, tuple(rest))
    folders = [folder.resolve() / "shards" / str(shard.number) for shard in shards]
    engine = choose(arguments.slurm, arguments.slurm_option, arguments.jobs, len(shards))
    number = engine.run(folders)
    status = finish(folder, shards, folders, arguments)
    print(f"results    {folder}", file=sys.stderr)
    if number:
        print(f"interrupted; go on with --continue {folder}", file=sys.stderr)
        return 128 + number
    return status


if __name__ == "__main__":
    run_main("mainnet-replay.sh", main)
