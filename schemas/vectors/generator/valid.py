"""The legal batches, each for one reason."""

from dataclasses import dataclass, replace

from . import compression
from .model import FLAGS, TICK48, TYPE_CODES, Batch, Bits, Calibration, Constant, Event, EventType, Field, Parent, Segment, build

EPOCH_2003 = 1_049_155_200_000_000_000
TABLE1 = EventType(1, "MY_EVENT", [Field("i32", "i", ""), Field("f32", "f", "")])
CLOCK = [
    Calibration(1_000_000, 500_000_000, EPOCH_2003, error_ns=42),
    Calibration(2_701_000_000, 1_500_000_000, EPOCH_2003 + 250, error_ns=37),
]


@dataclass
class Vector:
    batch: Batch
    about: str
    encodable: str  # "identical": encode gives these bytes; "meaning": other bytes of equal meaning; "no"


VECTORS = {}


def vector(about, encodable=None):
    def register(make):
        batch = make()
        how = encodable or ("identical" if batch.compression == "none" else "meaning")
        VECTORS[make.__name__.replace("_", "-")] = Vector(batch, about, how)
        return make

    return register


def base(**changes):
    """A small batch of ordinary events, on which a vector changes what it is about."""
    events = [Event(1, 5_000_000 + 2_700 * n, [n - 2, n * 0.25]) for n in range(4)]
    ordinary = Batch(
        base_tick=5_000_000,
        tick_hz=2_700_000_000,
        counters=[4] + [0] * 11,
        calibrations=CLOCK,
        segments=[Segment(4242, events)],
        types=[TABLE1],
    )
    return replace(ordinary, **changes)


def with_events(types, events, **changes):
    counters = [len(events)] + [0] * 11
    return base(types=types, segments=[Segment(4242, events)], counters=counters, **changes)


def repetitive(count):
    """What compressors like: regular ticks, a counter, a value that repeats."""
    return [Event(1, 5_000_000 + 2_700 * n, [n, 1.5 + n % 3]) for n in range(count)]


@vector("Two events of NetLogger's Table 1: the smallest batch of the kind that travels most.")
def table1():
    return with_events([TABLE1], [Event(1, 5_000_000, [1, 0.5]), Event(1, 5_002_700, [-2, 3.25])])


@vector("A default batch of 64 KiB full of Table 1 events: at most 16.5 bytes per event, everything included.")
def table1_64k():
    return with_events([TABLE1], [Event(1, 5_000_000 + 35 * n, [n, n / 8]) for n in range(4073)])


EVERY_TYPE = EventType(7, "every.type", [Field(name, f"a_{name}", "u") for name in TYPE_CODES])
EVERY_VALUE = [-2, -3, 0.5, -0.25, "Grüße", 4_000_000_000, 2**63 + 1, True, b"\x00\xff\x10"]


def every_type(byte_order):
    events = [Event(7, 5_000_000, EVERY_VALUE), Event(7, 5_000_001, [0, 0, 0.0, 0.0, "x", 0, 0, False, b"y"])]
    return with_events([EVERY_TYPE], events, byte_order=byte_order)


@vector("Every field type, from a little-endian machine.")
def every_type_little():
    return every_type("little")


@vector("Every field type, from a big-endian machine; the types' hash is the same as in every-type-little.")
def every_type_big():
    return every_type("big")


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


def constants(byte_order):
    values = [-1, -(2**63), 1.5, -1e300, "const ü", 2**32 - 1, 2**64 - 1, True, b"\x00\x01"]
    typed = [Constant(name, f"c_{name}", "B", value) for name, value in zip(TYPE_CODES, values)]
    every = EventType(3, "net.send.end", [Field("u64", "id")], typed, level=5)
    only = EventType(4, "only.constants", [], [Constant("string", "stage", "", "net")], level=1)
    return with_events([every, only], [Event(3, 5_000_000, [9]), Event(4, 5_000_001, [])], byte_order=byte_order)


@vector("Constants of every type, and a type whose events are constants alone.")
def constants_little():
    return constants("little")


@vector("The same from a big-endian machine: values turned round, hashes equal.")
def constants_big():
    return constants("big")


@vector("Float constants that JSON has no numbers for.")
def constants_special_floats():
    parts = [
        Constant("f32", "nan", "", Bits(0xFFC00001)),
        Constant("f64", "inf", "", float("inf")),
        Constant("f64", "negative_zero", "", -0.0),
    ]
    return with_events([EventType(1, "special", [], parts)], [Event(1, 5_000_000, [])])


@vector("Strings and bytes of length 0, alone and between others.")
def empty_strings_and_bytes():
    kind = EventType(1, "empties", [Field("string", "s"), Field("bytes", "b"), Field("u32", "n"), Field("string", "t")])
    rows = [["", b"", 1, ""], ["", b"\x00", 2, "t"], ["s", b"", 3, ""]]
    return with_events([kind], [Event(1, 5_000_000 + n, row) for n, row in enumerate(rows)])


@vector("Empty host, program and route name; types and fields without units.")
def empty_header_text():
    return base(host="", program="", route_name="")


@vector("Text that JSON must escape or that needs more than two bytes, NUL and U+10FFFF included.")
def text():
    kind = EventType(1, "тип.событий", [Field("string", "значение", "µs")], [Constant("string", "k", "", 'a"\\/\b\n')])
    rows = ["a\x00b", '"quoted" \\ back', "\x01\x1f\x7f\u0080", "\ud7ff\ue000\ufffd\uffff", "\U00010000\U0010ffff", "\u2028\u2029"]
    events = [Event(1, 5_000_000 + n, [row]) for n, row in enumerate(rows)]
    return with_events([kind], events, host="höst\x00\n", program="日本語", route_name="𝛼", context=[("ключ", "\x00\t\"")])


@vector("Texts as long as they may be: 255 bytes for names, keys and units, 4,096 for the rest.")
def text_at_the_limits():
    kind = EventType(1, "n" * 255, [Field("u32", "ü" * 127 + "f", "u" * 255)], [Constant("string", "c" * 255, "", "v" * 5000)])
    context = [("k" * 255, "v" * 4096)]
    events = [Event(1, 5_000_000, [1])]
    return with_events([kind], events, host="h" * 4096, program="p" * 4096, route_name="r" * 4096, context=context)


@vector("An event's strings that are not UTF-8: U+FFFD for each byte outside a well-formed sequence.", "no")
def not_utf8_string():
    kind = EventType(1, "file.open", [Field("string", "path")])
    rows = [
        b"na\xefve.txt",  # Latin-1
        b"\xe2\x82",  # a sequence cut short: two bytes, two U+FFFD
        b"\xe2\x82A\xf0\x9f\x98",
        b"\xc0\x80|\xe0\x80\x80|\xf0\x80\x80\x80",  # overlong
        b"\xed\xa0\x80\xed\xb0\x80",  # surrogates
        b"\xf4\x90\x80\x80|\xf5\x80\x80\x80|\xff\xfe",  # above U+10FFFF, never legal
        b"\x80\xbf",
        "well ü".encode(),
    ]
    return with_events([kind], [Event(1, 5_000_000 + n, [row]) for n, row in enumerate(rows)])


@vector("Floats at the edges: NaN with payload, quiet and signalling, infinities, -0, subnormal, largest.")
def floats():
    kind = EventType(1, "floats", [Field("f32", "single"), Field("f64", "double")])
    inf = float("inf")
    rows = [
        [Bits(0x7FC00000), Bits(0x7FF8000000000000)],
        [Bits(0xFFC12345), Bits(0xFFF8123456789ABC)],
        [Bits(0x7F800001), Bits(0x7FF0000000000001)],
        [inf, inf],
        [-inf, -inf],
        [-0.0, -0.0],
        [0.0, 0.0],
        [2.0**-149, 5e-324],
        [2.0**-126, 2.2250738585072014e-308],
        [(2 - 2**-23) * 2.0**127, 1.7976931348623157e308],
        [0.1, 0.1],
        [16777217.0, 9007199254740993.0],
        [1e-10, 1e22],
        [123456.79, 123456.789],
    ]
    return with_events([kind], [Event(1, 5_000_000 + n, row) for n, row in enumerate(rows)])


@vector("Integers at the edges of their types.")
def integers():
    kind = EventType(1, "integers", [Field(t, t) for t in ("i32", "u32", "i64", "u64")])
    rows = [[-(2**31), 0, -(2**63), 0], [2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1], [-1, 2**31, -1, 2**63], [0, 1, 2**53 + 1, 2**53 + 1]]
    return with_events([kind], [Event(1, 5_000_000 + n, row) for n, row in enumerate(rows)])


@vector("40 threads in 81 segments: threads that come back, ids of 64 bits, segments without an event.")
def many_threads():
    segments = [Segment(0, [])]
    for n in range(80):
        thread = n % 40 + (2**63 if n % 40 == 39 else 1000)
        segments.append(Segment(thread, [Event(1, 5_000_000 + 10 * n + k, [n, k]) for k in range(n % 4)]))
    return base(segments=segments, counters=[sum(len(s.events) for s in segments)] + [0] * 11)


@vector("Six calibrations of which two carry a step of realtime, forwards and backwards; events around each.")
def clock_steps():
    calibrations = [
        Calibration(1_000_000, 10**9, EPOCH_2003),
        Calibration(3_700_000, 10**9 + 1_000_003, EPOCH_2003 - 3),
        Calibration(6_400_000, 10**9 + 2_000_001, EPOCH_2003 + 3600 * 10**9, flags=1),
        Calibration(9_100_000, 10**9 + 3_000_009, EPOCH_2003 + 3600 * 10**9 + 500),
        Calibration(9_100_001, 10**9 + 3_000_009, EPOCH_2003 - 10**12, error_ns=2**32 - 1, flags=1),
        Calibration(11_800_000, 10**9 + 4_000_000, EPOCH_2003 - 10**12),
    ]
    ticks = [0, 999_999, 20_000_000] + [c.tick + d for c in calibrations for d in (0, 1, 1_234_567)]
    return with_events([TABLE1], [Event(1, t, [n, 0.0]) for n, t in enumerate(ticks)], calibrations=calibrations)


@vector("The last calibration carries a step: events after it use its realtime and the slope of monotonic time.")
def clock_step_at_the_end():
    stepped = Calibration(3_701_003, 1_001_000_000, EPOCH_2003 - 5 * 10**9, flags=1)
    ticks = [1_000_000, 2_222_222, 3_701_002, 3_701_003, 3_701_004, 9_999_999]
    calibrations = [Calibration(1_000_000, 10**9, EPOCH_2003), stepped]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], calibrations=calibrations)


@vector("One calibration alone, so tick_hz counts: events before and after it.")
def clock_one_calibration():
    ticks = [0, 999_999, 1_000_000, 1_000_001, 2_700_999_983, 10**12]
    events = [Event(1, t, [0, 0.0]) for t in ticks]
    return with_events([TABLE1], events, calibrations=CLOCK[:1], tick_hz=2_699_999_983)


@vector("CLOCK_MONOTONIC_RAW in place of a counter: a tick is a nanosecond.")
def clock_monotonic():
    calibrations = [Calibration(5 * 10**9, 5 * 10**9, EPOCH_2003)]
    events = [Event(1, 5 * 10**9 + n * 1_000_000_007, [n, 0.0]) for n in range(3)]
    return with_events([TABLE1], events, base_tick=5 * 10**9, calibrations=calibrations, tick_hz=10**9, clock=1)


@vector("Times that leave the range of i64 and wrap; a tick of one second; a tick before the first calibration.")
def clock_wraps():
    calibrations = [Calibration(2**47, 2**63, -1000)]
    ticks = [2**47 + n for n in (-(10**10), -10, -1, 0, 1, 10, 10**10)]
    events = [Event(1, t, [0, 0.0]) for t in ticks]
    return with_events([TABLE1], events, base_tick=2**47, calibrations=calibrations, tick_hz=1)


@vector("The steepest legal slope, 2^62 - 1 parts of 2^32 ns per tick, and a clock that stands still.")
def clock_steepest_and_flat():
    steep = 2**30 * 4
    calibrations = [
        Calibration(0, 0, 0),
        Calibration(steep, (2**62 - 1), 0),
        Calibration(steep + 10, 2**62 - 1, 0),
    ]
    ticks = [0, 1, 2, 3, 12345, steep - 1, steep, steep + 5, steep + 10, steep + 1000]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], base_tick=0, calibrations=calibrations)


@vector("Realtime far from zero on both sides: the rise between two calibrations needs all 64 bits.")
def clock_wide_rise():
    calibrations = [Calibration(0, 0, -(2**63)), Calibration(2**40, 2**63, -1)]
    ticks = [0, 1, 2**39, 2**40 - 1, 2**40, 2**40 + 1]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], base_tick=2**40, calibrations=calibrations)


@vector("The 48 bits of the records wrap around base_tick, as near as half the range on either side.")
def tick_wrap():
    centre = 5 * TICK48 + 3
    ticks = [centre + d for d in (-5, -3, -1, 0, 1, TICK48 // 2 - 1, -TICK48 // 2, -(10**6))]
    calibrations = [Calibration(centre - 10**9, 10**9, EPOCH_2003), Calibration(centre + 10**9, 2 * 10**9, EPOCH_2003)]
    events = [Event(1, t, [n, 0.0]) for n, t in enumerate(ticks)]
    return with_events([TABLE1], events, base_tick=centre, calibrations=calibrations)


@vector("Ticks wrap below 0 to the top of 64 bits, and beyond it to 0.")
def tick_wrap_64():
    calibrations = [Calibration(5, 10**9, EPOCH_2003)]
    events = [Event(1, t % 2**64, [0, 0.0]) for t in (-10, -1, 0, 5)]
    return with_events([TABLE1], events, base_tick=2, calibrations=calibrations, tick_hz=10**9)


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


@vector("Padding that is not zero, in header, descriptors and records: readers do not look.", "meaning")
def padding_not_zero():
    kind = EventType(1, "odd", [Field("bool", "b")])
    return with_events([kind], [Event(1, 5_000_000 + n, [n == 1]) for n in range(3)], padding=0xEE)


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
    return base(flags=FLAGS["FINAL"] | FLAGS["RECOVERED"], sequence=1234, counters=[100, 3, 2, 1, 5, 4, 0, 0, 0, 0, 0, 0])


@vector("The tick jumped without explanation.")
def clock_uncertain():
    wide = [CLOCK[0], replace(CLOCK[1], error_ns=4_000_000)]
    return base(flags=FLAGS["CLOCK_UNCERTAIN"], calibrations=wide)


@vector("300 types with numbers up to 65,535, in no order; one event of each, and a type that no event uses.")
def types_300():
    levels = len(range(1, 9))
    numbers = [n * 37_121 % 65_535 + 1 for n in range(300)]
    types = [EventType(n, f"type.{n}", [Field("u32", "n")], level=n % levels + 1) for n in numbers]
    events = [Event(n, 5_000_000 + k, [n]) for k, n in enumerate(sorted(numbers))]
    return with_events(types + [EventType(65_535, "never.used", [Field("u32", "n")])], events)


@vector("A type without fields: an event is its word alone.")
def no_fields():
    return with_events([EventType(65_535, "tick")], [Event(65_535, 5_000_000 + n) for n in range(3)])


@vector("A type with 255 fields and 255 constants.")
def fields_255():
    kind = EventType(
        1,
        "wide",
        [Field("bool" if n % 2 else "u32", f"f{n}") for n in range(255)],
        [Constant("i32", f"c{n}", "", n) for n in range(255)],
    )
    return with_events([kind], [Event(1, 5_000_000, [n % 4 == 1 if n % 2 else n for n in range(255)])])


@vector("LZ4.")
def lz4():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4)


@vector("LZ4 behind a byte shuffle with whole rows.")
def lz4_shuffle():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4, shuffle=16)


@vector("LZ4 behind the widest shuffle, with bytes left over behind the rows.")
def lz4_shuffle_remainder():
    return with_events([TABLE1], repetitive(43), compression="lz4", compress=compression.lz4, shuffle=128)


@vector("LZ4 without a match, as no encoder writes it for such data.")
def lz4_literals():
    return with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4_literals)


@vector("Zstd.")
def zstd():
    return with_events([TABLE1], repetitive(100), compression="zstd", compress=compression.zstd)


@vector("Zstd behind a byte shuffle, from a big-endian machine.")
def zstd_shuffle_big():
    return with_events([TABLE1], repetitive(100), compression="zstd", compress=compression.zstd, shuffle=8, byte_order="big")


@vector("A zstd frame that does not tell its size and ends with a checksum.")
def zstd_checksum():
    compress = compression.zstd_without_size_with_checksum
    return with_events([TABLE1], repetitive(100), compression="zstd", compress=compress)


@vector("A zstd frame of two raw blocks, shuffled in rows longer than the events: nothing moves.")
def zstd_raw_blocks():
    compress = compression.zstd_raw_blocks
    return with_events([TABLE1], repetitive(2), compression="zstd", compress=compress, shuffle=40)


@vector("An empty events section, compressed all the same.")
def zstd_of_nothing():
    return base(segments=[], counters=[0] * 12, compression="zstd", compress=compression.zstd)


BLOB = EventType(1, "blob", [Field("string", "s")])
LARGEST_STRING = 32_768 - 8 - 2
LARGEST_BATCH = 959_996


def letters(count, start):
    return "".join(chr(97 + (start + n) % 26) for n in range(count))


@vector("The largest event: a record of 32,768 bytes.")
def largest_event():
    return with_events([BLOB], [Event(1, 5_000_000, [letters(LARGEST_STRING, 0)])])


@vector("The largest batch: 959,996 bytes, since a batch is a multiple of 8 and 4 for the CRC.")
def largest_batch():
    events = [Event(1, 5_000_000 + n, [letters(LARGEST_STRING, n)]) for n in range(29)]
    without_last = with_events([BLOB], events)
    rest = LARGEST_BATCH - len(build(without_last).data)
    return with_events([BLOB], events + [Event(1, 6_000_000, [letters(rest - 10, 0)])])


@vector("The largest events section, 1,048,576 bytes before compression.")
def largest_raw_events():
    events = [Event(1, 5_000_000 + n, ["a" * LARGEST_STRING]) for n in range(32)]
    return with_events([BLOB], events, compression="zstd", compress=compression.zstd)
