"""Which rows miss what they are held to, and why, where that is known."""

from .figures import summary


def into_jetstream(rows):
    """Processors are all that these rows wait for, so the processor time of an event adds up to what they show."""
    own, floor = rows["cpu.harvester.nats"]["ns_median"] + rows["cpu.server.nats"]["ns_median"], rows["emit.sustained.nats.1t"]["floor_ns"]
    return (f"an event costs the harvester and the server {own:.1f} ns of processor time together. Beside one thread that emits, a processor is left "
            f"for them: {own / floor:.2f} x the floor of {floor:.1f} ns. With two, all share both: {(floor + own) / floor:.2f} x. On another day or machine "
            "the ratio is another one because the server's and the harvester's time is")


REASONS = {
    "emit.sustained.nats.1t.raw": "the server's processor time for 16 bytes, most of it in the kernel and for its checksums, is alone above the limit",
    "emit.sustained.nats": into_jetstream,
}


def reason(row, rows):
    known = next((REASONS[prefix] for prefix in REASONS if row["name"].startswith(prefix)), "")
    return known(rows) if callable(known) else known


def verdicts(document):
    """Lines of a page: how many aims are met, and the rows that miss theirs."""
    rows = {row["name"]: row for row in document["rows"]}
    missed = [f"- `{row['name']}` by {row['missed_by']:.0%}" + (f": {why}." if (why := reason(row, rows)) else "")
              for row in document["rows"] if row.get("met") is False]
    return [f"{summary(document)}; missed:", "", *missed, ""] if missed else [f"{summary(document)}.", ""]
