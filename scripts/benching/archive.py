"""Rows per second from batches in memory to synced Parquet files, without a broker."""

import re
import tempfile

from .measurement import ROOT, Measurement
from .processes import run

LIB = ROOT / "stream-jobs/cli/target/lifeline-jobs/lib"


def measure(quick):
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        output = run("java", "-cp", f"{LIB}/*", "io.lifeline.jobs.archive.bench.ArchiveBench", "--dir", folder,
                     *(["--events", "400000", "--rounds", "2"] if quick else []))
    closing = re.search(r"^archive: median=([\d.]+) M rows/s min=([\d.]+) max=([\d.]+) rounds=(\d+)", output, re.MULTILINE)
    if not closing:
        raise RuntimeError(f"no figure in: {output[-500:]}")
    return [Measurement(
        "archive", "archive: batches to Parquet", float(closing[1]), "M rows/s", 0, "", 2,
        "almost all of it is DuckDB's encoding of fifteen columns as Parquet with zstd; checking, de-duplicating and "
        "decoding the batches is the small rest (see decode-java).",
        {"min": float(closing[2]), "max": float(closing[3]), "rounds": int(closing[4])})]
