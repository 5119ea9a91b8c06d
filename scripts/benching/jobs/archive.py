"""Rows per second from batches in memory into the two archives: Parquet per core, PostgreSQL beside a bare COPY of the same
rows, in turns on one server that waits for its disk."""

import contextlib
import os
import tempfile

from ..limit import at_least
from ..processes import ROOT, run
from .java import measured
from .row import Case, Row

PARQUET = {
    "archive.parquet.5": (["--columns", 5], 5e6, "an event type of 5 columns (time, i32, f32, u32, i64)"),
    "archive.parquet.12": (["--columns", 12], 1e6, "an event type of 12 columns, two of them strings"),
    "archive.parquet.100types": (["--columns", 5, "--types", 100], 2e6, "100 event types of 5 columns that take turns"),
}
COPY = "copy.binary"
POSTGRES = Case("archive.postgres", "an event type of 5 columns; tables stand, rows and position are committed together",
                "rows/s", (at_least("ratio", 0.95),),
                timed="from the second batch, when the tables exist, to the commit of the last, which waits for the disk; of COPY the same rows, encoded before")
MANY = Case("archive.postgres.1000types", "1,000 event types that take turns, a table each", "rows/s", timed=POSTGRES.timed)
EMITTERS = Case("archive.postgres.emitters", "10,000 emitters, 20 events in a batch; the same events in batches of 25,000 by 8",
                "events/s", (at_least("ratio", 0.5),), timed=POSTGRES.timed)
FEW = "emitters.8"
CASES = [Case(name, f"{what}; per core, files synced", "rows/s", (at_least("per_s", least),),
              timed="the process' processor time, DuckDB's threads included, from the first batch into an open archive to its close")
         for name, (_, least, what) in PARQUET.items()] + [POSTGRES, MANY, EMITTERS]


@contextlib.contextmanager
def postgres():
    """A private server; gives the arguments that say where it is."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        server = f"{folder}/postgres"
        url = run(ROOT / "scripts/postgres", "start", "--dir", server, "--owner", os.getpid()).strip()
        try:
            yield ["--url", url, "--password-file", f"{server}/auth/lifeline.password"]
        finally:
            run(ROOT / "scripts/postgres", "remove", "--dir", server)


def parquet(case, quick):
    arguments, _, _ = PARQUET[case.name]
    short = ["--rounds", 2, "--million", 1] if quick else []
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        found = measured("io.lifeline.jobs.bench.ParquetBench", "--name", case.name, *arguments, *short, "--dir", folder,
                         options=["-Xmx2g"])[case.name]
    return Row(case, found.pop("per_s"), set_up_share=found.pop("set_up_share"), details=found)


def measure(names, quick):
    rows = [parquet(case, quick) for case in CASES if case.name in PARQUET and case.name in names]
    bench = "io.lifeline.jobs.bench.PostgresBench"
    if POSTGRES.name in names:
        with postgres() as where:
            found = measured(bench, *where, *(["--rounds", 2, "--million", 1] if quick else []))
        ours = found["archive.postgres"]
        rows.append(Row(POSTGRES, ours.pop("per_s"), {COPY: found[COPY]["per_s"]}, details=ours))
    if MANY.name in names:
        with postgres() as where:
            found = measured(bench, *where, "--types", 1000, "--rounds", 1 if quick else 3, "--million", 1)
        ours = found["archive.postgres"]
        rows.append(Row(MANY, ours.pop("per_s"), details=ours))
    if EMITTERS.name in names:
        with postgres() as where:
            found = measured("io.lifeline.jobs.bench.EmittersBench", *where, *(["--rounds", 2] if quick else []))
        ours = found[EMITTERS.name]
        rows.append(Row(EMITTERS, ours.pop("per_s"), {FEW: found[FEW]["per_s"]}, details=ours))
    return rows
