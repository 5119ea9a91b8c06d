"""Runs the matrix of transfers, or some cells of it, and keeps what each showed in results/bottleneck/data.json."""

import argparse
import json
import secrets
import subprocess
import sys
import tempfile
from math import inf

from .. import machine
from ..machine import ROOT
from ..processes import broker, run, stream_jobs
from .answers import ours, papers_rule, truth
from .cells import READ_MB, WRITE_MB, matrix
from .programs import PROGRAMS
from .rig import lacking
from .series import series
from .transfer import transfer

REACHED = 0.9
DATA = ROOT / "results/bottleneck/data.json"


def alerts_of(url):
    """A function that gives the job's alerts about a session."""
    def read(session):
        lines = run(ROOT / "scripts/lifeline-jobs", "alerts", "--all", "--json", "--set", f"broker.url={url}").splitlines()
        return [alert for alert in map(json.loads, lines) if alert.get("group") == f"session={session}"]
    return read


def tried(cell, part, *arguments):
    """What the part gives; None if it failed, which costs no other cell its result."""
    try:
        return part(cell, *arguments)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"    FAILED: {cell.name}: {error}", file=sys.stderr, flush=True)
        return None


def measured(cells):
    """Runs the cells, then asks the archive about them; gives cell -> document of those that did not fail."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="lifeline-transfers.") as folder, broker("nats") as server:
        with stream_jobs(server.url, "bottleneck,archive", f"{folder}/archive"):
            for number, cell in enumerate(cells, 1):
                print(f"[{number}/{len(cells)}] {cell.name} ...", file=sys.stderr, flush=True)
                session = secrets.token_hex(16)
                if ran := tried(cell, transfer, server, session, alerts_of(server.url)):
                    found[cell] = ran, session
        documents = {cell: tried(cell, document, f"{folder}/archive", *ran) for cell, ran in found.items()}
    return {cell: found for cell, found in documents.items() if found}


def document(cell, archive, ran, session):
    """What one cell showed, for the page and for figures."""
    rows = series(archive, ran.began, ran.ended, PROGRAMS[cell.program].calipers)
    phases = []
    for (begin, end), alerts in zip(ran.phases(), ran.alerts):
        rates = {component: [row["rate"] for row in known if begin <= row["second"] * 1_000_000_000 < end]
                 for component, known in rows.items()}
        phases.append({"throughput": round(ran.throughput(begin, end)), "paper_rule": papers_rule(rates), "ours": ours(alerts), "alerts": alerts,
                       "seconds": round((end - begin) / 1e9, 1)})
    return {"name": cell.name, "program": cell.program, "resources": cell.resources, "streams": cell.streams,
            "condition": cell.condition, "seed": cell.seed, "session": session, "began": ran.began, "changed": ran.changed, "phases": phases,
            "link": ran.link, "noise": ran.noise, "series": rows, "commit": machine.profile()["commit"]}


def judge(documents):
    """Adds the truth to each phase: what the disks are set to, and what the same network carried from memory to memory, in one run
    or, if losses decide, in several."""
    carried = {}
    for cell in documents:
        if cell["resources"] == "memory to memory":
            for number, phase in enumerate(cell["phases"]):
                carried.setdefault((cell["program"], cell["streams"], cell["condition"], number), []).append(phase["throughput"])
    for cell in documents:
        for number, phase in enumerate(cell["phases"]):
            phase.pop("truth", None)
            networks = carried.get((cell["program"], cell["streams"], cell["condition"], number))
            if networks is None:
                continue
            phase["network"] = sorted(networks)
            disks = {"disk-read": READ_MB * 1e6 if cell["resources"] == "disk to disk" else inf,
                     "disk-write": WRITE_MB * 1e6 if cell["resources"] != "memory to memory" else inf}
            slowest = min(*networks, *disks.values())
            # where less arrives than the slowest carries, something else takes part; where the runs disagree, each may be right
            named = {name for network in networks for name in truth({**disks, "network": network})}
            phase["truth"] = sorted(named) if phase["throughput"] >= REACHED * slowest else []
    return documents


def main():
    parser = argparse.ArgumentParser(prog="scripts/results-bottleneck")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cells = [cell for cell in matrix(PROGRAMS) if not options.only or any(word in cell.name for word in options.only)]
    if not cells:
        parser.error("no cell has such a name (--list prints them all)")
    if options.list:
        print(*(cell.name for cell in cells), sep="\n")
        return
    if why := lacking("emulated-link", "slow-disk", "udt-tunnel"):
        raise SystemExit(f"results-bottleneck: {why}")
    fresh = list(measured(cells).values())
    failed = len(cells) - len(fresh)
    names = {cell["name"] for cell in fresh}
    old = json.loads(DATA.read_text())["cells"] if DATA.exists() else []
    order = [cell.name for cell in matrix(PROGRAMS)]
    cells = sorted([cell for cell in old if cell["name"] not in names and cell["name"] in order] + fresh,
                   key=lambda cell: order.index(cell["name"]))
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(json.dumps({"command": "scripts/results-bottleneck", "machine": machine.profile(), "cells": judge(cells)},
                               indent=1) + "\n")
    for cell in fresh:
        for phase in cell["phases"]:
            print(f"{cell['name']:45} {phase['throughput'] / 1e6:6.2f} MB/s  truth={'/'.join(phase.get('truth', ['?'])):12} "
                  f"job={phase['ours']['answer']:10} paper's rule={phase['paper_rule']}")
    print(run(ROOT / "scripts/results"), end="")
    if failed:
        raise SystemExit(f"results-bottleneck: {failed} cells failed")


if __name__ == "__main__":
    main()
