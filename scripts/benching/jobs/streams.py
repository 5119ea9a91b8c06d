"""The same events on Kafka Streams, exactly once, as batches and as others write them: filtered and summarised."""

import tempfile

from ..limit import at_least
from ..processes import broker
from .java import measured
from .row import Case, Row

PARTITIONS = 4
EVENTS = {"streams.summarise": 96_000_000, "streams.json": 1_600_000, "streams.avro": 2_400_000, "streams.json.dsl": 200_000}
ROUNDS = 11
TIMED = "from a quarter of the backlog to 95 % of it, once each thread has its partitions and the first results are committed; by the "
CASES = [
    Case("streams.summarise", "batches on Kafka: the job summarise, its state durable per batch, the broker on the same 2 cores",
         limits=(at_least("per_s", 20e6), at_least("ratio:streams.json", 15), at_least("ratio:streams.avro", 10)),
         timed=TIMED + "events that the first stage has taken in"),
    Case("streams.json", "a JSON message per event: a processor with the same aggregates, put as often per event",
         timed=TIMED + "events in windows"),
    Case("streams.avro", "an Avro message per event, likewise", timed=TIMED + "events in windows"),
    Case("streams.json.dsl", "a JSON message per event, by the DSL's windowed aggregate", timed=TIMED + "events in windows"),
]


def measure(names, quick):
    wanted = [case for case in CASES if case.name in names or case.name in ("streams.json", "streams.avro") and
              "streams.summarise" in names]
    found = {}
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder, broker("kafka") as server:
        for case in wanted:
            kind = case.name.removeprefix("streams.").replace(".", "_").upper()
            address = server.url.removeprefix("kafka://")
            found |= measured("io.lifeline.jobs.bench.streams.StreamsBench", "--kind", kind, "--topic", f"bench.{kind.lower()}",
                              "--partitions", PARTITIONS, "--broker", address, "--broker-pid", server.pid, "--dir", folder,
                              "--events", EVENTS[case.name] // (10 if quick else 1), "--rounds", 1 if quick else ROUNDS,
                              options=("-Xmx2g",))
    return [row(case, found) for case in wanted]


def row(case, found):
    mine = found[case.name]
    rivals = ("streams.json", "streams.avro") if case.name == "streams.summarise" else ()
    return Row(case, mine["per_s"], {name: found[name]["per_core_s"] for name in rivals}, mine["per_core_s"], "per_core_s",
               {"events": mine["events"], "per_core_s_median": round(sorted(mine["per_core_s"])[len(mine["per_core_s"]) // 2])},
               set_up_share=mine["set_up_share"])
