"""Builds memcached unchanged, and copies of it with two events per request: python3 -m benching.memcached.build SOURCE JOBS"""

import hashlib
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..processes import ROOT, run
from .change import FILE, changed

TARGET = ROOT / "build/memcached"
HEADERS = ROOT / "emitter/bench/memcached"
LIFELINE = ROOT / "build/emitter/lib"
RIVALS = ROOT / "build/rivals/lib"
LOG = "changelog"  # of Debian, with the version


@dataclass(frozen=True)
class Copy:
    needs: Path  # what it is linked with; it is left out where that is missing
    include: tuple = ()
    libraries: tuple = ()


COPIES = {
    "lifeline": Copy(LIFELINE / "liblifeline.so", (ROOT / "emitter/include",),
                     (f"-L{LIFELINE}", "-llifeline", f"-Wl,-rpath,{LIFELINE}")),
    "lttng": Copy(RIVALS / "librequest-lttng.a", (), (RIVALS / "librequest-lttng.a", "-llttng-ust", "-ldl")),
    "otel": Copy(RIVALS / "librequest-otel.so", (), (f"-L{RIVALS}", "-lrequest-otel", f"-Wl,-rpath,{RIVALS}")),
}


def program(name):
    return TARGET / name / "memcached"


def version():
    """Debian's, of the source that was built."""
    found = re.match(r"memcached \(([^)]+)\)", (TARGET / "plain/debian" / LOG).read_text(encoding="utf-8"))
    return found[1]


def build_plain(source, jobs):
    folder = TARGET / "plain"
    wanted = hashlib.sha256(f"{ROOT} {(source / 'debian' / LOG).read_text(encoding='utf-8')}".encode()).hexdigest()
    stamp = folder / ".built"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True)
    run("./configure", "--disable-docs", "--disable-coverage", folder=folder)
    run("make", f"-j{jobs}", "memcached", folder=folder)
    stamp.write_text(wanted, encoding="utf-8")


def build_copy(name, copy):
    """Only the changed file is compiled again. Its headers are the system's, so that memcached's warnings do not apply to them."""
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TARGET / "plain", folder, symlinks=True)
    path = folder / FILE
    path.write_text(changed(path.read_text(encoding="utf-8")), encoding="utf-8")
    libraries = re.search(r"^LIBS = (.*)$", (folder / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    include = " ".join(f"-isystem {path}" for path in (HEADERS, HEADERS / name, *copy.include))
    run("make", "memcached", f"CPPFLAGS={include}", f"LIBS={libraries} {' '.join(map(str, copy.libraries))}", folder=folder)


def main():
    source, jobs = Path(sys.argv[1]), sys.argv[2]
    if not source.exists():
        print("left out: memcached's source is not here. Run scripts/setup --bench, which fetches it from Debian's mirror")
        return
    build_plain(source, jobs)
    for name, copy in COPIES.items():
        if copy.needs.exists():
            build_copy(name, copy)
        else:
            shutil.rmtree(TARGET / name, ignore_errors=True)
            print(f"left out: {name}, since {copy.needs.relative_to(ROOT)} is not built")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        raise SystemExit(f"memcached: {error}") from error
