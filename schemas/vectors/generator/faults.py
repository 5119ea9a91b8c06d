"""The list of faults, and how a batch gets one."""

from dataclasses import dataclass, replace

from .batches import TABLE1, base
from .model import FLAGS, Constant, EventType, Field, Parent, build


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
