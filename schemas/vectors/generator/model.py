"""What a batch means, and its bytes: FORMAT.md sections 1 to 6 and 8, written down once more.

Nothing here checks anything: the faults of invalid/ are built by the same code as valid/. Nothing here is shared
with a codec, so that an error of one is seen by the other.
"""

import struct
from dataclasses import dataclass, field

FLAGS = {"FINAL": 1, "RECOVERED": 2, "CLOCK_UNCERTAIN": 4, "DERIVED": 8}
LEVELS = ["fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3"]
TYPE_CODES = {"i32": 1, "i64": 2, "f32": 3, "f64": 4, "string": 5, "u32": 6, "u64": 7, "bool": 8, "bytes": 9}
NUMBER_FORMATS = {"i32": "i", "i64": "q", "f32": "f", "f64": "d", "u32": "I", "u64": "Q", "bool": "B"}
COMPRESSIONS = ["none", "lz4", "zstd"]
TICK48 = 2**48


@dataclass
class Bits:
    """A float by its bits, where the value alone does not say which: NaN."""

    bits: int


@dataclass
class Field:
    type: str
    name: str
    unit: str = ""


@dataclass
class Constant:
    type: str
    name: str
    unit: str
    value: object


@dataclass
class EventType:
    number: int
    name: str
    fields: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    level: int = 4


@dataclass
class Event:
    type: int
    tick: int
    values: list = field(default_factory=list)


@dataclass
class Segment:
    thread: int
    events: list


@dataclass
class Calibration:
    tick: int
    monotonic_ns: int
    realtime_offset_ns: int
    error_ns: int = 0
    flags: int = 0


@dataclass
class Parent:
    incarnation: bytes
    sequence: int
    route: int
    events_in: int
    events_out: int


@dataclass
class Batch:
    byte_order: str = "little"
    compression: str = "none"
    compress: object = None  # bytes -> bytes
    shuffle: int = 0  # stride of the byte shuffle, plus 1 if ticks are differences
    flags: int = 0
    incarnation: bytes = bytes.fromhex("00112233445566778899aabbccddeeff")
    sequence: int = 1
    base_tick: int = 0
    tick_hz: int = 1_000_000_000
    clock: int = 0
    pid: int = 4242
    route: int = 0
    route_name: str = "default"
    host: str = "foo.lbl.gov"
    program: str = "my_program"
    counters: list = field(default_factory=lambda: [0] * 12)
    calibrations: list = field(default_factory=list)
    segments: list = field(default_factory=list)
    parent: Parent = None
    context: list = field(default_factory=list)
    types: list = field(default_factory=list)
    extension: bytes = b""  # header bytes of a later minor revision
    padding: int = 0  # what padding holds

    def events(self):
        return [event for segment in self.segments for event in segment.events]


class Image:
    """Bytes in one byte order, which remember where each named part begins."""

    def __init__(self, byte_order, padding=0):
        self.order = "<" if byte_order == "little" else ">"
        self.padding = bytes([padding])
        self.data = bytearray()
        self.at = {}

    def number(self, code, value, name=None):
        self.raw(struct.pack(self.order + code, value), name)

    def raw(self, data, name=None):
        if name:
            self.at[name] = len(self.data)
        self.data += data

    def str16(self, text, name=None):
        data = text if isinstance(text, bytes) else text.encode()
        self.number("H", len(data), name)
        self.raw(data)

    def pad(self):
        self.data += self.padding * (-len(self.data) % 8)

    def value(self, type_name, value):
        if isinstance(value, Bits):
            self.number({"f32": "I", "f64": "Q"}[type_name], value.bits)
        elif isinstance(type_name, int):  # a type that does not exist
            self.raw(value)
        elif type_name in ("string", "bytes"):
            self.str16(value)
        else:
            self.number(NUMBER_FORMATS[type_name], value)

    def patch(self, name, code, value):
        """Overwrites a named part and repairs the CRC."""
        self.overwrite(name, code, value)
        self.seal()

    def overwrite(self, name, code, value):
        struct.pack_into(self.order + code, self.data, self.at[name], value)

    def seal(self):
        struct.pack_into(self.order + "I", self.data, len(self.data) - 4, crc32c(self.data[:-4]))


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def fnv1a64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def put_identity(image, event_type, name):
    """The part of a descriptor that its hash covers."""
    image.number("B", event_type.level, f"{name}.level")
    image.number("B", len(event_type.fields) % 256, f"{name}.field_count")  # hostile.py has more than a byte can say
    image.number("B", len(event_type.constants), f"{name}.constant_count")
    image.number("B", 0, f"{name}.reserved8")
    image.str16(event_type.name, f"{name}.name")
    for index, part in enumerate(event_type.fields + event_type.constants):
        code = part.type if isinstance(part.type, int) else TYPE_CODES[part.type]
        image.number("B", code, f"{name}.part{index}")
        image.str16(part.name)
        image.str16(part.unit)
        if isinstance(part, Constant):
            image.at[f"{name}.part{index}.value"] = len(image.data)
            image.value(part.type, part.value)


def type_hash(event_type):
    image = Image("little")
    put_identity(image, event_type, "type")
    return fnv1a64(image.data)


def descriptors(batch):
    image = Image(batch.byte_order, batch.padding)
    for index, event_type in enumerate(batch.types):
        name = f"type{index}"
        start = len(image.data)
        image.number("I", 0, f"{name}.entry_length")
        image.number("H", event_type.number, f"{name}.number")
        image.number("H", 0, f"{name}.reserved16")
        image.number("Q", type_hash(event_type), f"{name}.hash")
        put_identity(image, event_type, name)
        image.pad()
        struct.pack_into(image.order + "I", image.data, start, len(image.data) - start)
    return image


def records(batch):
    """The events section before shuffle and compression, and the length of each segment in it."""
    image = Image(batch.byte_order, batch.padding)
    fields = {event_type.number: event_type.fields for event_type in batch.types}
    lengths = []
    number = 0
    for segment in batch.segments:
        start = len(image.data)
        for event in segment.events:
            image.number("Q", event.tick % TICK48 << 16 | event.type, f"event{number}")
            for index, (part, value) in enumerate(zip(fields[event.type], event.values)):
                image.at[f"event{number}.field{index}"] = len(image.data)
                image.value(part.type, value)
            image.pad()
            number += 1
        lengths.append(len(image.data) - start)
    return image, lengths


def with_differences(data, stride, order):
    """The first word of each row but the first, less the previous one's tick."""
    rows = bytearray(data)
    words = [struct.unpack_from(order + "Q", data, at)[0] for at in range(0, len(data) - stride + 1, stride)]
    for row, (word, before) in enumerate(zip(words[1:], words), start=1):
        struct.pack_into(order + "Q", rows, row * stride, (word - (before >> 16 << 16)) % 2**64)
    return bytes(rows)


def shuffled(data, stride):
    rows = len(data) // stride
    columns = b"".join(data[column : rows * stride : stride] for column in range(stride))
    return columns + data[rows * stride :]


def build(batch, raw_events=None):
    """The batch's bytes. `raw_events` replaces the events section before compression, for faults inside it."""
    entries = descriptors(batch)
    events, lengths = records(batch)
    raw = bytes(events.data) if raw_events is None else raw_events(events)
    stored, stride = raw, batch.shuffle & ~1
    if batch.shuffle & 1:
        stored = with_differences(stored, stride, events.order)
    if stride:
        stored = shuffled(stored, stride)
    if batch.compression != "none":
        stored = batch.compress(stored)

    image = Image(batch.byte_order, batch.padding)
    image.raw(b"\x89LLB", "magic")
    image.number("B", 1, "version")
    image.number("B", {"little": 0, "big": 1}[batch.byte_order], "byte_order")
    image.number("B", COMPRESSIONS.index(batch.compression), "compression")
    image.number("B", batch.shuffle, "shuffle")
    image.number("I", batch.flags, "flags")
    image.number("I", 0, "header_length")
    image.raw(batch.incarnation, "incarnation")
    image.number("Q", batch.sequence, "sequence")
    image.number("Q", batch.base_tick, "base_tick")
    image.number("Q", batch.tick_hz, "tick_hz")
    image.number("I", 0, "total_length")
    image.number("I", len(entries.data), "descriptors_length")
    image.number("I", len(stored), "events_length")
    image.number("I", len(raw), "events_raw_length")
    image.number("I", len(batch.events()), "event_count")
    image.number("I", batch.pid, "pid")
    image.number("H", batch.route, "route")
    image.number("H", len(batch.counters), "counter_count")
    image.number("H", len(batch.calibrations), "calibration_count")
    image.number("H", len(batch.segments), "segment_count")
    image.number("H", len(batch.context), "context_count")
    image.number("B", batch.clock, "clock")
    image.raw(bytes(5), "reserved")

    for index, counter in enumerate(batch.counters):
        image.number("Q", counter, f"counter{index}")
    for index, calibration in enumerate(batch.calibrations):
        name = f"calibration{index}"
        image.number("Q", calibration.tick, f"{name}.tick")
        image.number("Q", calibration.monotonic_ns, f"{name}.monotonic_ns")
        image.number("q", calibration.realtime_offset_ns, f"{name}.realtime_offset_ns")
        image.number("I", calibration.error_ns, f"{name}.error_ns")
        image.number("I", calibration.flags, f"{name}.flags")
    for index, (segment, length) in enumerate(zip(batch.segments, lengths)):
        image.number("Q", segment.thread, f"segment{index}.thread")
        image.number("I", length, f"segment{index}.bytes")
        image.number("I", len(segment.events), f"segment{index}.events")
    if batch.parent:
        image.raw(batch.parent.incarnation, "parent")
        image.number("Q", batch.parent.sequence)
        image.number("H", batch.parent.route)
        image.number("H", 0, "parent.reserved16")
        image.number("I", batch.parent.events_in)
        image.number("I", batch.parent.events_out)
        image.number("I", 0, "parent.reserved32")
    image.str16(batch.host, "host")
    image.str16(batch.program, "program")
    image.str16(batch.route_name, "route_name")
    for index, (key, value) in enumerate(batch.context):
        image.str16(key, f"context{index}.key")
        image.str16(value, f"context{index}.value")
    image.raw(batch.extension, "extension")
    image.pad()
    header_length = len(image.data)

    for section in (entries, events):
        offset = len(image.data)
        image.at.update({name: offset + at for name, at in section.at.items()})
        image.raw(entries.data if section is entries else stored, "descriptors" if section is entries else "events")
    image.raw(bytes(4), "crc")
    struct.pack_into(image.order + "I", image.data, image.at["header_length"], header_length)
    struct.pack_into(image.order + "I", image.data, image.at["total_length"], len(image.data))
    image.seal()
    return image
