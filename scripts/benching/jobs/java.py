"""Runs the benchmarks of stream-jobs/bench and connectors/bench: each prints a line of JSON per row, {"name", "per_s": [...], ...}."""

import json

from ..processes import ROOT, run

LIB = ROOT / "stream-jobs/bench/target/lib"


def measured(main_class, *arguments, options=(), lib=LIB):
    """What a benchmark's main class in `lib` has measured, by row's name. `options` are the Java machine's."""
    if not lib.is_dir():
        raise RuntimeError("the benchmarks are not built: run scripts/build java")
    lines = run("java", "-XX:+ExitOnOutOfMemoryError", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", *options,
                "-cp", f"{lib}/*", main_class, *arguments).splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return {row.pop("name"): row for row in rows}
