"""Faults of flags, lengths, calibrations and counts."""

import struct
from dataclasses import replace

from . import compression
from .batches import CLOCK, TABLE1, base, repetitive, with_events
from .faults import WHOLE, fault, patched
from .model import FLAGS, Calibration, EventType, Field, Image, Segment, build, fnv1a64, put_identity


def reserved_and_unknown():
    for bit in (4, 7, 16, 30):
        patched(f"flag-{bit}", "bad_flag", f"Reserved flag {bit}.", base(), "flags", "I", 1 << bit)
    about = "Flag 31, descriptors by hash, which version 1 does not read."
    patched("flag-descriptors-by-hash", "bad_flag", about, base(), "flags", "I", 1 << 31)
    patched("compression-3", "bad_flag", "Compression 3.", base(), "compression", "B", 3)
    lz4 = with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4, shuffle=16)
    patched("shuffle-odd", "bad_flag", "Shuffle 12, no multiple of 8.", lz4, "shuffle", "B", 12)
    patched("shuffle-136", "bad_flag", "Shuffle 136, above 128.", lz4, "shuffle", "B", 136)
    patched("shuffle-1", "bad_flag", "Differences of ticks in rows of 0 bytes.", lz4, "shuffle", "B", 1)
    patched("shuffle-137", "bad_flag", "Differences of ticks in rows of 136 bytes.", lz4, "shuffle", "B", 137)
    patched("shuffle-uncompressed", "bad_flag", "A shuffle without compression.", base(), "shuffle", "B", 16)
    patched("ticks-uncompressed", "bad_flag", "Differences of ticks without compression.", base(), "shuffle", "B", 17)
    patched("clock-2", "bad_flag", "Clock 2.", base(), "clock", "B", 2)
    image = build(base())
    image.data[image.at["reserved"] + 4] = 1
    image.seal()
    fault(
        "reserved-header", "bad_flag", "The last reserved byte of the header is set.", image, image.at["reserved"] + 4
    )
    patched("reserved-calibration", "bad_flag", "Bit 1 of a calibration's flags.", base(), "calibration1.flags", "I", 2)
    patched("reserved-parent-16", "bad_flag", "The parent's first reserved field.", WHOLE, "parent.reserved16", "H", 1)
    patched("reserved-parent-32", "bad_flag", "The parent's last reserved field.", WHOLE, "parent.reserved32", "I", 1)
    image = build(base())
    image.data[image.at["type0.reserved8"]] = 1
    identity = Image("little")
    put_identity(identity, TABLE1, "type")
    covered = image.data[image.at["type0.level"] :][: len(identity.data)]
    image.patch("type0.hash", "Q", fnv1a64(covered))
    fault(
        "reserved-descriptor-8",
        "bad_flag",
        "A descriptor's reserved byte, which its hash covers.",
        image,
        "type0.reserved8",
    )
    patched("reserved-descriptor-16", "bad_flag", "A descriptor's reserved u16.", base(), "type0.reserved16", "H", 1)


def lengths_and_counts():
    patched("sequence-0", "bad_length", "Sequence 0.", base(), "sequence", "Q", 0)
    fault_counters = build(base(counters=[4] + [0] * 10))
    fault("counters-11", "bad_length", "11 counters.", fault_counters, "counter_count")
    patched(
        "counters-beyond-header",
        "bad_length",
        "Counters run over the header's end.",
        base(),
        "counter_count",
        "H",
        65535,
    )
    about = "Calibrations run over the header's end."
    patched("calibrations-beyond-header", "bad_length", about, base(), "calibration_count", "H", 65535)
    patched(
        "segments-beyond-header",
        "bad_length",
        "Segments run over the header's end.",
        base(),
        "segment_count",
        "H",
        65535,
    )
    about = "Context in a header that ends, without padding, before it."
    patched("context-beyond-header", "bad_length", about, base(program="my_long_program_"), "context_count", "H", 1)
    patched("host-beyond-header", "bad_length", "The host runs over the header's end.", base(), "host", "H", 4000)

    image = build(base(host="", program="", route_name=""))
    image.patch("flags", "I", FLAGS["DERIVED"])
    fault("parent-beyond-header", "bad_length", "DERIVED in a header that has no room for a parent.", image, "host")

    image = build(base())
    header, entries = (
        struct.unpack_from("<I", image.data, image.at[n])[0] for n in ("header_length", "descriptors_length")
    )
    image.patch("header_length", "I", header + 4)
    image.patch("descriptors_length", "I", entries - 4)
    fault("header-length-odd", "bad_length", "A header_length that is no multiple of 8.", image, "header_length")

    image = build(base())
    image.patch("events_raw_length", "I", len(image.data) - 4 - image.at["events"] + 8)
    about = "Uncompressed events of two different lengths."
    fault("raw-length-differs", "bad_length", about, image, "events_raw_length")

    image = build(base(segments=[Segment(1, base().events()[:2]), Segment(2, base().events()[2:])]))
    image.patch("segment0.bytes", "I", 28)
    image.patch("segment1.bytes", "I", 36)
    fault("segment-odd", "bad_length", "Segments of 28 and 36 bytes, no multiples of 8.", image, "segment0.bytes")

    for name, value, about in (
        ("entry-short", 16, "A descriptor of 16 bytes."),
        ("entry-zero", 0, "A descriptor of 0 bytes."),
        ("entry-beyond-section", 2**32 - 8, "A descriptor that runs over its section's end."),
    ):
        patched(name, "bad_length", about, base(), "type0.entry_length", "I", value)
    image = build(base(types=[TABLE1, EventType(2, "second", [Field("u32", "n")])]))
    length = struct.unpack_from("<I", image.data, image.at["type0.entry_length"])[0]
    image.patch("type0.entry_length", "I", length - 1)
    fault("entry-odd", "bad_length", "A descriptor's length is no multiple of 8.", image, "type0.entry_length")
    patched(
        "entry-name-beyond", "bad_length", "A name that runs over its descriptor's end.", base(), "type0.name", "H", 250
    )

    image = with_longer_descriptor(build(base()))
    fault("entry-too-long", "bad_length", "A descriptor with 8 bytes more than it needs.", image, "type0.entry_length")


def with_longer_descriptor(image):
    """Eight more bytes between the only descriptor and the events, counted in as padding."""
    events = image.at["events"]
    image.data[events:events] = bytes(8)
    for name in ("total_length", "descriptors_length", "type0.entry_length"):
        value = struct.unpack_from("<I", image.data, image.at[name])[0]
        struct.pack_into("<I", image.data, image.at[name], value + 8)
    image.seal()
    return image


def calibrations():
    first, second = CLOCK

    def case(name, about, at, points, **changes):
        fault(name, "bad_calibration", about, build(base(calibrations=points, **changes)), at)

    case("calibration-none", "No calibration.", "calibration_count", [])
    case(
        "calibration-same-tick",
        "Two calibrations at one tick.",
        "calibration1.tick",
        [first, replace(second, tick=first.tick)],
    )
    backwards = [first, replace(second, tick=first.tick - 1)]
    case("calibration-tick-backwards", "A tick below the one before.", "calibration1.tick", backwards)
    earlier = replace(second, monotonic_ns=first.monotonic_ns - 1, realtime_offset_ns=first.realtime_offset_ns + 10)
    case(
        "calibration-monotonic-backwards",
        "Monotonic time goes backwards.",
        "calibration1.monotonic_ns",
        [first, earlier],
    )
    set_back = replace(second, realtime_offset_ns=first.realtime_offset_ns - 10**10)
    case(
        "calibration-realtime-backwards",
        "Realtime goes backwards without a step.",
        "calibration1.realtime_offset_ns",
        [first, set_back],
    )
    case(
        "calibration-first-steps",
        "The first calibration carries a step.",
        "calibration0.flags",
        [replace(first, flags=1), second],
    )
    beyond = [Calibration(1, 2**63 - 1, 1)]
    case("calibration-beyond-i64", "Realtime above i64.", "calibration0.realtime_offset_ns", beyond)
    below = [Calibration(1, 0, -(2**63)), Calibration(2, 2**64 - 1, 0)]
    case("calibration-monotonic-beyond-i64", "Monotonic time without a sum in i64.", "calibration1.monotonic_ns", below)
    steep = [Calibration(0, 0, 0), Calibration(2**32, 2**62, 0)]
    case("calibration-steep", "A slope of 2^62.", "calibration1.tick", steep)
    stepped = [Calibration(0, 0, 0), Calibration(2**32, 2**62, -(2**62), flags=1), Calibration(2**33, 2**62, -(2**62))]
    case(
        "calibration-steep-across-step",
        "A slope of 2^62, of monotonic time across a step.",
        "calibration1.tick",
        stepped,
    )
    case("tick-hz-0", "tick_hz 0.", "tick_hz", CLOCK, tick_hz=0)
    case("tick-hz-too-large", "tick_hz above 10^11.", "tick_hz", CLOCK, tick_hz=10**11 + 1)


def counts():
    patched(
        "event-count", "bad_count", "The header counts one event more than the segments.", base(), "event_count", "I", 5
    )
    patched(
        "segment-bytes",
        "bad_count",
        "Segments sum up to fewer bytes than there are.",
        base(),
        "segment0.bytes",
        "I",
        56,
    )
    about = "A segment's bytes overflow 32 bits back to the right sum."
    image = build(base(segments=[Segment(1, base().events()[:2]), Segment(2, base().events()[2:])]))
    image.patch("segment0.bytes", "I", 2**31 + 32)
    image.patch("segment1.bytes", "I", 2**31 + 32)
    fault("segment-bytes-overflow", "bad_count", about, image, "segment0.bytes")
    for name, said in (("records-more-than-said", 3), ("records-fewer-than-said", 5)):
        image = build(base())
        image.patch("event_count", "I", said)
        image.patch("segment0.events", "I", said)
        fault(name, "bad_count", f"4 records where header and segment say {said}.", image, "segment0.events")
    two = [Segment(1, base().events()[:2]), Segment(2, base().events()[2:])]
    image = build(base(segments=two))
    image.patch("segment0.events", "I", 1)
    image.patch("segment1.events", "I", 3)
    fault(
        "records-in-wrong-segment",
        "bad_count",
        "The sums are right, the segments' own counts are not.",
        image,
        "segment0.events",
    )
    image = build(base(segments=[Segment(1, [])]))
    image.patch("event_count", "I", 1)
    image.patch("segment0.events", "I", 1)
    fault("records-in-no-bytes", "bad_count", "A segment of 0 bytes that says 1 event.", image, "segment0.events")
