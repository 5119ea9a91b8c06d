"""Legal batches for the sake of how their bytes are stored, and how many there may be."""

from . import compression
from .batches import BLOB, LARGEST_BATCH, LARGEST_STRING, TABLE1, base, repetitive, vector, with_events
from .model import Event, EventType, Field, Segment, build


@vector("A default batch of 64 KiB full of Table 1 events: at most 16.5 bytes per event, everything included.")
def table1_64k():
    return with_events([TABLE1], [Event(1, 5_000_000 + 35 * n, [n, n / 8]) for n in range(4073)])


@vector("Padding that is not zero, in header, descriptors and records: readers do not look.", "meaning")
def padding_not_zero():
    kind = EventType(1, "odd", [Field("bool", "b")])
    return with_events([kind], [Event(1, 5_000_000 + n, [n == 1]) for n in range(3)], padding=0xEE)


@vector("LZ4.")
def lz4():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4)


@vector("LZ4 behind a byte shuffle with whole rows.")
def lz4_shuffle():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4, shuffle=16)


@vector("LZ4 behind the widest shuffle, with bytes left over behind the rows.")
def lz4_shuffle_remainder():
    return with_events([TABLE1], repetitive(43), compression="lz4", compress=compression.lz4, shuffle=128)


@vector("LZ4 without a match, as no encoder writes it for such data.")
def lz4_literals():
    return with_events([TABLE1], repetitive(30), compression="lz4", compress=compression.lz4_literals)


@vector("Zstd.")
def zstd():
    return with_events([TABLE1], repetitive(100), compression="zstd", compress=compression.zstd)


@vector("Zstd behind a byte shuffle, from a big-endian machine.")
def zstd_shuffle_big():
    return with_events(
        [TABLE1], repetitive(100), compression="zstd", compress=compression.zstd, shuffle=8, byte_order="big"
    )


def from_two_threads():
    """Two types of one length; ticks that repeat, run backwards at the second thread, jump by 2^47, and wrap."""
    pair = [TABLE1, EventType(300, "other", [Field("u64", "u")])]
    ticks = [5_000_000 + n // 2 * 2_700 for n in range(40)] + [4_990_000 + 35 * n for n in range(40)]
    ticks += [2**47 - 1, 0, 2**47, 2**64 - 1, 3]
    events = [Event(1, tick, [n, 0.5]) if n % 3 else Event(300, tick, [n]) for n, tick in enumerate(ticks)]
    segments = [Segment(4242, events[:40]), Segment(4243, events[40:])]
    return {"types": pair, "segments": segments, "counters": [len(events)] + [0] * 11}


@vector("LZ4 behind a byte shuffle by records whose ticks are differences.")
def lz4_ticks():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4, shuffle=17)


@vector("Differences of ticks that are 0, negative and as large as can be, of two threads and two types.")
def zstd_ticks_of_two_threads():
    return base(**from_two_threads(), compression="zstd", compress=compression.zstd, shuffle=17)


@vector("The same from a big-endian machine.")
def lz4_ticks_big():
    return base(**from_two_threads(), compression="lz4", compress=compression.lz4, shuffle=17, byte_order="big")


@vector("Differences in rows that are no records: of every word with the one before.")
def lz4_ticks_of_words():
    return with_events([TABLE1], repetitive(100), compression="lz4", compress=compression.lz4, shuffle=9)


@vector("Differences in the widest rows, with bytes left over behind them.")
def lz4_ticks_remainder():
    return with_events([TABLE1], repetitive(43), compression="lz4", compress=compression.lz4, shuffle=129)


@vector("Differences of ticks where there is only a part of a row: nothing changes.")
def zstd_ticks_of_no_row():
    return with_events([TABLE1], repetitive(2), compression="zstd", compress=compression.zstd, shuffle=41)


@vector("A zstd frame that does not tell its size and ends with a checksum.")
def zstd_checksum():
    compress = compression.zstd_without_size_with_checksum
    return with_events([TABLE1], repetitive(100), compression="zstd", compress=compress)


@vector("A zstd frame of two raw blocks, shuffled in rows longer than the events: nothing moves.")
def zstd_raw_blocks():
    compress = compression.zstd_raw_blocks
    return with_events([TABLE1], repetitive(2), compression="zstd", compress=compress, shuffle=40)


@vector("An empty events section, compressed all the same.")
def zstd_of_nothing():
    return base(segments=[], counters=[0] * 12, compression="zstd", compress=compression.zstd)


def letters(count, start):
    return "".join(chr(97 + (start + n) % 26) for n in range(count))


@vector("The largest event: a record of 32,768 bytes.")
def largest_event():
    return with_events([BLOB], [Event(1, 5_000_000, [letters(LARGEST_STRING, 0)])])


@vector("The largest batch: 959,996 bytes, since a batch is a multiple of 8 and 4 for the CRC.")
def largest_batch():
    events = [Event(1, 5_000_000 + n, [letters(LARGEST_STRING, n)]) for n in range(29)]
    without_last = with_events([BLOB], events)
    rest = LARGEST_BATCH - len(build(without_last).data)
    return with_events([BLOB], events + [Event(1, 6_000_000, [letters(rest - 10, 0)])])


@vector("The largest events section, 1,048,576 bytes before compression.")
def largest_raw_events():
    events = [Event(1, 5_000_000 + n, ["a" * LARGEST_STRING]) for n in range(32)]
    return with_events([BLOB], events, compression="zstd", compress=compression.zstd)
