"""Rows per second from batches in memory to synced Parquet files, without a broker."""

import re
import tempfile

from .jobs.java import LIB
from .measurement import Measurement
from .processes import run


def measure(quick, earlier):
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        output = run("java", "-cp", f"{LIB}/*", "io.lifeline.jobs.bench.ArchiveBench", "--dir", folder,
                     *(["--events", "400000", "--rounds", "2"] if quick else []))
    closing = re.search(r"^archive: median=([\d.]+) M rows/s min=([\d.]+) max=([\d.]+) rounds=(\d+)", output, re.MULTILINE)
    if not closing:
        raise RuntimeError(f"no figure in: {output[-500:]}")
    rate = float(closing[1])
    sentence = "decoding, de-duplication, DuckDB's encoding of all columns as Parquet with zstd, and the files' fsync."
    if "decode-java" in earlier:
        sentence = (f"decoding the batches is {rate / earlier['decode-java'].value:.0%} of the time; DuckDB's encoding of all "
                    "columns as Parquet with zstd, and the files' fsync, are the rest.")
    return [Measurement("archive", "archive: batches to Parquet", rate, "M rows/s", 0, "", "2", sentence,
                        {"min": float(closing[2]), "max": float(closing[3]), "rounds": int(closing[4])})]
