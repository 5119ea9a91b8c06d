"""Legal batches for the sake of their headers."""

from dataclasses import replace

from .batches import CLOCK, TABLE1, base, vector, with_events, EVERY_TYPE
from .model import FLAGS, Constant, Event, EventType, Field, Parent, Segment


@vector("Everything that a header can hold, from a big-endian machine.")
def big_endian_header():
    return base(
        byte_order="big",
        flags=FLAGS["FINAL"] | FLAGS["RECOVERED"] | FLAGS["CLOCK_UNCERTAIN"] | FLAGS["DERIVED"],
        sequence=0x0102030405060708,
        pid=0x01020304,
        route=0x0102,
        route_name="detail",
        clock=1,
        parent=Parent(bytes(range(16)), 0x1112131415161718, 0x1112, 0x21222324, 4),
        context=[("session", "transfer-1")],
        counters=[0x0101010101010101 * n for n in range(12)],
    )


@vector("Empty host, program and route name; types and fields without units.")
def empty_header_text():
    return base(host="", program="", route_name="")


@vector("Texts as long as they may be: 255 bytes for names, keys and units, 4,096 for the rest.")
def text_at_the_limits():
    kind = EventType(
        1, "n" * 255, [Field("u32", "ü" * 127 + "f", "u" * 255)], [Constant("string", "c" * 255, "", "v" * 5000)]
    )
    context = [("k" * 255, "v" * 4096)]
    events = [Event(1, 5_000_000, [1])]
    return with_events([kind], events, host="h" * 4096, program="p" * 4096, route_name="r" * 4096, context=context)


@vector("40 threads in 81 segments: threads that come back, ids of 64 bits, segments without an event.")
def many_threads():
    segments = [Segment(0, [])]
    for n in range(80):
        thread = n % 40 + (2**63 if n % 40 == 39 else 1000)
        segments.append(Segment(thread, [Event(1, 5_000_000 + 10 * n + k, [n, k]) for k in range(n % 4)]))
    return base(segments=segments, counters=[sum(len(s.events) for s in segments)] + [0] * 11)


@vector("Descriptors and no events.")
def descriptors_only():
    return base(segments=[], counters=[0] * 12, types=[TABLE1, EVERY_TYPE])


@vector("Counters that moved with nothing to send: no descriptors, no events.")
def counters_only():
    return base(segments=[], types=[], sequence=9, counters=[1000 + n for n in range(12)])


@vector("16 counters: a reader prints all, and knows the first twelve.")
def more_counters():
    return base(counters=[4] + [2**64 - n for n in range(1, 16)])


@vector("Bytes behind the context that a later revision may add: a reader of this one skips them.", "meaning")
def header_extension():
    return base(extension=bytes(range(1, 22)), context=[("session", "s")])


@vector("Every ignored flag bit set: as if none were.", "meaning")
def ignored_flags():
    return base(flags=0xFF00 | FLAGS["FINAL"])


@vector("Made from another batch by a filter that kept 4 events of 1,000.")
def derived():
    parent = Parent(bytes.fromhex("f0e1d2c3b4a5968778695a4b3c2d1e0f"), 77, 0, 1000, 4)
    return base(flags=FLAGS["DERIVED"], parent=parent, route=1, route_name="slow-disks")


@vector("Context: the known keys, an empty value, and a key twice, of which the last counts.")
def context():
    return base(
        context=[
            ("session", "transfer-1"),
            ("parent", "night-copy"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("resource.rack", ""),
            ("session", "transfer-2"),
        ]
    )


@vector("The last batch of an emitter that died, written by lifeline-recover.")
def final_recovered():
    return base(
        flags=FLAGS["FINAL"] | FLAGS["RECOVERED"], sequence=1234, counters=[100, 3, 2, 1, 5, 4, 0, 0, 0, 0, 0, 0]
    )


@vector("The tick jumped without explanation.")
def clock_uncertain():
    wide = [CLOCK[0], replace(CLOCK[1], error_ns=4_000_000)]
    return base(flags=FLAGS["CLOCK_UNCERTAIN"], calibrations=wide)
