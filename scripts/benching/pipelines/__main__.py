"""Runs real pipelines with a known bottleneck, and compares what the job `bottleneck` and the report answer."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from ..processes import BIN, ROOT, broker, changed_environment, run, stream_jobs
from .scenarios import ALL

AT_ONCE = 6  # they mostly sleep
COMPONENTS = ",".join(f"{stage}={kind}.{stage}" for kind in ("stage", "step") for stage in "abcd")
LARGEST_CHANCE = 0.01


def start(scenario, session, url, folder):
    environment = {"LIFELINE_URL": url, "LIFELINE_CONTEXT": f"session={session}", "LIFELINE_RING_DIR": f"{folder}/rings-{session}",
                   "LIFELINE_RESOLUTION": "stage.* summary interval=1s"}
    command = [BIN / "pipeline", scenario.kind, scenario.seconds, scenario.queue, *scenario.stages.split()]
    return subprocess.Popen([str(part) for part in command], env=changed_environment(environment), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def batches(scenarios):
    """Lists of those that run at the same time."""
    together = [scenario for scenario in scenarios if not scenario.alone]
    yield from (together[at:at + AT_ONCE] for at in range(0, len(together), AT_ONCE))
    yield from ([scenario] for scenario in scenarios if scenario.alone)


def alerts_by_group(url):
    found = {}
    for line in run(ROOT / "scripts/lifeline-jobs", "alerts", "--all", "--json", "--set", f"broker.url={url}").splitlines():
        alert = json.loads(line)
        found.setdefault(alert.get("group"), []).append(alert)
    return found


def faults(scenario, alerts, reported):
    """What is wrong with the answers to a scenario."""
    on = [alert for alert in alerts if alert["state"] == "on"]
    named = on[0]["subject"] if on else None
    if named != scenario.limit:
        yield f"the job says {named}"
    if reported != named:
        yield f"the report says {reported}"
    if not scenario.moves and any(alert["subject"] != scenario.limit for alert in alerts):
        yield f"the job said {', '.join(alert['subject'] for alert in alerts)} meanwhile"
    if any(alert["chance"] > LARGEST_CHANCE for alert in on):
        yield f"chance {max(alert['chance'] for alert in on)}"


def reports(archive):
    said = run(ROOT / "scripts/lifeline-jobs", "report", "--archive", archive, "--json", "--set",
               f"bottleneck.components={COMPONENTS}")
    return {answer["group"]: answer["component"] for answer in json.loads(said)["bottlenecks"]}


def main():
    parser = argparse.ArgumentParser(prog="scripts/validate-bottleneck")
    parser.add_argument("--only", default="")
    chosen = [scenario for scenario in ALL if parser.parse_args().only in scenario.name]
    seen, truths = {}, {}
    with tempfile.TemporaryDirectory(prefix="lifeline-pipelines.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        archive = f"{folder}/archive"
        with broker("nats") as server:
            with stream_jobs(server.url, "bottleneck,archive", archive, f"bottleneck.components={COMPONENTS}"):
                for batch in batches(chosen):
                    running = {f"s{ALL.index(scenario)}": scenario for scenario in batch}
                    print(f"{', '.join(scenario.name for scenario in batch)} ...", file=sys.stderr, flush=True)
                    processes = {session: start(scenario, session, server.url, folder) for session, scenario in running.items()}
                    for session, process in processes.items():
                        out, errors = process.communicate(timeout=300)
                        if process.returncode:
                            raise RuntimeError(f"pipeline ended with {process.returncode}: {errors}")
                        truths[session] = out.strip()
                    alerts = alerts_by_group(server.url)
                    seen.update((session, alerts.get(f"session={session}", [])) for session in running)
        reported = reports(archive)
    wrong = 0
    print("| pipeline | measured by | limit | the job says | what it did | verdict |\n| --- | --- | --- | --- | --- | --- |")
    for scenario in chosen:
        session = f"s{ALL.index(scenario)}"
        found = list(faults(scenario, seen[session], reported.get(f"session={session}")))
        wrong += bool(found)
        said = next((alert for alert in seen[session] if alert["state"] == "on"), None)
        answer = f"{said['subject']}, chance {said['chance']:.1g}" if said else "none"
        print(f"| {scenario.name} | {scenario.kind} | {scenario.limit or 'none'} | {answer} | {truths[session]} | "
              f"{'; '.join(found) or 'right'} |")
    print(f"{len(chosen)} scenarios, {wrong} wrong")
    return int(wrong > 1)


if __name__ == "__main__":
    sys.exit(main())
