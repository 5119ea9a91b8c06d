"""Messages cut short, and what is wrong before the CRC is known to be true."""

import struct

from . import compression
from .batches import BLOB, LARGEST_STRING, base, with_events
from .faults import WHOLE, fault, patched
from .model import Event, build


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
    fault(
        "longer-than-total",
        "bad_length",
        "8 bytes follow the batch.",
        image,
        len(image.data),
        bytes(image.data) + bytes(8),
    )

    image = build(base())
    lengths = struct.unpack_from("<I", image.data, image.at["header_length"])[0] + 2**31
    image.patch("header_length", "I", lengths)
    image.patch(
        "descriptors_length", "I", struct.unpack_from("<I", image.data, image.at["descriptors_length"])[0] + 2**31
    )
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
