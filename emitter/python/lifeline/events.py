"""Event types: declared once, or by the values of an event."""

import ctypes
import errno
import logging
import os
import threading

from lifeline._library import Field, LifelineError, Value, check, library, log

LEVELS = {"fatal": 1, "error": 2, "warn": 3, "info": 4, "debug": 5, "debug1": 6, "debug2": 7, "debug3": 8}

_CODES = {"i32": 1, "i64": 2, "f32": 3, "f64": 4, "string": 5, "u32": 6, "u64": 7, "bool": 8, "bytes": 9}
_SIGNED, _REAL, _TEXT, _BYTES = ("i32", "i64"), ("f32", "f64"), "string", "bytes"


class _Typed:
    """A value that says its field's type."""

    __slots__ = ("value",)
    type = None

    def __init__(self, value):
        self.value = value


class I32(_Typed):
    type = "i32"


class U32(_Typed):
    type = "u32"


class U64(_Typed):
    type = "u64"


class F32(_Typed):
    type = "f32"


class _Refusals:
    """Counts what could not be an event, and logs the first of each event name."""

    MOST_NAMES = 1000

    def __init__(self):
        self.count, self._names, self._lock = 0, set(), threading.RLock()  # a signal handler may emit, too

    def add(self, name, error):
        with self._lock:
            self.count += 1
            first = name not in self._names and len(self._names) < self.MOST_NAMES
            if first:
                self._names.add(name)
        if first:
            log.warning("event %r is refused, and counted: %s: %s", name, type(error).__name__, error)


refusals = _Refusals()
os.register_at_fork(after_in_child=refusals.__init__)  # a child has counters of its own, and no thread that holds the lock


def type_of(value):
    """The field type that a value asks for: bool, i64 (u64 beyond it), f64, bytes; string for everything else."""
    if isinstance(value, _Typed):
        return value.type
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "i64" if -(2**63) <= value < 2**63 else "u64" if 0 < value < 2**64 else "string"
    if isinstance(value, float):
        return "f64"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes"
    return "string"


class EventType:
    """A declared event type. Emitting is calling it: with its fields' values in their order, or by name.

        DISK_READ = lifeline.EventType("disk.read.end", [("u64", "id", ""), ("u64", "nbytes", "B")])
        DISK_READ(7, 4096)

    Declaring raises ValueError or LifelineError for what no type may be; emitting never raises. A value that its type cannot
    hold is refused with its event. Types beyond the library's limit are off.
    """

    def __init__(self, name, fields, level="info"):
        self.name = name
        self._types = [type for type, _, _ in fields]
        self._order = {field: index for index, (_, field, _) in enumerate(fields)}
        self._values = Value * len(fields)
        declared = (Field * len(fields))()
        for into, (type, field, unit) in zip(declared, fields):
            if type not in _CODES:
                raise ValueError(f"{name}.{field}: unknown type {type!r}; types are {', '.join(_CODES)}")
            into.type, into.name, into.unit = _CODES[type], _text(field), _text(unit)
        if level not in LEVELS:
            raise ValueError(f"{name}: unknown level {level!r}; levels are {', '.join(LEVELS)}")
        self._handle = ctypes.c_void_p()
        error = library.ll_declare(_text(name), LEVELS[level], declared, len(fields), ctypes.byref(self._handle))
        if error in (errno.ENOSPC, errno.ENOMEM):
            refusals.add(name, LifelineError(error, os.strerror(error)))
        else:
            check(error, f"event type {name!r}")

    def __call__(self, *values, **named):
        if library.ll_is_on(self._handle):
            try:
                self._emit(values, named)
            except Exception as error:
                refusals.add(self.name, error)

    def _emit(self, values, named):
        if named:
            values = self._arranged(values, named)
        if len(values) != len(self._types):
            raise TypeError(f"{self.name} has {len(self._types)} fields, not {len(values)}")
        laid_out = self._values()
        kept = [_put(into, type, value) for into, type, value in zip(laid_out, self._types, values)]
        error = library.ll_emit_values(self._handle, laid_out, len(values))
        del kept  # the library has borrowed these
        check(error, self.name)

    def _arranged(self, values, named):
        arranged = list(values) + [None] * (len(self._types) - len(values))
        for name, value in named.items():
            if name not in self._order or self._order[name] < len(values):
                raise TypeError(f"{self.name} has no field {name!r}, or it is given twice")
            arranged[self._order[name]] = value
        if len(values) + len(named) != len(self._types):
            raise TypeError(f"{self.name} has {len(self._types)} fields, not {len(values) + len(named)}")
        return arranged


def _text(text):
    encoded = text.encode()
    if b"\0" in encoded:
        raise ValueError(f"{text!r} has a null character")
    return encoded


_RANGES = {
    "i32": (-(2**31), 2**31 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "u32": (0, 2**32 - 1),
    "u64": (0, 2**64 - 1),
}


def _put(into, type, value):
    """Returns what must live as long as the value is looked at."""
    if isinstance(value, _Typed):
        value = value.value
    if type in _RANGES:
        least, most = _RANGES[type]
        if not least <= value <= most:
            raise OverflowError(f"{value} does not fit into {type}")
        if type in _SIGNED:
            into.i64 = value
        else:
            into.u64 = value
    elif type in _REAL:
        into.f64 = value
    elif type == "bool":
        into.u64 = bool(value)
    else:
        data = bytes(value) if type == _BYTES else _text_bytes(value)
        into.bytes.data, into.bytes.size = data, len(data)
        return data
    return None


def _text_bytes(value):
    """The bytes of a file name are what they were; half of a surrogate pair, which is no character, costs no event, and
    neither does a value whose __str__ fails."""
    try:
        text = str(value)
    except Exception:
        text = f"<unprintable {type(value).__name__}>"
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


_known = {}


def emit(name, level="info", /, **fields):
    """Emits one event, whose type follows from the name, the level and the values.

    bool, int (i64), float (f64) and bytes are what they are; I32(5), U32(5), U64(5) and F32(0.5) say it; everything else
    is text. An int beyond i64 is a u64, and text beyond that. Events of one name whose values differ in type are different
    event types. Never raises: what can be no event is counted as refused, and logged once per name.
    """
    try:
        _type_for(name, level, fields)(*fields.values())
    except Exception as error:
        refusals.add(name if isinstance(name, str) else type(name).__name__, error)


def _type_for(name, level, fields):
    described = tuple((type_of(value), field) for field, value in fields.items())
    key = (name, level, described)
    type = _known.get(key)
    if type is None:  # threads that declare it at once get the same one; a lock might be held for ever after a fork
        type = _known.setdefault(key, EventType(name, [(t, field, "") for t, field in described], level))
    return type


def level_of(number):
    """The level that a level of `logging` is."""
    if number >= logging.CRITICAL:
        return "fatal"
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    if number >= logging.INFO:
        return "info"
    return "debug" if number >= logging.DEBUG else "debug1"
