"""The batches that vectors start from, and the list that they are put on."""

from dataclasses import dataclass, replace

from .model import TYPE_CODES, Batch, Calibration, Event, EventType, Field, Segment

EPOCH_2003 = 1_049_155_200_000_000_000
TABLE1 = EventType(1, "MY_EVENT", [Field("i32", "i", ""), Field("f32", "f", "")])
CLOCK = [
    Calibration(1_000_000, 500_000_000, EPOCH_2003, error_ns=42),
    Calibration(2_701_000_000, 1_500_000_000, EPOCH_2003 + 250, error_ns=37),
]
BLOB = EventType(1, "blob", [Field("string", "s")])
LARGEST_STRING = 32_768 - 8 - 2
LARGEST_BATCH = 959_996
EVERY_TYPE = EventType(7, "every.type", [Field(name, f"a_{name}", "u") for name in TYPE_CODES])


@dataclass
class Vector:
    batch: Batch
    about: str
    encodable: str  # "identical": encode gives these bytes; "meaning": other bytes of equal meaning; "no"
    folder: str  # "valid", or "hostile": legal, too, and made to harm who reads it


VECTORS = {}


def vector(about, encodable=None, folder="valid"):
    def register(make):
        batch = make()
        how = encodable or ("identical" if batch.compression == "none" else "meaning")
        VECTORS[make.__name__.replace("_", "-")] = Vector(batch, about, how, folder)
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
