"""Which rows miss what they are held to, and why: by figures of the same run, or, as far as the code tells, probably."""

from .figures import number, summary

ONE = {"emitters": "emitter", "processes": "process", "types": "type"}


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


def size(row):
    """The last part of its name: so many emitters, processes or types."""
    return int(row["name"].rpartition(".")[2].replace("k", "000"))


def of_growth(row, document):
    """What each further one takes between the least and the greatest size."""
    figure = row["name"].rpartition(".")[0]
    sizes = sorted((each for each in document["rows"]
                    if each["name"].rpartition(".")[0] == figure and each["commit"] == row["commit"]), key=size)
    least, greatest = sizes[0], sizes[-1]
    parts = [each["events"] if figure.endswith(".cpu") else size(each) for each in (least, greatest)]
    more = greatest["median"] * parts[1] - least["median"] * parts[0]
    if parts[0] == parts[1] or more < 0:
        return ""
    dimension = figure.split(".")[1]
    one = "batch" if figure.endswith(".cpu") else ONE[dimension]
    return (f"from {size(least):,} to {size(greatest):,} {dimension} each further {one} takes "
            f"{number(more / (parts[1] - parts[0]), row['unit'])}")


def of_load(row):
    dropped = row["details"].get("load_dropped_percent")
    return dropped and f"probably for want of processor time: {dropped} % of the load was dropped, too"


def beside_copy(row):
    more_ns = 1e9 / row["per_s_median"] - 1e9 / row["baselines"][0]["per_s_median"]
    return f"a row takes {more_ns:.0f} ns more than with COPY, whose rows are encoded before the watch starts"


def decoded(row):
    event_ns, floor_ns = 1e9 / row["per_s_median"], 1e9 / row["baselines"][0]["per_s_median"]
    return f"an event takes {event_ns:.1f} ns, of which reading its bytes once is {floor_ns:.1f}; the rest is checks and conversions"


REASONS = {
    "answer.": of_load,
    "emit.sustained.nats.1t.raw": uncompressed,
    "emit.sustained.nats": into_jetstream,
    "emit.cold64k": "probably since an event also reads the switch of its type and the thread's place in the ring, which the walk has put out "
                    "of the nearest cache",
    "caliper": "probably the open mark, which is set and cleared",
    "archive.postgres.emitters": "probably the rows of `batches`, with three indexes, and `routes`, which a batch of 20 events costs as well as one "
                                 "of 25,000",
    "archive.postgres": beside_copy,
    "decode.java.full": "probably the strings, whose lengths are read one after another",
    "decode.java": decoded,
    "jetstream.summarise": "it is the restart: the Java machine's start, the connection and the reading of the checkpoint, one after another",
    "idle.emitter.kafka": idle_on_kafka,
    "sink.nats.cpu": "probably since a thread of the sink wakes up for acknowledgements as they come; the bare writev reads them when it has to",
}


def reason(row, document):
    if row["name"].startswith("scale.") and row["name"].split(".")[1] in ONE:
        return of_growth(row, document)
    known = next((REASONS[prefix] for prefix in REASONS if row["name"].startswith(prefix)), "")
    return known(row) if callable(known) else known


def verdicts(document):
    """Lines of a page: how many aims are met, and the rows that miss theirs, those with the same reason in one line."""
    missed = {}
    for row in document["rows"]:
        if row.get("met") is False:
            why = reason(row, document)
            missed.setdefault(why or row["name"], (why, []))[1].append(f"`{row['name']}` by {row['missed_by']:.0%}")
    lines = [f"- {', '.join(rows)}" + (f": {why}." if why else "") for why, rows in missed.values()]
    return [f"Aims: {summary(document)}.", "", *(["Missed:", "", *lines, ""] if lines else [])]
