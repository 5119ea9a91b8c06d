"""What scripts/bench-memcached measured."""

from ..limit import verdict_of
from .chart import Bar, chart
from .machine import sentence

NAMES = {"off": "Lifeline, without a URL", "lifeline": "Lifeline, to NATS", "lttng": "LTTng-UST", "otel": "OpenTelemetry C++"}
RECEIVERS = {"lifeline": "broker", "lttng": "session daemon and consumer"}


class Measured:
    def __init__(self, document):
        self.document = document
        self.rows = {row["name"]: row for row in document["rows"]}

    @property
    def ways(self):
        return [way for way in NAMES if f"{way}.cpu" in self.rows]

    def change(self, way, figure):
        """The median with its interval."""
        row = self.rows.get(f"{way}.{figure}")
        if row is None:
            return ""
        middle, digits, unit = (row["ns_median"], 0, "ns") if row["unit"] == "ns" else (row["value_median"], 1, "%")
        return " ".join([f"{middle:+,.{digits}f} {unit}", "[{:+,.{d}f}, {:+,.{d}f}]".format(*row["interval"], d=digits)])

    def details(self, way):
        return self.rows[f"{way}.cpu"]["details"]


def limits(document, verdict=verdict_of):
    """The judged rows, each with its verdict."""
    return [f"at most {row['at_most']:g} {row['unit']}: {verdict(row)}" for row in document["rows"] if "at_most" in row]


def summary(document):
    return "; ".join(limits(document, lambda row: verdict_of(row).partition(":")[0]))


def line(measured, way):
    details = measured.details(way)
    kept = f"{details['bytes']:.0f}" if details["bytes"] else ""
    receiver = f"{details['receiver_cpu_ns']:,.0f} ns, {RECEIVERS[way]}" if way in RECEIVERS else ""
    return (f"| {NAMES[way]} | {details['cpu_ns']:,.0f} ns | {measured.change(way, 'cpu')} | {measured.change(way, 'cpu.share')} | "
            f"{details['per_s']:,.0f} | {measured.change(way, 'rate')} | {measured.rows[f'{way}.cpu']['lost']:,} | {kept} | {receiver} |")


def plain_line(measured):
    details = measured.details(measured.ways[0])
    return f"| unchanged | {details['plain_cpu_ns']:,.0f} ns | | | {details['plain_per_s']:,.0f} | | | | |"


def page(document):
    measured = Measured(document)
    noise = max(row["noise"]["foreign"] for row in document["rows"])
    missing = [f"Not measured: {what}; its library is not installed.\n" for what in document["not_measured"]]
    return "\n".join([
        "# memcached with two events per request", "",
        f"memcached {document['version']}, built from Debian's source with four more lines, which `scripts/benching/memcached/change.py` "
        "inserts: a header, a call once a command is read, and one at each of the two places where a reply is complete. The first event has the connection, "
        "the command and the length of its key, the second one the connection, the reply's first word and its length. OpenTelemetry has "
        "them as one span with five attributes.", "",
        "The server has one thread for its clients and a processor of its own, which Lifeline's thread or OpenTelemetry's shares; client, "
        "broker and collector have the others. The client has 32 connections and sends a request when the previous one is answered: nine "
        "gets to a set, of 65,536 keys with values of 100 bytes; it compares every reply. CPU time is the server's for "
        f"{document['requests']:,} requests, until it has ended and so has sent all events; what its start and the first 65,536 sets cost is "
        "not in it.", "",
        f"In each of {document['rounds']} rounds the servers of all ways stand side by side and answer {document['slices']} times a part of the "
        "requests, in random order, so that what slows the machine down slows all of them down. A change is the median of the rounds' "
        "differences to memcached unchanged, with its 95 % interval by bootstrap. A limit is met if the whole interval is within it, missed if all of it is "
        "beyond, and otherwise not judged.", "",
        *[f"- CPU time added to a request by Lifeline on NATS, {verdict}" for verdict in limits(document)], "", *missing,
        "![CPU time of the server per request](memcached.svg)", "",
        "| | CPU per request | added | share | requests/s | fewer | events lost | bytes per request | CPU elsewhere per request |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        plain_line(measured), *[line(measured, way) for way in measured.ways], "",
        "Bytes are those that the broker stored, the files of the trace or the bodies of the requests to the collector. LTTng-UST discards "
        "events when its buffers are full, OpenTelemetry when its queue of 65,536 spans is (by default it has 2,048); Lifeline "
        "when a thread's ring is. LTTng-UST and Lifeline count them; OpenTelemetry does not, so exported spans are counted. A negative cost is "
        "no gain of measuring.", "",
        f"Command: `{document['command']}`, {document['seconds'] / 60:.0f} minutes; other processes took {noise:.0%} of the processors in the "
        f"median measurement. Machine: {sentence(document)}.", ""])


def plot(document):
    measured = Measured(document)
    plain = measured.details(measured.ways[0])["plain_cpu_ns"]
    bars = [Bar("memcached unchanged", plain, "floor", f"{plain:,.0f} ns")]
    for way in measured.ways:
        value = measured.details(way)["cpu_ns"]
        bars.append(Bar(NAMES[way], value, "others" if measured.rows[f"{way}.cpu"]["rival"] else "ours", f"{value:,.0f} ns"))
    return chart("CPU time of the server per request, two events in each", "ns", bars)
