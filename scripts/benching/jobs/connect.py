"""Messages per second from a JetStream stream to a topic of Kafka, exactly once: by the connector in a Connect worker, and
by a loop from consumer to producer without Connect."""

from ..limit import at_least
from ..processes import ROOT, broker
from .java import measured
from .row import Case, Row

LIB = ROOT / "connectors/bench/target/lib"
SIZES = {"128b": (128, 800_000, 60_000), "64k": (65_536, 5_000, 1_000)}
CASES = [
    Case(f"connect.jetstream_source.{size}", f"messages of {bytes_each} bytes by the connector JetStreamSource",
         unit="messages/s", limits=(at_least("ratio", 0.9),),
         timed="from a fifth of the messages in the topic to 95 % of them; connector or loop, and the topic, are new in each repetition")
    for size, (bytes_each, _, _) in SIZES.items()
]


def measure(names, quick):
    rows = []
    for case in CASES:
        if case.name not in names:
            continue
        bytes_each, many, few = SIZES[case.name.rpartition(".")[2]]
        with broker("nats") as server:
            found = measured(
                "io.lifeline.connect.bench.JetStreamSourceBench", "--nats", server.url, "--bytes", bytes_each,
                "--messages", few if quick else many, "--rounds", 2 if quick else 11, lib=LIB,
                options=("-Xmx2g", "-Dorg.slf4j.simpleLogger.logFile=System.err",
                         "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"))
        rows.append(Row(case, found["connector"]["per_s"], {"loop.bare": found["loop.bare"]["per_s"]},
                        set_up_share=found["connector"]["set_up_share"]))
    return rows
