"""Two JSON meanings of a batch are equal if every value is, floats by their bits."""

import re
import struct

FLOATS = {"f32": ("<f", "<I", 8), "f64": ("<d", "<Q", 16)}
DECIMAL = re.compile(r"0|-?[1-9][0-9]*")


class NotAMeaning(Exception):
    """What an adapter printed does not have the form of FORMAT.md, section 13."""


def float_bits(type_name, value):
    number, integer, digits = FLOATS[type_name]
    if isinstance(value, str):
        special = {"-0": -0.0, "inf": float("inf"), "-inf": float("-inf")}
        if value in special:
            return struct.unpack(integer, struct.pack(number, special[value]))[0]
        if re.fullmatch(f"nan:[0-9a-f]{{{digits}}}", value):
            return int(value[4:], 16)
    elif type(value) in (int, float):
        return struct.unpack(integer, struct.pack(number, value))[0]
    raise NotAMeaning(f"{value!r} is not an {type_name}")


def comparable(type_name, value):
    if type_name in FLOATS:
        return f"{type_name} bits {float_bits(type_name, value):x}"
    wanted = {"i32": int, "u32": int, "i64": str, "u64": str, "string": str, "bytes": str, "bool": bool}[type_name]
    if type(value) is not wanted or (type_name in ("i64", "u64") and not DECIMAL.fullmatch(value)):
        raise NotAMeaning(f"{value!r} is not an {type_name}")
    return value


def normalised(meaning):
    """A copy in which every float is its bits, so that == compares what is meant."""
    try:
        types = []
        for kind in meaning["types"]:
            constants = [{**c, "value": comparable(c["type"], c["value"])} for c in kind["constants"]]
            types.append({**kind, "constants": constants})
        fields = {kind["number"]: [f["type"] for f in kind["fields"]] for kind in types}
        events = []
        for event in meaning["events"]:
            names = fields[event["type"]]
            if len(names) != len(event["fields"]):
                raise NotAMeaning(f"an event of type {event['type']} has {len(event['fields'])} fields")
            events.append({**event, "fields": [comparable(n, v) for n, v in zip(names, event["fields"])]})
    except (KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
        raise NotAMeaning(f"{type(error).__name__}: {error}") from error
    return {**meaning, "types": types, "events": events}


def difference(wanted, got, path=""):
    """The first place where two normalised meanings differ, in words, or None."""
    if type(wanted) is not type(got):
        return f"{path or 'the whole'}: expected {wanted!r:.80}, got {got!r:.80}"
    if isinstance(wanted, dict):
        if wanted.keys() != got.keys():
            odd = sorted(wanted.keys() ^ got.keys())
            return f"{path or 'the whole'}: {', '.join(odd)} on one side only"
        pairs = [(f"{path}.{key}" if path else key, wanted[key], got[key]) for key in wanted]
    elif isinstance(wanted, list):
        if len(wanted) != len(got):
            return f"{path}: expected {len(wanted)} entries, got {len(got)}"
        pairs = [(f"{path}[{n}]", a, b) for n, (a, b) in enumerate(zip(wanted, got))]
    else:
        return None if wanted == got else f"{path}: expected {wanted!r:.80}, got {got!r:.80}"
    return next((found for where, a, b in pairs if (found := difference(a, b, where))), None)
