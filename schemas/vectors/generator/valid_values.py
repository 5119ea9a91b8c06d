"""Legal batches for the sake of types, fields and their values."""

from .batches import TABLE1, vector, with_events, EVERY_TYPE
from .model import TYPE_CODES, Bits, Constant, Event, EventType, Field


@vector("Two events of NetLogger's Table 1: the smallest batch of the kind that travels most.")
def table1():
    return with_events([TABLE1], [Event(1, 5_000_000, [1, 0.5]), Event(1, 5_002_700, [-2, 3.25])])


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


@vector("Text that JSON must escape or that needs more than two bytes, NUL and U+10FFFF included.")
def text():
    kind = EventType(1, "тип.событий", [Field("string", "значение", "µs")], [Constant("string", "k", "", 'a"\\/\b\n')])
    rows = [
        "a\x00b",
        '"quoted" \\ back',
        "\x01\x1f\x7f\u0080",
        "\ud7ff\ue000\ufffd\uffff",
        "\U00010000\U0010ffff",
        "\u2028\u2029",
    ]
    events = [Event(1, 5_000_000 + n, [row]) for n, row in enumerate(rows)]
    return with_events(
        [kind], events, host="höst\x00\n", program="日本語", route_name="𝛼", context=[("ключ", '\x00\t"')]
    )


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
    rows = [
        [-(2**31), 0, -(2**63), 0],
        [2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1],
        [-1, 2**31, -1, 2**63],
        [0, 1, 2**53 + 1, 2**53 + 1],
    ]
    return with_events([kind], [Event(1, 5_000_000 + n, row) for n, row in enumerate(rows)])


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
