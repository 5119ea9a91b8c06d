"""What a short process under `lifeline run` costs more than alone."""

import contextlib
import os
import subprocess
import tempfile

from ..processes import BIN
from .programs import environment
from .row import Case, Row

CASES = [
    Case("start.process.short", "processor time that `cat /dev/null` takes more under `lifeline run`, into null:", unit="ms"),
    Case("start.process", "the same with `--emitters all`", unit="ms"),
    Case("start.process.off", "the same, switched off", unit="ms"),
]
OFF = {"start.process.off": {"LIFELINE": "off"}}
PAIRS, PAIRS_QUICK, RUNS = 15, 3, 4


@contextlib.contextmanager
def inherited(case, folder):
    """The environment that a program has under `lifeline run`, which goes on meanwhile."""
    which = "long" if case.name == "start.process.short" else "all"
    settings = {key: value for key, value in (os.environ | environment(URL="null:", RING_DIR=folder) | OFF.get(case.name, {})).items()
                if value is not None}
    command = [BIN / "lifeline-run", "--emitters", which, "sh", "-c", "/usr/bin/env -0; echo; read -r end"]
    with subprocess.Popen(command, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        text = ""
        while not text.endswith("\0\n"):
            text += running.stdout.readline()
        yield dict(entry.split("=", 1) for entry in text.rstrip("\n").split("\0") if entry)
        running.stdin.write("end\n")


def milliseconds(settings):
    """The process' time on processors, the mean of some runs."""
    total = 0.0
    for _ in range(RUNS):
        pid = os.posix_spawn("/bin/cat", ["cat", "/dev/null"], settings)
        _, status, usage = os.wait4(pid, 0)
        if status:
            raise RuntimeError(f"cat ended with status {status}")
        total += usage.ru_utime + usage.ru_stime
    return 1000 * total / RUNS


def rows(case, quick):
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.", dir="/dev/shm") as folder:  # as rings are by default
        plain = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
        with inherited(case, folder) as with_it:
            pairs = [(milliseconds(plain), milliseconds(with_it)) for _ in range(1 + (PAIRS_QUICK if quick else PAIRS))][1:]
    details = {"alone_ms": round(sorted(alone for alone, _ in pairs)[len(pairs) // 2], 3)}
    return [Row(case, [ours - alone for alone, ours in pairs], details=details)]
