#!/usr/bin/env python3
"""Generates the C header and the documentation of the standard events from catalogue.json.

    generate.py           writes emitter/include/lifeline/events.h and schemas/CATALOGUE.md
    generate.py --check   exits 1 if either differs from what would be written

Python's standard library only.
"""

import argparse
import json
import re
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CATALOGUE = HERE / "catalogue.json"
HEADER = HERE.parents[1] / "emitter" / "include" / "lifeline" / "events.h"
DOCUMENT = HERE.parent / "CATALOGUE.md"

# FORMAT.md, sections 4 and 5.
TYPES = {"i32": 1, "i64": 2, "f32": 3, "f64": 4, "string": 5, "u32": 6, "u64": 7, "bool": 8, "bytes": 9}
LEVELS = ["fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3"]

EVENT_NAME = re.compile(r"[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*")
FIELD_NAME = re.compile(r"[a-z][a-z0-9_]*")
PERFSONAR_NAME = re.compile(r"[a-z0-9:-]+")

# LL_EVENT of lifeline.h.
FIELDS_MAX = 32


class CatalogueError(Exception):
    """The catalogue breaks one of its own rules."""


def require(condition, message):
    if not condition:
        raise CatalogueError(message)


def check_event(event):
    name = event["name"]
    require(EVENT_NAME.fullmatch(name), f"{name}: a name is lower-case words joined by dots")
    require(event["level"] in LEVELS, f"{name}: unknown level {event['level']!r}")
    require(event["doc"] and event["fields"], f"{name}: an event has a doc and at least one field")
    names = [field["name"] for field in event["fields"]]
    require(len(names) == len(set(names)), f"{name}: a field is named twice")
    require(len(names) <= FIELDS_MAX, f"{name}: an event has at most {FIELDS_MAX} fields")
    for field in event["fields"]:
        where = f"{name}.{field['name']}"
        require(FIELD_NAME.fullmatch(field["name"]), f"{where}: a field is a lower-case C identifier")
        require(field["type"] in TYPES, f"{where}: unknown type {field['type']!r}")
        require(field["doc"], f"{where}: a field has a doc")
        require(PERFSONAR_NAME.fullmatch(field.get("perfsonar", "-")), f"{where}: not a name of perfSONAR")


def check_pairs(events):
    """What analysis relies on: start and end come in pairs, tied together by an equal `id`."""
    by_name = {event["name"]: event for event in events}
    require(len(by_name) == len(events), "an event is named twice")
    other_end = {".start": ".end", ".end": ".start"}
    for name, event in by_name.items():
        for suffix, other in other_end.items():
            if name.endswith(suffix):
                partner = name.removesuffix(suffix) + other
                require(partner in by_name, f"{name}: has no {partner}")
                require(event["fields"][0]["name"] == "id", f"{name}: the first field of a pair is id")
                id_types = {by_name[n]["fields"][0]["type"] for n in (name, partner)}
                require(len(id_types) == 1, f"{name}: id has another type in {partner}")


def str16(text):
    data = text.encode()
    return struct.pack("<H", len(data)) + data


def identity(event):
    """The hash of FORMAT.md section 4, which makes a changed type another type."""
    entry = struct.pack("<BBBB", LEVELS.index(event["level"]) + 1, len(event["fields"]), 0, 0) + str16(event["name"])
    for field in event["fields"]:
        entry += bytes([TYPES[field["type"]]]) + str16(field["name"]) + str16(field["unit"])
    value = 0xCBF29CE484222325
    for byte in entry:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def c_header(groups):
    lines = [
        "/* Generated from schemas/catalogue/catalogue.json by schemas/catalogue/generate.py: edit there.",
        " *",
        " * The standard events. A program that emits these gets the pairing of starts with ends, the stage report and",
        " * the views of the archive without telling anybody what its events mean. */",
        "#ifndef LIFELINE_EVENTS_H",
        "#define LIFELINE_EVENTS_H",
        "",
        "#include <lifeline/lifeline.h>",
        "",
        "/* Fields become parameters of functions, and may be named as something of the program's. */",
        "#pragma GCC diagnostic push",
        '#pragma GCC diagnostic ignored "-Wshadow"',
        "",
        "/* clang-format off */",
    ]
    for group in groups:
        lines += ["", f"/* {group['title']} */"]
        for event in group["events"]:
            ident = event["name"].replace(".", "_")
            fields = [f'({f["type"]}, {f["name"]}, "{f["unit"]}")' for f in event["fields"]]
            lines += ["", f"/* {event['doc']} */"]
            lines += [f'LL_EVENT({ident}, "{event["name"]}", LL_{event["level"].upper()},']
            lines += [f"         {field}," for field in fields[:-1]] + [f"         {fields[-1]});"]
    return "\n".join(lines + ["", "/* clang-format on */", "", "#pragma GCC diagnostic pop", "", "#endif", ""])


def table(fields):
    """The fields; with the column of perfSONAR's names if any field has one."""
    named = any("perfsonar" in field for field in fields)
    lines = ["| field | type | unit | meaning |" + named * " perfSONAR |", "|---|---|---|---|" + named * "---|"]
    for field in fields:
        theirs = f"`{field['perfsonar']}`" if "perfsonar" in field else "-"
        lines.append(f"| {field['name']} | {field['type']} | {field['unit'] or '-'} | {field['doc']} |" + named * f" {theirs} |")
    return lines


def document(groups):
    lines = [
        "# The standard events",
        "",
        "Generated from `catalogue/catalogue.json` by `catalogue/generate.py`: edit there.",
        "",
        "In C they are declared by `<lifeline/events.h>`, with `_` for `.` in their names:",
        "`ll_emit(disk_read_end, id, nbytes);`. The hash is the type's identity ([FORMAT.md](FORMAT.md), section 4):",
        "a change to a level, name, field or unit makes another type, and shows here.",
        "",
        "An event whose name ends in `.start` has a partner that ends in `.end`; the two are tied together by an equal",
        "first field, `id`, and equal (incarnation, thread) unless an analysis knows better.",
        "",
        "The column perfSONAR has the name that BLiPP (`ps:tools:...`) or perfSONAR's archive gives to the same quantity.",
        "Theirs are rates or fractions of an interval; ours are cumulative counters, unless they are a state, such as",
        "free memory. The increase of a counter over an interval is their value.",
    ]
    for group in groups:
        lines += ["", f"## {group['title']}", "", group["doc"]]
        for event in group["events"]:
            lines += ["", f"### `{event['name']}`", ""]
            lines += [
                f"{event['doc'][0].upper()}{event['doc'][1:]}. Level {event['level']}, hash `{identity(event):016x}`.",
                "",
            ]
            lines += table(event["fields"])
    return "\n".join(lines + [""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a generated file is out of date")
    arguments = parser.parse_args()

    groups = json.loads(CATALOGUE.read_text())["groups"]
    events = [event for group in groups for event in group["events"]]
    try:
        for event in events:
            check_event(event)
        check_pairs(events)
    except CatalogueError as error:
        sys.exit(f"catalogue.json: {error}")

    stale = []
    for path, text in ((HEADER, c_header(groups)), (DOCUMENT, document(groups))):
        if path.exists() and path.read_text() == text:
            continue
        if arguments.check:
            stale.append(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        print(f"{path.relative_to(HERE.parents[1])} is out of date: run schemas/catalogue/generate.py", file=sys.stderr)
    if stale:
        sys.exit(1)
    print(f"catalogue: events={len(events)} " + ("up to date" if arguments.check else "written"))


if __name__ == "__main__":
    main()
