"""Finds stages that `check` can skip because their inputs have not changed since they last passed."""

import hashlib
import subprocess

from .command import ROOT

STAMPS = ROOT / "build/reports/unchanged"


def fingerprint(stage):
    """Of the names, sizes and times of the files that git tracks or would track in the stage's folders; None without git."""
    command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *stage.inputs]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    except (OSError, subprocess.CalledProcessError):
        return None
    digest = hashlib.sha256(stage.command.encode())
    for name in sorted(set(filter(None, names))):
        path = ROOT / name.decode(errors="surrogateescape")
        if path.is_file():
            status = path.stat()
            digest.update(b"%s %d %d\n" % (name, status.st_size, status.st_mtime_ns))
    return digest.hexdigest()


def is_unchanged(stage):
    stamp = STAMPS / stage.log_name
    return bool(stage.inputs) and stamp.is_file() and stamp.read_text() == fingerprint(stage)


def record(stage, mark):
    STAMPS.mkdir(parents=True, exist_ok=True)
    (STAMPS / stage.log_name).write_text(mark)
