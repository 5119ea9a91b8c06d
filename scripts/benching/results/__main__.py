"""Writes every page and plot that the measurements suffice for."""

import json
import sys

from ..machine import ROOT
from . import bottleneck, calipers, console
from . import emitter as emitter_page
from . import fileserver, jobs, memcached, overview, pipeline, scale, table1, table2, transfers, triggers

RESULTS = ROOT / "results"


def pages(bench):
    """Name of the file -> its text."""
    found = {}
    measured = emitter_page.Emitter(bench["emitter"]) if "emitter" in bench else None
    if measured:
        for name, page in (("emitter", emitter_page), ("netlogger-table-1", table1), ("netlogger-table-2", table2),
                           ("triggers", triggers)):
            missing = [row for row in getattr(page, "NEEDED", ()) if row not in measured]
            if missing:
                raise SystemExit(f"results: emitter.json has no row {missing[0]}: run make bench-emitter")
            found[f"{name}.md"] = page.page(measured)
            found[f"{name}.svg"] = page.plot(measured)
        if calipers.ROW in measured:
            found["calipers.md"] = calipers.page(measured)
            found["calipers.svg"] = calipers.plot(measured)
    if "jobs" in bench:
        found["jobs.md"] = jobs.page(bench["jobs"], bench.get("scale"))
        found["jobs.svg"] = jobs.plot(bench["jobs"])
    if "scale" in bench:
        found["scale.svg"] = scale.plot(bench["scale"])
    if "console" in bench:
        found["console.md"] = console.page(bench["console"])
        found["console.svg"] = console.plot(bench["console"])
    served = bench.get("file-server")
    if served:
        found["netlogger-table-3.md"] = fileserver.page(served)
        found["netlogger-table-3.svg"] = fileserver.plot(served)
    program = bench.get("memcached")
    if program:
        found["memcached.md"] = memcached.page(program)
        found["memcached.svg"] = memcached.plot(program)
    single = [bench[name] for name in sorted(bench) if name not in ("emitter", "jobs", "scale", "console", "file-server", "memcached")]
    if single:
        found["pipeline.md"] = pipeline.page(single)
    validated = RESULTS / "validation" / "bottleneck.json"
    validation = json.loads(validated.read_text(encoding="utf-8")) if validated.exists() else None
    if validation:
        found["bottleneck.md"] = bottleneck.page(validation)
    matrix = transfers.load(RESULTS / "bottleneck" / "data.json")
    if matrix:
        found["bottleneck/README.md"] = transfers.page(matrix)
        found |= {f"bottleneck/{name}": picture for name, picture in transfers.figures(matrix).items()}
    found["README.md"] = overview.page(single, measured, bench.get("jobs"), validation, bench.get("console"), matrix, served, program, bench.get("scale"))
    return found


def main():
    bench = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS / "bench").glob("*.json"))}
    if not bench:
        print("results: results/bench/ holds no measurement: run make bench-emitter, make bench-jobs, make bench-scale, make bench-console and make bench",
              file=sys.stderr)
        return 1
    found = pages(bench)
    for name, text in found.items():
        (RESULTS / name).write_text(text, encoding="utf-8")
    print(f"results: {len(bench)} measurements, {len(found)} files written to results/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
