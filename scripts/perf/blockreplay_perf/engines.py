"""What runs the shards: one after the other, GNU parallel, or a Slurm job array."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from .errors import PerfError
from .shard import PID, is_done

PACKAGE = Path(__file__).resolve().parents[1]
JOB = """\
#!/bin/bash
#SBATCH --job-name=blockreplay
{directives}
# SIGTERM goes to the shard, which finishes its block and writes everything.
export PYTHONPATH={package}
exec {python} -m blockreplay_perf.shard {shards}/$SLURM_ARRAY_TASK_ID/shard.json
"""


def shard_command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "blockreplay_perf.shard", str(folder / "shard.json")]


class Engine:
    """Runs shards to their ends, or until a signal stops them."""

    def __init__(self) -> None:
        self.signal = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.folders: list[Path] = []
        self.env = dict(os.environ, PYTHONPATH=str(PACKAGE))

    def run(self, folders: list[Path]) -> int:
        """0, or the signal that stopped it; what became of each shard is in its folder."""
        self.folders = folders
        previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            self.start([folder for folder in folders if not is_done(folder)])
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        return self.signal

    def start(self, folders: list[Path]) -> None:
        raise NotImplementedError

    def stop(self, number: int) -> None:
        """Tells the shards that are running; each finishes its block."""
        for folder in self.folders:
            try:
                os.kill(int((folder / PID).read_text(encoding="ascii")), number)
            except (OSError, ValueError):
                continue

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self.stop(number)

    def wait(self, command: list[str]) -> int:
        # A group of its own: a Ctrl-C in the terminal comes to the shards through us, once.
        self.process = subprocess.Popen(command, env=self.env, start_new_session=True)
        return self.process.wait()


class Sequence(Engine):
    def start(self, folders: list[Path]) -> None:
        for folder in folders:
            if self.signal:
                return
            self.wait(shard_command(folder))


class GnuParallel(Engine):
    def __init__(self, jobs: int) -> None:
        super().__init__()
        self.jobs = jobs

    def start(self, folders: list[Path]) -> None:
        if folders:
            command = shlex.join(shard_command(Path("{}"))[:-1]) + " {}"
            self.wait(["parallel", "--will-cite", "--jobs", str(self.jobs), "--line-buffer", command, ":::",
                       *(str(folder / "shard.json") for folder in folders)])

    def stop(self, number: int) -> None:
        if self.process and self.process.poll() is None:
            # The first one means: start no more.
            self.process.send_signal(signal.SIGHUP)
        super().stop(number)


class Slurm(Engine):
    """One job array; shards are its tasks. Folders must be on a file system that all nodes see."""

    def __init__(self, options: list[str], throttle: int | None) -> None:
        super().__init__()
        if shutil.which("sbatch") is None:
            raise PerfError("sbatch is not there: install slurm-wlm and set Slurm up, or go without --slurm")
        self.options = options
        self.throttle = throttle
        self.job = ""

    def start(self, folders: list[Path]) -> None:
        if not folders:
            return
        shards = folders[0].parent
        tasks = ",".join(folder.name for folder in folders)
        throttle = f"%{self.throttle}" if self.throttle else ""
        directives = [f"#SBATCH --array={tasks}{throttle}", f"#SBATCH --output={shards}/%a/slurm.log",
                      "#SBATCH --signal=B:TERM@60", *(f"#SBATCH {option}" for option in self.options)]
        script = shards.parent / "job.sh"
        script.write_text(JOB.format(directives="\n".join(directives), package=shlex.quote(str(PACKAGE)),
                                     python=shlex.quote(sys.executable), shards=shlex.quote(str(shards))),
                          encoding="utf-8")
        done = subprocess.run(["sbatch", "--parsable", str(script)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PerfError(f"sbatch failed: {done.stderr.strip()} (script {script})")
        self.job = done.stdout.strip().partition(";")[0]
        print(f"Slurm job {self.job}: {len(folders)} shards", file=sys.stderr, flush=True)
        while self._queued():
            time.sleep(1)

    def _queued(self) -> bool:
        done = subprocess.run(["squeue", "--noheader", "--job", self.job], capture_output=True, text=True, check=False)
        # A job that has been over for a while is unknown, which is an error.
        return done.returncode == 0 and bool(done.stdout.strip())

    def stop(self, number: int) -> None:
        if self.job:
            # Waiting tasks are taken out. Of running ones only the shard itself gets the signal: it passes it on, and a
            # second one would end the replay at once.
            subprocess.run(["scancel", "--state=PENDING", self.job], check=False)
            subprocess.run(["scancel", f"--signal={signal.Signals(number).name.removeprefix('SIG')}", "--batch", self.job],
                           check=False)


def choose(slurm: bool, slurm_options: list[str], jobs: int, shards: int) -> Engine:
    if slurm:
        return Slurm(slurm_options, jobs if jobs > 1 else None)
    if jobs > 1 and shards > 1:
        if shutil.which("parallel"):
            return GnuParallel(jobs)
        print("GNU parallel is not there (package parallel): shards run one after the other", file=sys.stderr)
    return Sequence()
