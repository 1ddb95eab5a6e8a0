"""The machine during measurements: one A/B at a time, a gate before each run, a record of each."""

import fcntl
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from .errors import PerfError

DEFAULT_LOCK = "/tmp/blockreplay-ab.lock"
GATE_SAMPLE_SECONDS = 1.0


@dataclass(frozen=True)
class Reading:
    """Counters of the whole machine at one moment; what it does not give is None."""

    monotonic: float
    cpus: int
    busy_s: float | None  # CPU time that something used, all CPUs together
    steal_s: float | None  # that the hypervisor took
    loadavg: float | None  # one minute
    stalled_s: dict[str, float | None] = field(default_factory=dict)  # PSI "some" by resource


@dataclass(frozen=True)
class Activity:
    """What happened between two readings, in percent of the time (CPU: of all CPUs' time)."""

    seconds: float
    loadavg_start: float | None
    loadavg_end: float | None
    foreign_cpu: float | None  # used by others than us
    steal: float | None
    psi: dict[str, float | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """Above these a machine is not quiet; percent. PSI counts before a run only: during one, it is
    mostly the run's own waiting."""

    foreign_cpu: float = 10.0
    steal: float = 2.0
    psi: float = 10.0
    loadavg: float | None = None

    def exceeded(self, activity: Activity, before_run: bool) -> list[str]:
        reasons = []
        if activity.foreign_cpu is not None and activity.foreign_cpu > self.foreign_cpu:
            reasons.append(f"others used {activity.foreign_cpu:.1f} % of the CPUs (limit {self.foreign_cpu:g})")
        if activity.steal is not None and activity.steal > self.steal:
            reasons.append(f"steal {activity.steal:.1f} % (limit {self.steal:g})")
        if before_run:
            for resource, share in activity.psi.items():
                if share is not None and share > self.psi:
                    reasons.append(f"PSI {resource} {share:.1f} % (limit {self.psi:g})")
        if self.loadavg is not None:
            load = activity.loadavg_start if before_run else activity.loadavg_end
            if load is not None and load > self.loadavg:
                reasons.append(f"load average {load:.2f} (limit {self.loadavg:g})")
        return reasons


def _psi_seconds(text: str) -> float | None:
    for line in text.splitlines():
        if line.startswith("some "):
            for part in line.split():
                if part.startswith("total="):
                    return int(part.removeprefix("total=")) / 1e6
    return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return None


def read_machine(proc: Path = Path("/proc")) -> Reading:
    """Readings of the whole machine from /proc (man 5 proc, Documentation/accounting/psi.rst)."""
    busy = steal = None
    cpus = os.cpu_count() or 1
    stat = _read(proc / "stat")
    if stat:
        tick = os.sysconf("SC_CLK_TCK")
        lines = stat.splitlines()
        # user nice system idle iowait irq softirq steal; guest time is in user.
        fields = [int(value) / tick for value in lines[0].split()[1:]]
        fields += [0.0] * (8 - len(fields))
        busy = sum(fields[i] for i in (0, 1, 2, 5, 6))
        steal = fields[7]
        cpus = sum(1 for line in lines if line.startswith("cpu") and line[3:4].isdigit()) or cpus
    load = _read(proc / "loadavg")
    stalled = {}
    for resource in ("cpu", "io", "memory"):
        text = _read(proc / "pressure" / resource)
        stalled[resource] = _psi_seconds(text) if text else None
    return Reading(time.monotonic(), cpus, busy, steal, float(load.split()[0]) if load else None, stalled)


def activity_between(start: Reading, end: Reading, own_cpu_s: float = 0.0) -> Activity:
    """What happened in between; `own_cpu_s` is what we used ourselves."""
    seconds = max(end.monotonic - start.monotonic, 1e-6)

    def share(cpu_s: float) -> float:
        # The kernel's counters tick every 10 ms, so over a few milliseconds they can say more than there is.
        return min(100.0, max(0.0, 100 * cpu_s / (seconds * end.cpus)))

    foreign = steal = None
    if start.busy_s is not None and end.busy_s is not None:
        foreign = share(end.busy_s - start.busy_s - own_cpu_s)
    if start.steal_s is not None and end.steal_s is not None:
        steal = share(end.steal_s - start.steal_s)
    psi: dict[str, float | None] = {}
    for resource, total in end.stalled_s.items():
        before = start.stalled_s.get(resource)
        psi[resource] = None if total is None or before is None else 100 * (total - before) / seconds
    return Activity(seconds, start.loadavg, end.loadavg, foreign, steal, psi)


class StartGate:
    """Lets a run start when the machine has been quiet for a moment."""

    def __init__(self, limits: Limits, timeout_s: float, enabled: bool = True) -> None:
        self.limits = limits
        self.timeout_s = timeout_s
        self.enabled = enabled

    def wait(self) -> tuple[Activity, float]:
        """The quiet moment's record and how long it took to come; PerfError if it does not."""
        begin = time.monotonic()
        told = False
        while True:
            start = read_machine()
            own_start = sum(os.times()[:4])
            time.sleep(GATE_SAMPLE_SECONDS if self.enabled else 0)
            activity = activity_between(start, read_machine(), sum(os.times()[:4]) - own_start)
            waited = time.monotonic() - begin
            if not self.enabled:
                return activity, waited
            reasons = self.limits.exceeded(activity, before_run=True)
            if not reasons:
                return activity, waited
            if waited > self.timeout_s:
                raise PerfError(f"the machine did not become quiet within {self.timeout_s:g} s: "
                                f"{'; '.join(reasons)}: stop what else is running, or raise the limits")
            if not told:
                print(f"waiting for a quiet machine: {'; '.join(reasons)}", file=sys.stderr, flush=True)
                told = True


class MachineLock:
    """One A/B at a time on a machine: two would measure each other."""

    def __init__(self, path: str = DEFAULT_LOCK) -> None:
        self.path = path
        self._file: TextIO | None = None

    def __enter__(self) -> "MachineLock":
        self._file = self._open()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another measurement on this machine (lock {self.path})", file=sys.stderr,
                  flush=True)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        return self

    def _open(self) -> TextIO:
        try:
            # Without creating first: in a sticky folder one may not "create" another user's file.
            return open(self.path, "r", encoding="ascii")
        except FileNotFoundError:
            pass
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            return os.fdopen(descriptor, "r+", encoding="ascii")
        except OSError as error:
            raise PerfError(f"cannot open the lock {self.path}: {error.strerror}") from error

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def default_cpus() -> str | None:
    """CPUs to pin runs to: all but the first of those we may use, which does the system's chores;
    None where there are too few to spare one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 4:
        return None
    return ",".join(str(cpu) for cpu in allowed[1:])
