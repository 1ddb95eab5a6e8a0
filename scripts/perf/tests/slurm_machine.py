"""A Slurm cluster of one node for a test: munged, slurmctld and slurmd of its own, on ports of its own."""

import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
CONFIGURATION = """\
ClusterName=blockreplaytest
SlurmctldHost={host}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
NodeName={host} CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def _which(program: str) -> str | None:
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not() -> str | None:
    """Why there can be no cluster here; None if there can."""
    missing = [program for program in PROGRAMS if _which(program) is None]
    if missing:
        return f"Slurm is not installed ({', '.join(missing)} missing): apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "slurmd needs root"
    return None


class SlurmMachine:
    """Use with `with`; `env` is what the commands of Slurm need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self) -> "SlurmMachine":
        self.folder.mkdir(mode=0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        host = socket.gethostname().partition(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, ports=self._free_ports(2), folder=self.folder, cpus=os.cpu_count()), encoding="ascii")
        try:
            self._start("munged", "--foreground", f"--key-file={key}", f"--socket={self.folder}/munge.sock",
                        f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                        f"--seed-file={self.folder}/munged.seed", "--force")
            self._wait_for(lambda: (self.folder / "munge.sock").exists(), "munged")
            self._start("slurmctld", "-D", "-f", self.env["SLURM_CONF"])
            self._start("slurmd", "-D", "-f", self.env["SLURM_CONF"])
            self._wait_for(self._idle, "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @staticmethod
    def _free_ports(count: int) -> list[int]:
        sockets = [socket.socket() for _ in range(count)]
        for one in sockets:
            one.bind(("", 0))
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        return ports

    def _start(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.out").open("wb") as output:
            self.processes.append(subprocess.Popen([_which(program) or program, *arguments], stdout=output,
                                                   stderr=subprocess.STDOUT, env={**os.environ, **self.env}))

    def _idle(self) -> bool:
        done = subprocess.run(["sinfo", "--noheader", "--format=%t"], capture_output=True, text=True,
                              env={**os.environ, **self.env}, check=False)
        return done.stdout.strip() == "idle"

    def _wait_for(self, condition, what: str) -> None:
        for _ in range(600):
            if condition():
                return
            ended = [process.args[0] for process in self.processes if process.poll() is not None]
            if ended:
                raise RuntimeError(f"{ended} ended: see {self.folder}")
            time.sleep(0.1)
        raise RuntimeError(f"{what} did not come: see {self.folder}")
