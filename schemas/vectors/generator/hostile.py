"""Batches that are made to harm their readers: what may stand in a name, a text, a number or a clock is somebody's quoting,
path, column, terminal or memory. Every reader and store takes each of them, or refuses it with a reason, and serves honest
emitters beside it. The vectors in hostile/ are legal; what is made on demand is in part not, and hostile.json has what is due."""

import hashlib
import struct

from .batches import CLOCK, LARGEST_BATCH, LARGEST_STRING, with_events
from .batches import vector as legal
from .compression import zstd_frame
from .model import Bits, Calibration, Constant, Event, EventType, Field, build, type_hash

NAMES = {
    "nul": "a\0b",
    "single-quote": "a'; DROP TABLE batches; --",
    "double-quote": 'a"; DROP TABLE "batches"; --',
    "backslash": "a\\'; SELECT 1 --\\",
    "dollar-quote": "$$a$$; $tag$",
    "path": "../../../../etc/passwd",
    "absolute-path": "/etc/cron.d/lifeline",
    "dot": ".",
    "dots": "..",
    "path-in-path": "a/../../b\\..\\c",
    "device": "CON.txt",
    "option": "--help",
    "glob": "*?[a-z]{b,c}",
    "template": "${subject} {{7*7}} %s%n#{1+1}$(reboot)`reboot`",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "csv": "=cmd|' /C calc'!A0,\"\r\n",
    "json": '"},{"type":"x","fields":{"a":1}}',
    "newlines": "a\nb\r\nc\u2028d\u2029e\x85f",
    "terminal": "a\x1b]0;title\x07\x1b[2J\x1b[31mb\x9b31mc",
    "right-to-left": "nimda\u202egnp.exe\u2066\u202d",
    "invisible": "a\u200b\ufeff\u00ad\u034f\u2060b",
    "combining": "a" + "\u0301\u0315\u0321" * 40,
    "not-normal": "\u212b\u00c5A\u030a",
    "upper": "SELECT",
    "case-folds": "\u0130stanbul \u1e9e \ufb03",
    "noncharacters": "\ufffe\uffff\U0001fffe\U0010ffff\ue000",
    "blank": " ",
    "blanks": "\t a  b \t",
    "number": "-0x1p-1074",
    "longest": "n" * 255,
    "longest-wide": "\U0001f600" * 63,
}

# Words that some store, query language or reader keeps for itself, and the columns that ours have.
RESERVED = ("select table from user order group limit null true default primary check all end rowtime window "
            "windowstart windowend rowpartition rowoffset headers ts ts_ns level host program pid thread incarnation route "
            "sequence event_index type id fields events lifelines ledger batches routes emitters types positions latest "
            "archive @batch @ns @version tableoid xmin cmin xmax cmax ctid __proto__ constructor hasOwnProperty toString "
            "length NaN Infinity none __class__ __init__ lifeline.summary lifeline.gap lifeline.batches").split()


def vector(about):
    return legal(about, folder="hostile")


def emitter(name, **changes):
    """What makes each an emitter of its own."""
    return {"incarnation": hashlib.sha256(f"hostile {name}".encode()).digest()[:16], "host": "hostile.example", **changes}


def of_names(kind, names, make):
    """One batch whose types have the names in one place: `make` gives the type of a number and a name."""
    types = [make(number, name) for number, name in enumerate(names, 1)]
    events = [Event(each.number, 5_000_000 + each.number, [1] * len(each.fields)) for each in types]
    return with_events(types, events, **emitter(kind))


@vector("Names of event types that some quoting, path or screen could take for more than a name.")
def type_names():
    return of_names("type-names", NAMES.values(), lambda number, name: EventType(number, name, [Field("u64", "id")]))


@vector("The same as names of fields.")
def field_names():
    return of_names("field-names", NAMES.values(),
                    lambda number, name: EventType(number, f"hostile.field.{number}", [Field("u32", name), Field("u64", "id")]))


@vector("The same as names, units and values of constants, and as units of fields.")
def constants_and_units():
    return of_names("constants", NAMES.values(),
                    lambda number, name: EventType(number, f"hostile.constant.{number}", [Field("u32", "n", name)],
                                                   [Constant("string", name, name, name)]))


@vector("The same as values of events: as text and as bytes, and as the id that ties lifelines together.")
def values():
    kind = EventType(1, "hostile.values", [Field("string", "id"), Field("string", "text"), Field("bytes", "raw")])
    rows = [[name, name, name.encode()] for name in NAMES.values()]
    return with_events([kind], [Event(1, 5_000_000 + n, row) for n, row in enumerate(rows)], **emitter("values"))


@vector("Reserved words as names of event types.")
def reserved_types():
    return of_names("reserved-types", RESERVED, lambda number, name: EventType(number, name, [Field("u64", "id")]))


@vector("Reserved words as names of fields, all in one type, and in upper case in another.")
def reserved_fields():
    kinds = [EventType(1, "hostile.reserved", [Field("u32", word) for word in RESERVED]),
             EventType(2, "hostile.RESERVED", [Field("u32", word) for word in sorted({word.upper() for word in RESERVED})])]
    return with_events(kinds, [Event(kind.number, 5_000_000, [1] * len(kind.fields)) for kind in kinds], **emitter("reserved"))


def identity(name, text):
    def make():
        kind = EventType(1, "hostile.identity", [Field("u64", "id")])
        return with_events([kind], [Event(1, 5_000_000, [1])], **emitter(f"identity {name}", host=text, program=text, route=3,
                           route_name=text, context=[(text, text), ("traceparent", text)]))

    make.__name__ = f"identity_{name}".replace("-", "_")
    vector("Host, program, route and context that are called " + ascii(text)[:60] + ".")(make)


for each, text in NAMES.items():
    identity(each, text)


@vector("The longest texts that a header may have.")
def identity_4096():
    kind = EventType(1, "hostile.identity", [Field("u64", "id")])
    text = "\u202e<b>" + "\U0001f4a3" * 1022
    context = [(f"k{n}", text) for n in range(6)]
    return with_events([kind], [Event(1, 5_000_000, [1])], **emitter("identity-4096", host=text, program=text, route_name=text,
                                                                      route=4, context=context))


@vector("Fields of one type that differ only in what some store folds: case, blanks, length, normal form, control characters.")
def fields_alike():
    names = ["value", "VALUE", "Value", "value ", " value", "value\0", "value:u32", "value_u32", "n" * 255, "n" * 254, "n" * 63,
             "n" * 64, "\u00e5", "a\u030a", "\u212b", "value\u200b", "value\x1f", "field_value", "constant_value", "id", "ID"]
    kind = EventType(1, "hostile.alike", [Field("u32", name) for name in names], [Constant("u32", name, "", 7) for name in ("k", "K")])
    return with_events([kind], [Event(1, 5_000_000, list(range(len(names))))], **emitter("alike"))


@vector("Types whose names differ only in that.")
def types_alike():
    names = ["hostile.same", "HOSTILE.same", "hostile.same ", "hostile.same\0", "hostile/same", "hostile.sam\u00e9", "hostile.same\u0301",
             "hostile.same:20260921", "hostile.same_data", "x" * 250 + "1", "x" * 250 + "2", "x" * 63 + "1", "x" * 63 + "2"]
    return of_names("types-alike", names, lambda number, name: EventType(number, name, [Field("u64", "id")]))


@vector("One name whose fields change their type from version to version, id included.")
def types_that_change():
    kinds = ["i32", "u64", "f64", "string", "bool", "bytes", "f32", "i64", "u32"]
    sample = {"i32": -1, "u64": 2**64 - 1, "f64": 1e300, "string": "x", "bool": True, "bytes": b"\0", "f32": 0.5, "i64": -(2**63), "u32": 7}
    types = [EventType(number, "hostile.changes", [Field(kind, "id"), Field(kind, "v")], level=number % 8 + 1)
             for number, kind in enumerate(kinds, 1)]
    return with_events(types, [Event(each.number, 5_000_000 + each.number, [sample[each.fields[0].type]] * 2) for each in types],
                       **emitter("changes"))


@vector("Numbers at all limits as values, as ids, as constants.")
def numbers():
    limits = {"i32": [-(2**31), 2**31 - 1], "u32": [0, 2**32 - 1], "i64": [-(2**63), 2**63 - 1], "u64": [2**63, 2**64 - 1],
              "f32": [float("inf"), float("-inf")], "f64": [float("inf"), 1.7976931348623157e308]}
    types = [EventType(number, f"hostile.number.{kind}", [Field(kind, "id"), Field(kind, "ms", "ms")],
                       [Constant(kind, "least", "", pair[0]), Constant(kind, "most", "", pair[1])])
             for number, (kind, pair) in enumerate(limits.items(), 1)]
    events = [Event(each.number, 5_000_000 + n, [value, value])
              for each in types for n, value in enumerate(limits[each.fields[0].type])]
    return with_events(types, events, **emitter("numbers"))


@vector("Numbers that are none, or nearly: NaN of several bits, the smallest, and zeros of both signs.")
def small_numbers():
    limits = {"f32": [Bits(0x7FC00000), Bits(0xFF800001), float("-inf"), -0.0, 1e-45],
              "f64": [Bits(0x7FF8000000000000), Bits(0xFFFFFFFFFFFFFFFF), float("-inf"), -0.0, 5e-324]}
    types = [EventType(number, f"hostile.small.{kind}", [Field(kind, "id"), Field(kind, "ms", "ms")], [Constant(kind, "nan", "", values[1])])
             for number, (kind, values) in enumerate(limits.items(), 1)]
    events = [Event(each.number, 5_000_000 + n, [value, value])
              for each in types for n, value in enumerate(limits[each.fields[0].type])]
    return with_events(types, events, **emitter("small"))


@vector("Fields with the names that readers give to others: what each event has, with one _ and with two.")
def suffixed_fields():
    names = [word + "_" * n for word in ("ts", "type", "host", "sequence", "non_finite", "pid", "DATE") for n in range(3)]
    kind = EventType(1, "hostile.suffixed", [Field("u32", name) for name in names])
    return with_events([kind], [Event(1, 5_000_000, list(range(len(names))))], **emitter("suffixed"))


@vector("Counters that lie: more dropped than emitted, all at their limit.")
def counters():
    kind = EventType(1, "hostile.counters", [Field("u64", "id")])
    batch = with_events([kind], [Event(1, 5_000_000, [1])], **emitter("counters"))
    batch.counters = [0] + [2**64 - 1] * 11
    return batch


@vector("The largest sequence and thread that there are.")
def sequence():
    kind = EventType(1, "hostile.sequence", [Field("u64", "id")])
    batch = with_events([kind], [Event(1, 5_000_000, [1])], **emitter("sequence", sequence=2**64 - 1, pid=2**32 - 1))
    batch.segments[0].thread = 2**64 - 1
    return batch


def clock(name, realtime_ns):
    def make():
        calibrations = [Calibration(1_000_000, 0, realtime_ns), Calibration(2_701_000_000, 1_000_000_000, realtime_ns)]
        kind = EventType(1, "hostile.clock", [Field("u64", "id")])
        return with_events([kind], [Event(1, 5_000_000, [1])], **emitter(f"clock {name}", calibrations=calibrations))

    make.__name__ = f"clock_{name}".replace("-", "_")
    vector(f"An emitter whose clock stands at {name}.")(make)


for year, start_ns in {"1677": -(2**63) + 10**9, "1969": -1, "1970": 0, "2038": 2**31 * 10**9, "2099": 4_070_908_800 * 10**9,
                       "2262": 2**63 - 2 * 10**9}.items():
    clock(f"year-{year}", start_ns)


@vector("A clock that jumps by decades from one calibration to the next and back, with events around.")
def clock_jumps():
    steps = [CLOCK[0], Calibration(2_701_000_000, 1_500_000_000, 0, flags=1), Calibration(5_401_000_000, 2_500_000_000, 4 * 10**18, flags=1)]
    kind = EventType(1, "hostile.clock", [Field("u64", "id")])
    return with_events([kind], [Event(1, tick, [n]) for n, tick in enumerate((5_000_000, 2_702_000_000, 5_402_000_000))],
                       **emitter("clock jumps", calibrations=steps))


@vector("1,500 types in one batch.")
def types_1500():
    types = [EventType(number, f"hostile.many.{number:05}.".ljust(60, "y"), [Field("u64", "id")]) for number in range(1, 1501)]
    return with_events(types, [Event(each.number, 5_000_000, [each.number]) for each in types], **emitter("types-1500"))


@vector("The highest type numbers, and fields as many as a type may have, all named with 255 bytes.")
def widest_type():
    kind = EventType(65_535, "hostile.widest", [Field("bool", f"{n:03}".ljust(255, "w"), "u" * 255) for n in range(255)])
    return with_events([kind], [Event(65_535, 5_000_000, [True] * 255)], **emitter("widest"))


@vector("Every control character, in a name, in a text and in the context.")
def control_characters():
    text = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    kind = EventType(1, f"hostile.control.{text}", [Field("string", text), Field("u64", "id")], [Constant("string", "k", text, text)])
    return with_events([kind], [Event(1, 5_000_000, [text, 1])], **emitter("control", program=text, context=[(text, text)]))


# What is too large to be kept is made when a test asks for it: make_vectors.py --large FOLDER.

MADE = {}


class Made:
    """A file of batches, one behind the other, and how many of them readers have to accept or to refuse with a code.

    `any` is due from whoever judges each batch alone; `remembering` from jobs, archives and lifeline-cat, who know what came
    before, and are given the file in order; any other keyword is the reader or store that differs from those.
    """

    def __init__(self, make, due):
        self.about = make.__doc__
        self.make = make
        self.due = due

    def batches(self):
        return [bytes(each if isinstance(each, (bytes, bytearray)) else build(each).data) for each in self.make()]


def made(**due):
    def register(make):
        MADE[make.__name__.replace("_", "-")] = Made(make, due)
        return make

    return register


def many_types(name, numbers, **changes):
    types = [EventType(number, f"{number:05}") for number in numbers]
    return with_events(types, [Event(each.number, 5_000_000) for each in types], **emitter(name, **changes))


@made(any={"accepted": 1}, postgresql={"too_many_types": 1})
def types_20000():
    """As many types as one batch may bring to harm a reader that keeps something of each, their numbers up to the highest."""
    yield many_types("types-20000", range(65_535, 45_535, -1))


@made(any={"accepted": 4}, postgresql={"too_many_types": 4})
def types_20000_of_4():
    """As many types of four emitters, each of which has a quarter of them."""
    for part in range(4):
        yield many_types(f"types-20000-of-4 {part}", range(1 + 5_000 * part, 5_001 + 5_000 * part))


@made(any={"accepted": 4}, postgresql={"too_many_types": 4})
def numbers_65535():
    """All numbers that a type may have, each in 1 of 4 batches."""
    for part in range(4):
        yield many_types("numbers-65535", range(1 + part, 65_536, 4), sequence=part + 1)


@made(any={"accepted": 1})
def longest_texts():
    """Every event as long as one may be, of what a terminal, a page or a quoted text takes for more."""
    kind = EventType(1, "hostile.longest", [Field("string", "text")])
    texts = [(text * 33_000)[: (LARGEST_STRING - 3) // len(text[0].encode())] for text in ("\0", '"', "\\", "<b>", "\u202e", "\x1b[2J")]
    yield with_events([kind], [Event(1, 5_000_000 + n, [text]) for n, text in enumerate(texts)], **emitter("longest"))


@made(any={"accepted": 1})
def parts_510():
    """As many fields and constants as a type may have, all named with 255 bytes."""
    kind = EventType(1, "hostile.parts", [Field("u32", f"f{n:03}".ljust(255, "w"), "u" * 255) for n in range(255)],
                     [Constant("u32", f"c{n:03}".ljust(255, "w"), "u" * 255, n) for n in range(255)])
    yield with_events([kind], [Event(1, 5_000_000, list(range(255)))], **emitter("parts-510"))


@made(any={"bad_length": 2})
def fields_65535():
    """A type with one field more than it may have, and one with 65,535, whose counts say what is left of them in a byte."""
    for count in (256, 65_535):
        fields = [Field("bool", f"{n:04x}") for n in range(count)]
        kind, told = EventType(1, "hostile.fields", fields), EventType(1, "hostile.fields", fields[: count % 256])
        image = build(with_events([kind], [], **emitter(f"fields {count}")))
        image.patch("type0.hash", "Q", type_hash(told))
        yield image.data


def conflict(value, sequence=1, name="conflicts"):
    return with_events([EventType(1, "hostile.conflict", [Field("u64", "id")])], [Event(1, 5_000_000, [value])],
                       **emitter(name, sequence=sequence))


@made(any={"accepted": 201}, remembering={"accepted": 1, "conflict": 200})
def conflicts():
    """One emitter's batch, and 200 others that claim its sequence."""
    return (conflict(n) for n in range(201))


@made(any={"accepted": 303}, remembering={"accepted": 301, "conflict": 1, "duplicate": 1})
def conflict_late():
    """A batch that claims the first sequence when 64 and more have followed, the first one again, and another one."""
    for sequence in range(1, 301):
        yield conflict(sequence, sequence, "conflict late")
    yield conflict(0, 1, "conflict late")
    yield conflict(1, 1, "conflict late")
    yield conflict(301, 301, "conflict late")


def packed(kind, name, compression, stored, raw_length=2**20, events=0, **changes):
    """A batch with those bytes for its events, which says so of their length before compression and of their number."""
    image = build(with_events([kind], [], compression=compression, compress=lambda raw: stored, **emitter(name, **changes)))
    for part, code, value in (("events_raw_length", "I", raw_length), ("segment0.bytes", "I", raw_length),
                              ("event_count", "I", events), ("segment0.events", "I", events), ("counter0", "Q", events)):
        image.overwrite(part, code, value)
    image.seal()
    return image.data


def lz4_run(first, matched, last=b""):
    """A block of literals, one match that repeats them `matched` bytes long, and literals."""
    token = min(len(last), 15) << 4
    return (bytes([len(first) << 4 | 15]) + first + struct.pack("<H", len(first)) + b"\xff" * ((matched - 19) // 255)
            + bytes([(matched - 19) % 255]) + bytes([token]) + last)


ROOM = LARGEST_BATCH - 600  # for compressed events, beside the other parts of a bomb
RLE = (1, 2**17, b"\0")  # a block of zstd: 4 bytes that become 128 KiB
BOMB = EventType(1, "hostile.bomb")


@made(any={"bad_compression": 48, "too_large": 16})
def bombs():
    """Events that grow to 30 GB, 240 MB, 100 MB; that say so themselves; that ask for windows of terabytes; that are said to."""
    small = zstd_frame([RLE] * 800)
    yield packed(BOMB, "bombs largest lz4", "lz4", lz4_run(bytes(8), 255 * (ROOM - 20)))
    yield packed(BOMB, "bombs largest zstd", "zstd", zstd_frame([RLE] * (ROOM // 4 - 5)))
    yield packed(BOMB, "bombs frames", "zstd", zstd_frame([RLE]) * 8)
    for n in range(15):
        yield packed(BOMB, f"bombs lz4 {n}", "lz4", lz4_run(bytes(8), 2**20 + n))
        yield packed(BOMB, f"bombs says so {n}", "zstd", b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2 ** (63 - n)) + small[6:])
        yield packed(BOMB, f"bombs window {n}", "zstd", small[:5] + bytes([0xFF - n]) + small[6:])
    for n in range(16):
        yield packed(BOMB, f"bombs claims {n}", ("lz4", "zstd")[n % 2], small, 2**20 + 8 if n == 0 else 2**32 - 8 * n)


SWOLLEN = EventType(1, "hostile.swollen", [], [Constant("string", f"constant {n:02}", "", "swollen " * 4) for n in range(30)])


@made(any={"accepted": 2}, ksqldb={"too_many_values": 2})
def swollen():
    """Legal, and of 8 KB: 131,072 events in 45 bytes of zstd, or 4 KB of LZ4, each with 30 constants that a row repeats."""
    word = struct.pack("<Q", 5_000_000 << 16 | 1)
    columns = zstd_frame([(1, 2**17, word[n : n + 1]) for n in range(8)])
    yield packed(SWOLLEN, "swollen", "zstd", columns, events=2**17, shuffle=8)
    yield packed(SWOLLEN, "swollen", "lz4", lz4_run(word, 2**20 - 16, word), events=2**17, sequence=2)
