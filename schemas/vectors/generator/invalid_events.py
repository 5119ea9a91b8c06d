"""Faults of compressed streams and of records."""

import struct
from dataclasses import replace

from . import compression
from .batches import BLOB, LARGEST_STRING, TABLE1, base, repetitive, with_events
from .faults import fault
from .model import Event, EventType, Field, Segment, build


def compressions():
    def case(name, about, batch):
        fault(name, "bad_compression", about, build(batch), "events")

    def packed(kind, compress, **changes):
        return with_events([TABLE1], repetitive(30), compression=kind, compress=compress, **changes)

    case("lz4-cut", "An LZ4 block cut short.", packed("lz4", lambda raw: compression.lz4(raw)[:-3]))
    case(
        "lz4-too-few",
        "An LZ4 block of 8 bytes fewer than events_raw_length.",
        packed("lz4", lambda raw: compression.lz4(raw[:-8])),
    )
    case(
        "lz4-too-many",
        "An LZ4 block of 8 bytes more than events_raw_length.",
        packed("lz4", lambda raw: compression.lz4(raw + raw[:8])),
    )
    case(
        "lz4-bomb",
        "An LZ4 block that grows to 16 MiB where 480 bytes are announced.",
        packed("lz4", lambda raw: compression.lz4(bytes(2**24))),
    )
    case(
        "lz4-offset",
        "An LZ4 match that begins before the block.",
        packed("lz4", lambda raw: b"\x1fA\xff\xff\x00" + b"\x50ABCDE"),
    )

    def distance_zero(raw):
        return compression.lz4_literals(raw[:-9]) + b"\x00\x00" + b"\x50" + raw[-5:]

    case("lz4-offset-0", "An LZ4 match of 4 bytes at a distance of 0.", packed("lz4", distance_zero))
    case(
        "lz4-match-at-end",
        "An LZ4 block that ends with a match.",
        packed("lz4", lambda raw: compression.lz4_literals(raw[:-4]) + b"\x10\x00"),
    )

    case(
        "lz4-last-token",
        "An LZ4 block whose last token has a match length, and no match.",
        packed("lz4", lambda raw: b"\xff" + compression.lz4_literals(raw)[1:]),
    )

    def leaking(raw):
        return b"\xf0" + bytes([100 - 15]) + raw[:100] + b"\x00\x00" + compression.lz4_literals(raw[104:])

    case(
        "lz4-offset-0-early",
        "A distance of 0 far from the end, which hands out the reader's memory.",
        packed("lz4", leaking),
    )
    case("lz4-empty", "No bytes at all where an LZ4 block should be.", packed("lz4", lambda raw: b""))
    case("zstd-cut", "A zstd frame cut short.", packed("zstd", lambda raw: compression.zstd(raw)[:-3]))
    case(
        "zstd-too-few",
        "A zstd frame of 8 bytes fewer than events_raw_length.",
        packed("zstd", lambda raw: compression.zstd(raw[:-8])),
    )
    case(
        "zstd-too-many",
        "A zstd frame of 8 bytes more than events_raw_length.",
        packed("zstd", lambda raw: compression.zstd(raw + raw[:8])),
    )
    bomb = compression.zstd_frame([(1, 2**17, b"\0")] * 800)
    case(
        "zstd-bomb",
        "A zstd frame of 3 KB that grows to 100 MiB where 480 bytes are announced.",
        packed("zstd", lambda raw: bomb),
    )
    lying = compression.zstd_frame([(1, 2**17, b"\0")] * 800, content_size=480)
    case(
        "zstd-bomb-that-lies", "The same bomb, whose own header announces 480 bytes.", packed("zstd", lambda raw: lying)
    )
    case("zstd-magic", "No zstd frame at all.", packed("zstd", lambda raw: b"\x00" * 40))

    def wrong_checksum(raw):
        frame = compression.zstd_without_size_with_checksum(raw)
        return frame[:-1] + bytes([frame[-1] ^ 1])

    case("zstd-checksum-wrong", "A zstd frame whose checksum is wrong.", packed("zstd", wrong_checksum))
    case(
        "zstd-dictionary",
        "A zstd frame that wants a dictionary.",
        packed("zstd", lambda raw: compression.zstd_frame([(0, len(raw), raw)], len(raw), dictionary=7)),
    )
    case(
        "zstd-two-frames",
        "Two zstd frames that together give the announced bytes.",
        packed("zstd", lambda raw: compression.zstd(raw[:240]) + compression.zstd(raw[240:])),
    )
    case(
        "zstd-bytes-behind", "A byte behind the zstd frame.", packed("zstd", lambda raw: compression.zstd(raw) + b"\0")
    )
    case(
        "zstd-skippable-behind",
        "A skippable frame behind the zstd frame.",
        packed("zstd", lambda raw: compression.zstd(raw) + struct.pack("<II", 0x184D2A50, 0)),
    )


def record_faults():
    def in_record(name, code, about, batch, at, change):
        def raw(events):
            change(events)
            return bytes(events.data)

        fault(name, code, about, build(batch, raw), at)

    def word(number, tick=5_000_000):
        return lambda events: struct.pack_into("<Q", events.data, events.at["event2"], tick << 16 | number)

    in_record(
        "type-without-descriptor",
        "unknown_type",
        "A record of type 9, which has no descriptor.",
        base(),
        "event2",
        word(9),
    )
    in_record("type-0-in-record", "unknown_type", "A record of type 0.", base(), "event2", word(0))
    lz4 = with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4, shuffle=16)
    in_record(
        "type-without-descriptor-compressed",
        "unknown_type",
        "The same behind compression and shuffle.",
        lz4,
        "event2",
        word(9),
    )
    in_record(
        "type-without-descriptor-ticks",
        "unknown_type",
        "The same where ticks are differences.",
        replace(lz4, shuffle=17),
        "event2",
        word(9),
    )

    kind = EventType(1, "e", [Field("bool", "b"), Field("string", "s"), Field("bytes", "d")])
    batch = with_events([kind], [Event(1, 5_000_000, [True, "abcdef", b"\x01"]), Event(1, 5_000_001, [False, "", b""])])

    def store(part, number_format, value):
        return lambda events: struct.pack_into("<" + number_format, events.data, events.at[part], value)

    in_record("bool-2", "bad_record", "A bool of 2.", batch, "event1.field0", store("event1.field0", "B", 2))
    in_record("bool-255", "bad_record", "A bool of 255.", batch, "event0.field0", store("event0.field0", "B", 255))
    in_record(
        "string-beyond-segment",
        "bad_record",
        "A string that runs over its segment's end.",
        batch,
        "event1.field1",
        store("event1.field1", "H", 2000),
    )
    in_record(
        "bytes-beyond-segment",
        "bad_record",
        "Bytes that run over their segment's end.",
        batch,
        "event1.field2",
        store("event1.field2", "H", 65535),
    )
    short = base()
    short.types = [EventType(1, "MY_EVENT", [Field("i32", "i"), Field("f32", "f"), Field("u64", "not_there")])]
    in_record(
        "fields-beyond-segment",
        "bad_record",
        "The last record ends before its last field.",
        replace(short, segments=[Segment(1, [Event(1, 5_000_000, [1, 0.5])])], counters=[1] + [0] * 11),
        "event0",
        lambda events: None,
    )
    over = Segment(1, [Event(1, 5_000_000, ["a" * (LARGEST_STRING + 1)])])
    in_record(
        "record-too-large",
        "bad_record",
        "A record of 32,776 bytes.",
        with_events([BLOB], over.events),
        "event0",
        lambda events: None,
    )
    split = with_events([BLOB], [])
    split = replace(
        split,
        segments=[Segment(1, [Event(1, 5_000_000, ["a" * 6])]), Segment(2, [Event(1, 5_000_000, ["b" * 6])])],
        counters=[2] + [0] * 11,
    )
    in_record(
        "record-across-segments",
        "bad_record",
        "A string that runs into the next thread's segment.",
        split,
        "event0.field0",
        store("event0.field0", "H", 14),
    )
