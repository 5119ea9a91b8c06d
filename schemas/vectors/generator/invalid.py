"""The batches that a reader must reject, each with exactly one fault and, unless that is the fault, a true CRC."""

import struct
from dataclasses import dataclass, replace

from . import compression
from .model import FLAGS, Calibration, Constant, Event, EventType, Field, Image, Parent, Segment, build, fnv1a64, put_identity
from .valid import BLOB, CLOCK, LARGEST_STRING, TABLE1, base, repetitive, with_events


@dataclass
class Fault:
    data: bytes
    code: str
    offset: int
    about: str


FAULTS = {}


def fault(name, code, about, image, at, data=None):
    """`at` is the offset of the fault, or the name of the part that has it."""
    assert name not in FAULTS, name
    offset = image.at[at] if isinstance(at, str) else at
    FAULTS[name] = Fault(bytes(image.data if data is None else data), code, offset, about)


def patched(name, code, about, batch, part, number_format, value):
    image = build(batch)
    image.patch(part, number_format, value)
    fault(name, code, about, image, part)


WHOLE = replace(
    base(),
    flags=FLAGS["DERIVED"],
    parent=Parent(bytes(range(16)), 1, 0, 9, 4),
    context=[("session", "transfer-1")],
    types=[TABLE1, EventType(2, "second", [Field("u32", "n", "B")], [Constant("string", "stage", "", "net")])],
)


def cut(image, at):
    return bytes(image.data[:at])


def message_cut_short():
    image = build(WHOLE)
    inside = {
        "magic": 3,
        "fixed-header": 50,
        "counters": image.at["counter3"] + 4,
        "calibrations": image.at["calibration1.tick"] + 4,
        "segments": image.at["segment0.thread"] + 4,
        "parent": image.at["parent"] + 4,
        "host": image.at["host"] + 4,
        "context": image.at["context0.value"] + 4,
        "descriptors": image.at["type1.name"] + 4,
        "events": image.at["event2"] + 4,
        "crc": image.at["crc"] + 3,
    }
    fault("truncated-empty", "truncated", "A message of no bytes.", image, 0, b"")
    for section, at in inside.items():
        fault(f"truncated-{section}", "truncated", f"The message ends inside its {section}.", image, at, cut(image, at))


def fixed_header():
    patched("magic", "bad_magic", "Another magic.", base(), "magic", "I", 0x424C4C88)
    patched("version-0", "bad_version", "Version 0.", base(), "version", "B", 0)
    patched("version-2", "bad_version", "Version 2.", base(), "version", "B", 2)
    patched("byte-order", "bad_flag", "Byte order 2.", base(), "byte_order", "B", 2)

    types = [BLOB]
    events = [Event(1, 5_000_000 + n, ["a" * LARGEST_STRING]) for n in range(29)]
    without_last = len(build(with_events(types, events)).data)
    last = Event(1, 6_000_000, ["a" * (960_004 - without_last - 10)])
    image = build(with_events(types, events + [last]))
    assert len(image.data) == 960_004
    fault("too-large-batch", "too_large", "960,004 bytes: one step above the largest batch.", image, "total_length")

    events = [Event(1, 5_000_000 + n, ["a" * LARGEST_STRING]) for n in range(32)] + [Event(1, 5_000_000, ["a"])]
    image = build(with_events(types, events, compression="zstd", compress=compression.zstd))
    fault("too-large-events", "too_large", "1,048,592 bytes of events before compression.", image, "events_raw_length")

    image = build(base())
    fault("longer-than-total", "bad_length", "8 bytes follow the batch.", image, len(image.data), bytes(image.data) + bytes(8))

    image = build(base())
    lengths = struct.unpack_from("<I", image.data, image.at["header_length"])[0] + 2**31
    image.patch("header_length", "I", lengths)
    image.patch("descriptors_length", "I", struct.unpack_from("<I", image.data, image.at["descriptors_length"])[0] + 2**31)
    about = "Lengths whose sum is right only in 32 bits."
    fault("lengths-overflow", "bad_length", about, image, "header_length")

    image = build(base())
    image.data[-1] ^= 1
    fault("crc", "bad_crc", "One bit of the CRC is wrong.", image, "crc")
    image = build(base())
    image.data[image.at["event1.field0"]] ^= 0x10
    fault("crc-of-changed-event", "bad_crc", "One bit of an event's field was turned on the way.", image, "crc")
    big = build(base(byte_order="big"))
    big.data[-4:] = big.data[:-5:-1]
    fault("crc-byte-order", "bad_crc", "A big-endian batch whose CRC is little-endian.", big, "crc")


def reserved_and_unknown():
    for bit in (4, 7, 16, 30):
        patched(f"flag-{bit}", "bad_flag", f"Reserved flag {bit}.", base(), "flags", "I", 1 << bit)
    about = "Flag 31, descriptors by hash, which version 1 does not read."
    patched("flag-descriptors-by-hash", "bad_flag", about, base(), "flags", "I", 1 << 31)
    patched("compression-3", "bad_flag", "Compression 3.", base(), "compression", "B", 3)
    lz4 = with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4, shuffle=16)
    patched("shuffle-odd", "bad_flag", "Shuffle 12, no multiple of 8.", lz4, "shuffle", "B", 12)
    patched("shuffle-136", "bad_flag", "Shuffle 136, above 128.", lz4, "shuffle", "B", 136)
    patched("shuffle-uncompressed", "bad_flag", "A shuffle without compression.", base(), "shuffle", "B", 16)
    patched("clock-2", "bad_flag", "Clock 2.", base(), "clock", "B", 2)
    image = build(base())
    image.data[image.at["reserved"] + 4] = 1
    image.seal()
    fault("reserved-header", "bad_flag", "The last reserved byte of the header is set.", image, image.at["reserved"] + 4)
    patched("reserved-calibration", "bad_flag", "Bit 1 of a calibration's flags.", base(), "calibration1.flags", "I", 2)
    patched("reserved-parent-16", "bad_flag", "The parent's first reserved field.", WHOLE, "parent.reserved16", "H", 1)
    patched("reserved-parent-32", "bad_flag", "The parent's last reserved field.", WHOLE, "parent.reserved32", "I", 1)
    image = build(base())
    image.data[image.at["type0.reserved8"]] = 1
    identity = Image("little")
    put_identity(identity, TABLE1, "type")
    covered = image.data[image.at["type0.level"] :][: len(identity.data)]
    image.patch("type0.hash", "Q", fnv1a64(covered))
    fault("reserved-descriptor-8", "bad_flag", "A descriptor's reserved byte, which its hash covers.", image, "type0.reserved8")
    patched("reserved-descriptor-16", "bad_flag", "A descriptor's reserved u16.", base(), "type0.reserved16", "H", 1)


def lengths_and_counts():
    patched("sequence-0", "bad_length", "Sequence 0.", base(), "sequence", "Q", 0)
    fault_counters = build(base(counters=[4] + [0] * 10))
    fault("counters-11", "bad_length", "11 counters.", fault_counters, "counter_count")
    patched("counters-beyond-header", "bad_length", "Counters run over the header's end.", base(), "counter_count", "H", 65535)
    about = "Calibrations run over the header's end."
    patched("calibrations-beyond-header", "bad_length", about, base(), "calibration_count", "H", 65535)
    patched("segments-beyond-header", "bad_length", "Segments run over the header's end.", base(), "segment_count", "H", 65535)
    about = "Context in a header that ends, without padding, before it."
    patched("context-beyond-header", "bad_length", about, base(program="my_long_program_"), "context_count", "H", 1)
    patched("host-beyond-header", "bad_length", "The host runs over the header's end.", base(), "host", "H", 4000)

    image = build(base(host="", program="", route_name=""))
    image.patch("flags", "I", FLAGS["DERIVED"])
    fault("parent-beyond-header", "bad_length", "DERIVED in a header that has no room for a parent.", image, "host")

    image = build(base())
    header, entries = (struct.unpack_from("<I", image.data, image.at[n])[0] for n in ("header_length", "descriptors_length"))
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
    patched("entry-name-beyond", "bad_length", "A name that runs over its descriptor's end.", base(), "type0.name", "H", 250)

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
    case("calibration-same-tick", "Two calibrations at one tick.", "calibration1.tick", [first, replace(second, tick=first.tick)])
    backwards = [first, replace(second, tick=first.tick - 1)]
    case("calibration-tick-backwards", "A tick below the one before.", "calibration1.tick", backwards)
    earlier = replace(second, monotonic_ns=first.monotonic_ns - 1, realtime_offset_ns=first.realtime_offset_ns + 10)
    case("calibration-monotonic-backwards", "Monotonic time goes backwards.", "calibration1.monotonic_ns", [first, earlier])
    set_back = replace(second, realtime_offset_ns=first.realtime_offset_ns - 10**10)
    case("calibration-realtime-backwards", "Realtime goes backwards without a step.", "calibration1.realtime_offset_ns", [first, set_back])
    case("calibration-first-steps", "The first calibration carries a step.", "calibration0.flags", [replace(first, flags=1), second])
    beyond = [Calibration(1, 2**63 - 1, 1)]
    case("calibration-beyond-i64", "Realtime above i64.", "calibration0.realtime_offset_ns", beyond)
    below = [Calibration(1, 0, -(2**63)), Calibration(2, 2**64 - 1, 0)]
    case("calibration-monotonic-beyond-i64", "Monotonic time without a sum in i64.", "calibration1.monotonic_ns", below)
    steep = [Calibration(0, 0, 0), Calibration(2**32, 2**62, 0)]
    case("calibration-steep", "A slope of 2^62.", "calibration1.tick", steep)
    stepped = [Calibration(0, 0, 0), Calibration(2**32, 2**62, -(2**62), flags=1), Calibration(2**33, 2**62, -(2**62))]
    case("calibration-steep-across-step", "A slope of 2^62, of monotonic time across a step.", "calibration1.tick", stepped)
    case("tick-hz-0", "tick_hz 0.", "tick_hz", CLOCK, tick_hz=0)
    case("tick-hz-too-large", "tick_hz above 10^11.", "tick_hz", CLOCK, tick_hz=10**11 + 1)


def counts():
    patched("event-count", "bad_count", "The header counts one event more than the segments.", base(), "event_count", "I", 5)
    patched("segment-bytes", "bad_count", "Segments sum up to fewer bytes than there are.", base(), "segment0.bytes", "I", 56)
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
    fault("records-in-wrong-segment", "bad_count", "The sums are right, the segments' own counts are not.", image, "segment0.events")
    image = build(base(segments=[Segment(1, [])]))
    image.patch("event_count", "I", 1)
    image.patch("segment0.events", "I", 1)
    fault("records-in-no-bytes", "bad_count", "A segment of 0 bytes that says 1 event.", image, "segment0.events")


def texts():
    bad = b"caf\xe9"

    def case(name, about, at, batch):
        fault(name, "bad_text", about, build(batch), at)

    case("text-host", "A host in Latin-1.", "host", base(host=bad))
    case("text-program", "A program with an overlong sequence.", "program", base(program=b"\xc0\xaf"))
    case("text-route", "A route name with a surrogate.", "route_name", base(route_name=b"\xed\xa0\x80"))
    case("text-context-key", "A context key cut inside a sequence.", "context0.key", base(context=[(b"key\xe2\x82", "v")]))
    case("text-context-value", "A context value above U+10FFFF.", "context0.value", base(context=[("k", b"\xf4\x90\x80\x80")]))
    case("text-context-key-empty", "An empty context key.", "context0.key", base(context=[("", "v")]))
    case("text-context-key-long", "A context key of 256 bytes.", "context0.key", base(context=[("k" * 256, "v")]))
    case("text-context-value-long", "A context value of 4,097 bytes.", "context0.value", base(context=[("k", "v" * 4097)]))
    case("text-host-long", "A host of 4,097 bytes.", "host", base(host="h" * 4097))

    def typed(name, about, kind, at):
        case(name, about, at, base(types=[kind], segments=[], counters=[0] * 12))

    typed("text-type-name", "A type's name in Latin-1.", EventType(1, bad), "type0.name")
    typed("text-type-name-empty", "A type without a name.", EventType(1, ""), "type0.name")
    typed("text-type-name-long", "A type's name of 256 bytes.", EventType(1, "n" * 256), "type0.name")
    typed("text-field-name", "A field's name in Latin-1.", EventType(1, "e", [Field("u32", bad)]), "type0.part0")
    typed("text-field-name-empty", "A field without a name.", EventType(1, "e", [Field("u32", "")]), "type0.part0")
    typed("text-unit", "A unit in Latin-1.", EventType(1, "e", [Field("u32", "f", b"\xb5s")]), "type0.part0")
    typed("text-unit-long", "A unit of 256 bytes.", EventType(1, "e", [Field("u32", "f", "u" * 256)]), "type0.part0")
    constant = Constant("string", "c", "", bad)
    typed("text-constant", "A string constant in Latin-1.", EventType(1, "e", [], [constant]), "type0.part0.value")


def descriptors():
    def case(name, about, at, *types):
        fault(name, "bad_descriptor", about, build(base(types=[TABLE1, *types])), at)

    case("type-number-0", "Type number 0.", "type1.number", EventType(0, "zero"))
    case("type-number-twice", "A type number twice.", "type1.number", EventType(1, "again"))
    case("level-0", "Level 0.", "type1.level", EventType(2, "e", level=0))
    case("level-9", "Level 9.", "type1.level", EventType(2, "e", level=9))
    case("field-type-0", "Field type 0.", "type1.part0", EventType(2, "e", [Field(0, "f")]))
    case("field-type-10", "Field type 10.", "type1.part0", EventType(2, "e", [Field(10, "f")]))
    unknown = EventType(2, "e", [], [Constant(10, "c", "", bytes(24))])
    case("constant-type-10", "A constant of type 10, so that its end cannot be told.", "type1.part0", unknown)
    case("field-twice", "Two fields of one name.", "type1.part1", EventType(2, "e", [Field("u32", "f"), Field("u64", "f")]))
    both = EventType(2, "e", [Field("u32", "f")], [Constant("u32", "f", "", 1)])
    case("field-named-like-constant", "A constant named like a field.", "type1.part1", both)
    patched("hash", "bad_descriptor", "A hash that is not the type's.", base(), "type0.hash", "Q", 0x0123456789ABCDEF)
    case("constant-bool", "A bool constant of 2.", "type1.part0.value", EventType(2, "e", [], [Constant("bool", "c", "", 2)]))


def compressions():
    def case(name, about, batch):
        fault(name, "bad_compression", about, build(batch), "events")

    def packed(kind, compress, **changes):
        return with_events([TABLE1], repetitive(30), compression=kind, compress=compress, **changes)

    case("lz4-cut", "An LZ4 block cut short.", packed("lz4", lambda raw: compression.lz4(raw)[:-3]))
    case("lz4-too-few", "An LZ4 block of 8 bytes fewer than events_raw_length.", packed("lz4", lambda raw: compression.lz4(raw[:-8])))
    case("lz4-too-many", "An LZ4 block of 8 bytes more than events_raw_length.", packed("lz4", lambda raw: compression.lz4(raw + raw[:8])))
    case("lz4-bomb", "An LZ4 block that grows to 16 MiB where 480 bytes are announced.", packed("lz4", lambda raw: compression.lz4(bytes(2**24))))
    case("lz4-offset", "An LZ4 match that begins before the block.", packed("lz4", lambda raw: b"\x1fA\xff\xff\x00" + b"\x50ABCDE"))
    def distance_zero(raw):
        return compression.lz4_literals(raw[:-9]) + b"\x00\x00" + b"\x50" + raw[-5:]

    case("lz4-offset-0", "An LZ4 match of 4 bytes at a distance of 0.", packed("lz4", distance_zero))
    case("lz4-match-at-end", "An LZ4 block that ends with a match.",
         packed("lz4", lambda raw: compression.lz4_literals(raw[:-4]) + b"\x10\x00"))

    case("lz4-last-token", "An LZ4 block whose last token has a match length, and no match.",
         packed("lz4", lambda raw: b"\xff" + compression.lz4_literals(raw)[1:]))

    def leaking(raw):
        return b"\xf0" + bytes([100 - 15]) + raw[:100] + b"\x00\x00" + compression.lz4_literals(raw[104:])

    case("lz4-offset-0-early", "A distance of 0 far from the end, which hands out the reader's memory.", packed("lz4", leaking))
    case("lz4-empty", "No bytes at all where an LZ4 block should be.", packed("lz4", lambda raw: b""))
    case("zstd-cut", "A zstd frame cut short.", packed("zstd", lambda raw: compression.zstd(raw)[:-3]))
    case("zstd-too-few", "A zstd frame of 8 bytes fewer than events_raw_length.", packed("zstd", lambda raw: compression.zstd(raw[:-8])))
    case("zstd-too-many", "A zstd frame of 8 bytes more than events_raw_length.", packed("zstd", lambda raw: compression.zstd(raw + raw[:8])))
    bomb = compression.zstd_frame([(1, 2**17, b"\0")] * 800)
    case("zstd-bomb", "A zstd frame of 3 KB that grows to 100 MiB where 480 bytes are announced.", packed("zstd", lambda raw: bomb))
    lying = compression.zstd_frame([(1, 2**17, b"\0")] * 800, content_size=480)
    case("zstd-bomb-that-lies", "The same bomb, whose own header announces 480 bytes.", packed("zstd", lambda raw: lying))
    case("zstd-magic", "No zstd frame at all.", packed("zstd", lambda raw: b"\x00" * 40))

    def wrong_checksum(raw):
        frame = compression.zstd_without_size_with_checksum(raw)
        return frame[:-1] + bytes([frame[-1] ^ 1])

    case("zstd-checksum-wrong", "A zstd frame whose checksum is wrong.", packed("zstd", wrong_checksum))
    case("zstd-dictionary", "A zstd frame that wants a dictionary.",
         packed("zstd", lambda raw: compression.zstd_frame([(0, len(raw), raw)], len(raw), dictionary=7)))
    case("zstd-two-frames", "Two zstd frames that together give the announced bytes.",
         packed("zstd", lambda raw: compression.zstd(raw[:240]) + compression.zstd(raw[240:])))
    case("zstd-bytes-behind", "A byte behind the zstd frame.", packed("zstd", lambda raw: compression.zstd(raw) + b"\0"))
    case("zstd-skippable-behind", "A skippable frame behind the zstd frame.",
         packed("zstd", lambda raw: compression.zstd(raw) + struct.pack("<II", 0x184D2A50, 0)))


def record_faults():
    def in_record(name, code, about, batch, at, change):
        def raw(events):
            change(events)
            return bytes(events.data)

        fault(name, code, about, build(batch, raw), at)

    def word(number, tick=5_000_000):
        return lambda events: struct.pack_into("<Q", events.data, events.at["event2"], tick << 16 | number)

    in_record("type-without-descriptor", "unknown_type", "A record of type 9, which has no descriptor.", base(), "event2", word(9))
    in_record("type-0-in-record", "unknown_type", "A record of type 0.", base(), "event2", word(0))
    lz4 = with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4, shuffle=16)
    in_record("type-without-descriptor-compressed", "unknown_type", "The same behind compression and shuffle.", lz4, "event2", word(9))

    kind = EventType(1, "e", [Field("bool", "b"), Field("string", "s"), Field("bytes", "d")])
    batch = with_events([kind], [Event(1, 5_000_000, [True, "abcdef", b"\x01"]), Event(1, 5_000_001, [False, "", b""])])

    def store(part, number_format, value):
        return lambda events: struct.pack_into("<" + number_format, events.data, events.at[part], value)

    in_record("bool-2", "bad_record", "A bool of 2.", batch, "event1.field0", store("event1.field0", "B", 2))
    in_record("bool-255", "bad_record", "A bool of 255.", batch, "event0.field0", store("event0.field0", "B", 255))
    in_record("string-beyond-segment", "bad_record", "A string that runs over its segment's end.", batch, "event1.field1",
              store("event1.field1", "H", 2000))
    in_record("bytes-beyond-segment", "bad_record", "Bytes that run over their segment's end.", batch, "event1.field2",
              store("event1.field2", "H", 65535))
    short = base()
    short.types = [EventType(1, "MY_EVENT", [Field("i32", "i"), Field("f32", "f"), Field("u64", "not_there")])]
    in_record("fields-beyond-segment", "bad_record", "The last record ends before its last field.",
              replace(short, segments=[Segment(1, [Event(1, 5_000_000, [1, 0.5])])], counters=[1] + [0] * 11), "event0",
              lambda events: None)
    over = Segment(1, [Event(1, 5_000_000, ["a" * (LARGEST_STRING + 1)])])
    in_record("record-too-large", "bad_record", "A record of 32,776 bytes.",
              with_events([BLOB], over.events), "event0", lambda events: None)
    split = with_events([BLOB], [])
    split = replace(split, segments=[Segment(1, [Event(1, 5_000_000, ["a" * 6])]), Segment(2, [Event(1, 5_000_000, ["b" * 6])])],
                    counters=[2] + [0] * 11)
    in_record("record-across-segments", "bad_record", "A string that runs into the next thread's segment.", split,
              "event0.field0", store("event0.field0", "H", 14))


for section in (message_cut_short, fixed_header, reserved_and_unknown, lengths_and_counts, calibrations, counts, texts,
                descriptors, compressions, record_faults):
    section()
