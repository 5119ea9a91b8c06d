"""Lifeline for Python: typed, timestamped events into NATS, Kafka or a file.

    import lifeline

    lifeline.emit("backup.end", nbytes=1 << 20, ok=True)

LIFELINE_URL, or init(), sets the destination; without either, an event costs a look at a flag. Emitting never blocks and
never raises, whatever the broker, the values and their `__str__` do: what cannot be sent, and what cannot be an event, is
counted, see stats(). The library is liblifeline.so.0, found where the system finds libraries, or named by
LIFELINE_LIBRARY. Without it events are off.
"""

from lifeline._library import LifelineError
from lifeline.emitter import flush, init, shutdown, stats
from lifeline.events import EventType, F32, I32, U32, U64, emit
from lifeline.handler import Handler
from lifeline.sessions import session

__all__ = [
    "EventType",
    "F32",
    "Handler",
    "I32",
    "LifelineError",
    "U32",
    "U64",
    "emit",
    "flush",
    "init",
    "session",
    "shutdown",
    "stats",
]
__version__ = "0.1.0"
