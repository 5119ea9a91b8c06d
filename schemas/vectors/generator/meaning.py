"""The JSON meaning of a batch: FORMAT.md sections 7 and 13. Integers of any size make the arithmetic plain."""

import json
import math
import struct

from .model import FLAGS, LEVELS, TICK48, Bits, type_hash


def full_tick(base, tick48):
    distance = (tick48 - base) % TICK48
    if distance >= TICK48 // 2:
        distance -= TICK48
    return (base + distance) % 2**64


def signed64(value):
    value %= 2**64
    return value - 2**64 if value >= 2**63 else value


def time_ns(batch, tick):
    calibrations = batch.calibrations
    real = [c.monotonic_ns + c.realtime_offset_ns for c in calibrations]
    last = len(calibrations) - 1
    i = max((k for k, c in enumerate(calibrations) if c.tick <= tick), default=0)
    if last == 0:
        mult = (10**9 << 32) // batch.tick_hz
    else:
        a = min(i, last - 1)
        b = a + 1
        y = [c.monotonic_ns for c in calibrations] if calibrations[b].flags & 1 else real
        mult = (y[b] - y[a] << 32) // (calibrations[b].tick - calibrations[a].tick)
    return signed64(real[i] + (signed64(tick - calibrations[i].tick) * mult >> 32))


def text_of(data):
    """A string as readers deliver it: one U+FFFD for each byte that is not part of a well-formed sequence."""
    if isinstance(data, str):
        return data
    text, at = "", 0
    while at < len(data):
        for length in (1, 2, 3, 4):
            try:
                text += data[at : at + length].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            text, length = text + "\ufffd", 1
        at += length
    return text


def float_value(type_name, value):
    if isinstance(value, Bits):
        return f"nan:{value.bits:0{8 if type_name == 'f32' else 16}x}"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if type_name == "f32":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return "-0" if value == 0 and math.copysign(1, value) < 0 else float(value)


def json_value(type_name, value):
    if type_name in ("f32", "f64"):
        return float_value(type_name, value)
    if type_name in ("i64", "u64"):
        return str(value)
    if type_name == "string":
        return text_of(value)
    if type_name == "bytes":
        return value.hex()
    if type_name == "bool":
        return bool(value)
    return value


def meaning(batch):
    value = {
        "version": 1,
        "byte_order": batch.byte_order,
        "compression": batch.compression,
        "shuffle": batch.shuffle,
        "flags": [name for name, bit in FLAGS.items() if batch.flags & bit],
        "incarnation": batch.incarnation.hex(),
        "sequence": str(batch.sequence),
        "base_tick": str(batch.base_tick),
        "tick_hz": str(batch.tick_hz),
        "clock": ["ticks", "monotonic"][batch.clock],
        "pid": batch.pid,
        "route": batch.route,
        "route_name": batch.route_name,
        "host": batch.host,
        "program": batch.program,
        "counters": [str(counter) for counter in batch.counters],
        "calibrations": [
            {
                "tick": str(c.tick),
                "monotonic_ns": str(c.monotonic_ns),
                "realtime_offset_ns": str(c.realtime_offset_ns),
                "error_ns": c.error_ns,
                "step": bool(c.flags & 1),
            }
            for c in batch.calibrations
        ],
        "segments": [{"thread": str(s.thread), "events": len(s.events)} for s in batch.segments],
    }
    if batch.parent:
        value["parent"] = {
            "incarnation": batch.parent.incarnation.hex(),
            "sequence": str(batch.parent.sequence),
            "route": batch.parent.route,
            "events_in": batch.parent.events_in,
            "events_out": batch.parent.events_out,
        }
    value["context"] = [list(pair) for pair in batch.context]
    value["types"] = [type_meaning(event_type) for event_type in batch.types]
    fields = {event_type.number: event_type.fields for event_type in batch.types}
    value["events"] = [event_meaning(batch, event, fields[event.type]) for event in batch.events()]
    return value


def type_meaning(event_type):
    return {
        "number": event_type.number,
        "hash": f"{type_hash(event_type):016x}",
        "level": LEVELS[event_type.level - 1],
        "name": event_type.name,
        "fields": [{"type": f.type, "name": f.name, "unit": f.unit} for f in event_type.fields],
        "constants": [
            {"type": c.type, "name": c.name, "unit": c.unit, "value": json_value(c.type, c.value)}
            for c in event_type.constants
        ],
    }


def event_meaning(batch, event, fields):
    tick = full_tick(batch.base_tick, event.tick % TICK48)
    return {
        "type": event.type,
        "tick": str(tick),
        "time_ns": str(time_ns(batch, tick)),
        "fields": [json_value(part.type, value) for part, value in zip(fields, event.values)],
    }


def dump(value):
    """JSON with one line for each header entry, type and event."""
    lines = []
    for key, part in value.items():
        if isinstance(part, list) and part and key in ("calibrations", "segments", "types", "events"):
            items = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in part)
            lines.append(f'"{key}": [\n{items}\n]')
        else:
            lines.append(f'"{key}": {json.dumps(part, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
