"""The batches that a reader must reject, each with exactly one fault and, unless that is the fault, a true CRC."""

from . import invalid_events, invalid_header, invalid_message, invalid_text
from .faults import FAULTS  # noqa: F401

invalid_message.message_cut_short()
invalid_message.fixed_header()
invalid_header.reserved_and_unknown()
invalid_header.lengths_and_counts()
invalid_header.calibrations()
invalid_header.counts()
invalid_text.texts()
invalid_text.descriptors()
invalid_events.compressions()
invalid_events.record_faults()
