"""The profile of the machine, kept with every figure: without it a figure says nothing."""

import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def first_line(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return "not installed"
    return (done.stdout + done.stderr).strip().split("\n")[0]


def field(path, pattern):
    match = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    return match[1].strip() if match else "unknown"


def profile():
    return {
        "measured": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": first_line("git", "rev-parse", "--short", "HEAD"),
        "cpu": field("/proc/cpuinfo", r"^model name\s*: (.*)$"),
        "cores": os.cpu_count(),
        "memory_gb": round(int(field("/proc/meminfo", r"^MemTotal:\s*(\d+)")) / 1e6),
        "virtual": "hypervisor" in field("/proc/cpuinfo", r"^flags\s*: (.*)$").split(),
        "system": field("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": platform.release(),
        "cc": first_line("cc", "--version"),
        "go": first_line("go", "version"),
        "java": first_line("java", "--version"),
    }


class Noise:
    """How much of the processors' time others took while something was measured: what was neither idle nor spent by
    this process' own children."""

    def __enter__(self):
        self._busy, self._own = self._read()
        return self

    def __exit__(self, *_):
        busy, own = self._read()
        elapsed = max(busy[1] - self._busy[1], 1)
        foreign = (busy[0] - self._busy[0]) - (own - self._own) * os.sysconf("SC_CLK_TCK")
        self.foreign_share = round(max(0.0, foreign / elapsed), 3)

    @staticmethod
    def _read():
        values = [int(value) for value in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        idle = values[3] + values[4]
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return (sum(values) - idle, sum(values)), own
