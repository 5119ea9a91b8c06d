"""Which rows miss what they are held to, and why: by figures of the same run, or, as far as the code tells, probably."""

from .figures import summary


def into_jetstream(row):
    """Processors are what these rows wait for, so the processor time of an event adds up to their ratio."""
    details, floor = row["details"], row["floor_ns"]
    own = details["harvester_cpu_ns"] + details["server_cpu_ns"]
    least = max(floor, own) if details["threads"] == 1 else floor + own
    return (f"harvester and server use {own:.1f} ns of processor time for an event, which is {least / floor:.2f} x the floor at best on two "
            "processors; beyond that, threads wait for a processor or for each other")


def uncompressed(row):
    return (f"the server alone uses {row['details']['server_cpu_ns']:.1f} ns of processor time for the 16 bytes of an event: reading them from its "
            "socket, their checksum, and writing them to its file")


def idle_on_kafka(row):
    of_library = row["details"].get("librdkafka_percent")
    return of_library and f"the threads of librdkafka, most of which wake up once a second, use {of_library:.3f} % of a core (median)"


REASONS = {
    "emit.sustained.nats.1t.raw": uncompressed,
    "emit.sustained.nats": into_jetstream,
    "emit.cold64k": "probably since an event also reads the switch of its type and the thread's place in the ring, which the walk has put out "
                    "of the nearest cache",
    "caliper": "probably the open mark, which is set and cleared",
    "archive.postgres.emitters": "probably the rows of `batches`, with three indexes, and `routes`, which a batch of 20 events costs as well as one "
                                 "of 25,000",
    "jetstream.summarise": "it is the restart: the Java machine's start, the connection and the reading of the checkpoint, one after another",
    "idle.emitter.kafka": idle_on_kafka,
    "sink.nats.cpu": "probably since a thread of the sink wakes up for acknowledgements as they come; the bare writev reads them when it has to",
}


def reason(row):
    known = next((REASONS[prefix] for prefix in REASONS if row["name"].startswith(prefix)), "")
    return known(row) if callable(known) else known


def verdicts(document):
    """Lines of a page: how many aims are met, and the rows that miss theirs."""
    missed = [f"- `{row['name']}` by {row['missed_by']:.0%}" + (f": {why}." if (why := reason(row)) else "")
              for row in document["rows"] if row.get("met") is False]
    return [f"{summary(document)}; missed:", "", *missed, ""] if missed else [f"{summary(document)}.", ""]
