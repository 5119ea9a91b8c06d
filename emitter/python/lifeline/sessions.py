"""Sessions: named spans of interest, which tie together the events of several programs."""

import ctypes
import os

from lifeline._library import Session, library
from lifeline.events import refusals

_TRACEPARENT_BYTES = 56


class session:
    """A session, as a context manager. It is one of the process, see lifeline/session.h.

        with lifeline.session("nightly copy") as copy:
            subprocess.run(["rsync", ...], env=copy.environ())
            requests.get(url, headers={"traceparent": copy.traceparent})

    It ends with ok unless an exception leaves it. `traceparent` joins a trace: the header of a request, or
    os.environ["TRACEPARENT"]; an invalid one counts as none. Never raises by itself: a session that cannot be begun is
    counted as refused, and still has an id.
    """

    def __init__(self, name="", traceparent=None):
        self._name, self._joined = name, traceparent
        self._session, self._begun = Session(), False

    def __enter__(self):
        try:
            error = library.ll_session_begin(ctypes.byref(self._session), _text(self._name), _text(self._joined))
            self._begun = error == 0
            if error != 0:
                refusals.add("session.start", OSError(error, os.strerror(error)))
        except Exception as error:
            refusals.add("session.start", error)
        return self

    def __exit__(self, kind, value, _traceback):
        ok = kind is None or (issubclass(kind, SystemExit) and value.code in (None, 0))
        try:
            if self._begun:
                library.ll_session_end(ctypes.byref(self._session), int(ok))
        except Exception as error:
            refusals.add("session.end", error)
        self._begun = False
        return False

    @property
    def id(self):
        """32 hexadecimal digits: the ID of the session and of its trace. All zero without the library."""
        return bytes(self._session.id).hex()

    @property
    def parent(self):
        """The ID of the enclosing session; None without one."""
        parent = bytes(self._session.parent)
        return parent.hex() if any(parent) else None

    @property
    def traceparent(self):
        """W3C traceparent, for headers and for TRACEPARENT; None without the library."""
        if not any(self._session.id):
            return None
        text = ctypes.create_string_buffer(_TRACEPARENT_BYTES)
        library.ll_traceparent_format(ctypes.byref(self._session), text)
        return text.value.decode()

    def environ(self):
        """A copy of os.environ for a child process that belongs to the session."""
        environment = dict(os.environ)
        if self.traceparent is not None:
            environment["TRACEPARENT"] = self.traceparent
            pairs = environment.pop("LIFELINE_CONTEXT", "").split(",")
            kept = [pair for pair in pairs if pair and pair.partition("=")[0] not in ("session", "parent", "traceparent")]
            kept += [f"session={self.id}"] + ([f"parent={self.parent}"] if self.parent else [])
            environment["LIFELINE_CONTEXT"] = ",".join(kept)
        return environment


def _text(text):
    """NUL would end the text in C; the name is cut there rather than refused."""
    if text is None:
        return None
    return str(text).encode("utf-8", "replace").partition(b"\0")[0]
