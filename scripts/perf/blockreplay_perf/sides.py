"""The two sides of a comparison: what BASE and CANDIDATE on the command line stand for."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import PerfError

REPOSITORY = Path(__file__).resolve().parents[3]
DEFAULT_BINARY = REPOSITORY / "build/release/bin/blockreplay"
# Options of `blockreplay run` that make a run unfit for timing.
PROFILING = ("--cpu-profile", "--wall-profile", "--heap-profile", "--profile-dir", "--profile-every",
             "--profile-slower-than", "--pprof-listen")
# Options that the scripts set themselves, with what to use instead.
OWN_OPTIONS = {"--db": "each run gets its own copy of the restored database",
               "--resume": "each run starts from a copy of the restored database",
               "--from": "use --from of this script, before the --",
               "--to": "use --to of this script, before the --",
               "--passes": "use --pairs of this script, before the --",
               "--report": "reports are kept with the runs", "--csv": "CSVs are kept with the runs",
               "--results": "it would be timed", "--html": "make it from a run's report afterwards",
               "--bundle": "guard.sh shows what differs"}


@dataclass(frozen=True)
class Side:
    """A program and the options that belong to this side only."""

    spec: str  # as given
    binary: Path  # blockreplay
    options: tuple[str, ...] = ()

    @property
    def programs(self) -> Path:
        """Folder of the binary, where benchmark programs are too."""
        return self.binary.parent

    def persistence(self, common: tuple[str, ...]) -> str:
        """What --persist is for this side: databases of different ones cannot be shared."""
        value = "deferred"
        options = [*common, *self.options]
        for index, option in enumerate(options):
            if option.startswith("--persist="):
                value = option.partition("=")[2]
            elif option == "--persist" and index + 1 < len(options):
                value = options[index + 1]
        return value


# What the contents and the shape of a database depend on; nothing else is needed to make one.
DATABASE_OPTIONS = ("--persist", "--keep-recent", "--seek-compaction", "--cache-mb", "--threads")


def database_options(options: tuple[str, ...]) -> list[str]:
    """Those of DATABASE_OPTIONS, with their values: databases are made without executing or pacing."""
    kept: list[str] = []
    for index, option in enumerate(options):
        name, equals, _ = option.partition("=")
        if name in DATABASE_OPTIONS:
            kept += [option] if equals else list(options[index:index + 2])
    return kept


def split_options(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise PerfError(f"cannot split the options {text!r}: {error}") from error


def check_run_options(options: tuple[str, ...]) -> None:
    """Refuses what would spoil a measurement."""
    for option in options:
        name = option.partition("=")[0]
        if name in PROFILING:
            raise PerfError(f"{name}: profiled runs are never timed; profile a run of its own")
        if name in OWN_OPTIONS:
            raise PerfError(f"{name} is not for run options: {OWN_OPTIONS[name]}")


def _executable(path: Path) -> Path:
    if not path.is_file() or not os.access(path, os.X_OK):
        raise PerfError(f"{path} is not an executable: give bin:PATH, rev:REVISION or opt:'OPTIONS'")
    return path.absolute()


def _git(*arguments: str, repository: Path) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise PerfError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def build_revision(revision: str, targets: list[str], repository: Path = REPOSITORY) -> Path:
    """Builds a revision in a worktree of its own with the release preset; the folder of its programs."""
    try:
        commit = _git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", repository=repository)
    except PerfError as error:
        raise PerfError(f"rev:{revision} is no revision of {repository} ({error})") from error
    worktree = repository / "build/perf" / commit[:12]
    if not (worktree / ".git").exists():
        worktree.parent.mkdir(parents=True, exist_ok=True)
        _git("worktree", "prune", repository=repository)
        _git("worktree", "add", "--detach", str(worktree), commit, repository=repository)
    log = worktree.parent / f"{commit[:12]}.build.log"
    print(f"building {revision} ({commit[:12]}) in {worktree}", file=sys.stderr, flush=True)
    # Paths relative to the worktree, so that the compiler cache serves all of them.
    env = dict(os.environ, CCACHE_BASEDIR=str(worktree))
    with log.open("w", encoding="utf-8") as output:
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", *targets]):
            done = subprocess.run(command, cwd=worktree, env=env, stdout=output, stderr=subprocess.STDOUT,
                                  check=False)
            if done.returncode != 0:
                raise PerfError(f"building {revision} failed at {shlex.join(command)}: see {log}")
    return worktree / "build/release/bin"


def parse_side(spec: str, default_binary: Path, targets: list[str] | None = None) -> Side:
    """BASE or CANDIDATE; builds it where it is a revision."""
    kind, colon, rest = spec.partition(":")
    if colon and kind == "bin":
        return Side(spec, _executable(Path(rest)))
    if colon and kind == "rev":
        programs = build_revision(rest, targets or ["blockreplay"])
        return Side(spec, _executable(programs / "blockreplay"))
    if colon and kind == "opt":
        options = split_options(rest)
        check_run_options(options)
        return Side(spec, _executable(default_binary), options)
    return Side(spec, _executable(Path(spec)))
