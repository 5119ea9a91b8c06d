"""Records of `logging` as events."""

import logging

from lifeline import events

_PLAIN = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_FIELDS = [("string", "logger", ""), ("string", "message", ""), ("string", "file", ""), ("i32", "line", "")]


_TAKEN = {field for _, field, _ in _FIELDS} | {"exception"}


def _free(key):
    return f"{key}_" if key in _TAKEN else key


class Handler(logging.Handler):
    """Emits each record as an event `log.record` (logger, message, file, line) of the record's level.

        logging.getLogger().addHandler(lifeline.Handler())

    What a record carries in `extra` becomes further fields, typed by its values, and an exception becomes the field
    `exception`. Emitting does not block and never raises into the program: trouble goes to logging's handleError.
    """

    def __init__(self, name="log.record", level=logging.NOTSET):
        super().__init__(level)
        self._event_name = name
        self._types = {}

    def emit(self, record):
        try:
            extra = {_free(key): value for key, value in record.__dict__.items() if key not in _PLAIN}
            if record.exc_info:
                extra["exception"] = (self.formatter or logging.Formatter()).formatException(record.exc_info)
            message = self.format(record) if self.formatter else record.getMessage()
            type = self._type_for(events.level_of(record.levelno), extra)
            type(record.name, message, record.pathname, record.lineno, *extra.values())
        except Exception:
            self.handleError(record)

    def _type_for(self, level, extra):
        described = tuple((events.type_of(value), key) for key, value in extra.items())
        type = self._types.get((level, described))
        if type is None:
            fields = _FIELDS + [(t, key, "") for t, key in described]
            type = self._types[level, described] = events.EventType(self._event_name, fields, level)
        return type
