"""The lines that give a request to memcached its two events. They are inserted below lines that are found by a few of their words,
so that nothing of memcached is kept here."""

import re
from dataclasses import dataclass

FILE = "proto_text.c"


@dataclass(frozen=True)
class Insertion:
    function: str  # in which the line is; empty: anywhere
    below: str  # part of the line
    line: str


INSERTIONS = [
    Insertion("", '#include "proto_text.h"', '#include "request.h"'),
    Insertion("process_command_ascii", "tokenize_command(",
              "    request_begins(c, tokens[COMMAND_TOKEN].value, ntokens > 2 ? tokens[KEY_TOKEN].length : 0);"),
    # The value of a set follows: its request ends in the next function.
    Insertion("try_read_command_ascii", "process_command_ascii(c", "    if (c->state != conn_nread) request_ends(c);"),
    Insertion("complete_nread_ascii", "c->item = 0;", "    request_ends(c);"),
]


def body(lines, function):
    """The numbers of the first and last line of a function in the style of memcached, whose end is a brace that is not indented."""
    head = re.compile(rf"\w.*\b{function}\(.*\)\s*\{{?$")
    for first, line in enumerate(lines):
        if head.match(line):
            for last in range(first, len(lines)):
                if lines[last] == "}":
                    return first, last
    raise RuntimeError(f"{FILE} has no function {function}")


def inserted(lines, change):
    first, last = body(lines, change.function) if change.function else (0, len(lines) - 1)
    found = [number for number in range(first, last + 1) if change.below in lines[number]]
    if len(found) != 1:
        raise RuntimeError(f"{FILE} has {len(found)} lines with {change.below} in {change.function or 'the whole file'}, and not one")
    return lines[:found[0] + 1] + [change.line] + lines[found[0] + 1:]


def changed(text):
    """The text of the file with two events per request."""
    lines = text.split("\n")
    for change in INSERTIONS:
        lines = inserted(lines, change)
    return "\n".join(lines)
