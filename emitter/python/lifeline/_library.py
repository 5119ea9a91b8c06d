"""The C library, as ctypes sees it: structures and prototypes of the headers lifeline.h, dynamic.h and session.h."""

import ctypes
import logging
import os

log = logging.getLogger("lifeline")


class LifelineError(OSError):
    """The library refused a call; errno says why."""


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Value(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("u64", ctypes.c_uint64), ("f64", ctypes.c_double), ("bytes", Bytes)]


class Field(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("name", ctypes.c_char_p), ("unit", ctypes.c_char_p)]


class Options(ctypes.Structure):

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("url", ctypes.c_char_p),
        ("routes", ctypes.c_char_p),
        ("program", ctypes.c_char_p),
        ("host", ctypes.c_char_p),
        ("context", ctypes.c_char_p),
        ("resolution", ctypes.c_char_p),
        ("triggers", ctypes.c_char_p),
        ("never", ctypes.c_char_p),
        ("max_for", ctypes.c_char_p),
        ("max_rate", ctypes.c_uint),
        ("ring_dir", ctypes.c_char_p),
        ("budget_bytes", ctypes.c_size_t),
        ("batch_bytes", ctypes.c_size_t),
        ("interval_ms", ctypes.c_uint),
        ("compression", ctypes.c_char_p),
        ("clock", ctypes.c_char_p),
        ("policy", ctypes.c_int),
        ("block_timeout_ms", ctypes.c_uint),
        ("flush_timeout_ms", ctypes.c_uint),
        ("spool", ctypes.c_char_p),
        ("spool_bytes", ctypes.c_uint64),
        ("spool_full", ctypes.c_char_p),
        ("spool_sync", ctypes.c_char_p),
        ("log", ctypes.c_void_p),
        ("log_ctx", ctypes.c_void_p),
    ]


class Statistics(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("on", ctypes.c_int),
        ("crash_safe", ctypes.c_int),
        ("emitted", ctypes.c_uint64),
        ("dropped_ring_full", ctypes.c_uint64),
        ("dropped_no_ring", ctypes.c_uint64),
        ("dropped_reentrant", ctypes.c_uint64),
        ("dropped_oversize", ctypes.c_uint64),
        ("dropped_shutdown", ctypes.c_uint64),
        ("dropped_sink", ctypes.c_uint64),
        ("dropped_spool_full", ctypes.c_uint64),
        ("sampled_out", ctypes.c_uint64),
        ("below_threshold", ctypes.c_uint64),
        ("folded", ctypes.c_uint64),
        ("batches_sealed", ctypes.c_uint64),
        ("batches_acknowledged", ctypes.c_uint64),
        ("batches_in_flight", ctypes.c_uint64),
        ("spooled", ctypes.c_uint64),
    ]


class Session(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_uint8 * 16),
        ("parent", ctypes.c_uint8 * 16),
        ("span", ctypes.c_uint8 * 8),
        ("flags", ctypes.c_uint8),
    ]


class Absent:
    """In the place of a library that cannot be loaded: every type is off, as with LIFELINE_DISABLE in C."""

    def __init__(self, reason):
        self._reason = f"events are off: {reason}; install liblifeline, or set LIFELINE_LIBRARY to the path of liblifeline.so"
        if os.environ.get("LIFELINE_URL"):
            log.warning(self._reason)

    def ll_init(self, _options):
        log.warning(self._reason)
        return 0

    def ll_is_on(self, _type):
        return 0

    ll_declare = ll_emit_values = ll_flush = ll_shutdown = ll_stats = lambda *_: 0
    ll_session_begin = ll_session_end = ll_traceparent_format = lambda *_: 0


def _load():
    try:
        return _with_prototypes(ctypes.CDLL(os.environ.get("LIFELINE_LIBRARY") or "liblifeline.so.0"))
    except (OSError, AttributeError) as error:  # none, or one that lacks a function
        return Absent(error)


def _with_prototypes(library):
    library.ll_init.argtypes = [ctypes.c_void_p]
    library.ll_flush.argtypes = [ctypes.c_uint]
    library.ll_shutdown.argtypes = [ctypes.c_uint]
    library.ll_stats.argtypes = [ctypes.POINTER(Statistics)]
    library.ll_stats.restype = None
    library.ll_declare.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.POINTER(Field),
        ctypes.c_uint,
        ctypes.POINTER(ctypes.c_void_p),
    ]
    library.ll_emit_values.argtypes = [ctypes.c_void_p, ctypes.POINTER(Value), ctypes.c_uint]
    library.ll_is_on.argtypes = [ctypes.c_void_p]
    session = ctypes.POINTER(Session)
    library.ll_session_begin.argtypes = [session, ctypes.c_char_p, ctypes.c_char_p]
    library.ll_session_end.argtypes = [session, ctypes.c_int]
    library.ll_traceparent_format.argtypes = [session, ctypes.c_char_p]
    library.ll_traceparent_format.restype = None
    return library


library = _load()


def check(error, what):
    if error != 0:
        raise LifelineError(error, f"{what}: {os.strerror(error)}")
