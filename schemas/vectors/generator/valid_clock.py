"""Legal batches for the sake of ticks and times."""

from .batches import CLOCK, EPOCH_2003, TABLE1, vector, with_events
from .model import TICK48, Calibration, Event


@vector("Six calibrations of which two carry a step of realtime, forwards and backwards; events around each.")
def clock_steps():
    calibrations = [
        Calibration(1_000_000, 10**9, EPOCH_2003),
        Calibration(3_700_000, 10**9 + 1_000_003, EPOCH_2003 - 3),
        Calibration(6_400_000, 10**9 + 2_000_001, EPOCH_2003 + 3600 * 10**9, flags=1),
        Calibration(9_100_000, 10**9 + 3_000_009, EPOCH_2003 + 3600 * 10**9 + 500),
        Calibration(9_100_001, 10**9 + 3_000_009, EPOCH_2003 - 10**12, error_ns=2**32 - 1, flags=1),
        Calibration(11_800_000, 10**9 + 4_000_000, EPOCH_2003 - 10**12),
    ]
    ticks = [0, 999_999, 20_000_000] + [c.tick + d for c in calibrations for d in (0, 1, 1_234_567)]
    return with_events([TABLE1], [Event(1, t, [n, 0.0]) for n, t in enumerate(ticks)], calibrations=calibrations)


@vector("The last calibration carries a step: events after it use its realtime and the slope of monotonic time.")
def clock_step_at_the_end():
    stepped = Calibration(3_701_003, 1_001_000_000, EPOCH_2003 - 5 * 10**9, flags=1)
    ticks = [1_000_000, 2_222_222, 3_701_002, 3_701_003, 3_701_004, 9_999_999]
    calibrations = [Calibration(1_000_000, 10**9, EPOCH_2003), stepped]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], calibrations=calibrations)


@vector("One calibration alone, so tick_hz counts: events before and after it.")
def clock_one_calibration():
    ticks = [0, 999_999, 1_000_000, 1_000_001, 2_700_999_983, 10**12]
    events = [Event(1, t, [0, 0.0]) for t in ticks]
    return with_events([TABLE1], events, calibrations=CLOCK[:1], tick_hz=2_699_999_983)


@vector("CLOCK_MONOTONIC_RAW in place of a counter: a tick is a nanosecond.")
def clock_monotonic():
    calibrations = [Calibration(5 * 10**9, 5 * 10**9, EPOCH_2003)]
    events = [Event(1, 5 * 10**9 + n * 1_000_000_007, [n, 0.0]) for n in range(3)]
    return with_events([TABLE1], events, base_tick=5 * 10**9, calibrations=calibrations, tick_hz=10**9, clock=1)


@vector("Times that leave the range of i64 and wrap; a tick of one second; a tick before the first calibration.")
def clock_wraps():
    calibrations = [Calibration(2**47, 2**63, -1000)]
    ticks = [2**47 + n for n in (-(10**10), -10, -1, 0, 1, 10, 10**10)]
    events = [Event(1, t, [0, 0.0]) for t in ticks]
    return with_events([TABLE1], events, base_tick=2**47, calibrations=calibrations, tick_hz=1)


@vector("The steepest legal slope, 2^62 - 1 parts of 2^32 ns per tick, and a clock that stands still.")
def clock_steepest_and_flat():
    steep = 2**30 * 4
    calibrations = [
        Calibration(0, 0, 0),
        Calibration(steep, (2**62 - 1), 0),
        Calibration(steep + 10, 2**62 - 1, 0),
    ]
    ticks = [0, 1, 2, 3, 12345, steep - 1, steep, steep + 5, steep + 10, steep + 1000]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], base_tick=0, calibrations=calibrations)


@vector("Realtime far from zero on both sides: the rise between two calibrations needs all 64 bits.")
def clock_wide_rise():
    calibrations = [Calibration(0, 0, -(2**63)), Calibration(2**40, 2**63, -1)]
    ticks = [0, 1, 2**39, 2**40 - 1, 2**40, 2**40 + 1]
    return with_events([TABLE1], [Event(1, t, [0, 0.0]) for t in ticks], base_tick=2**40, calibrations=calibrations)


@vector("The 48 bits of the records wrap around base_tick, as near as half the range on either side.")
def tick_wrap():
    centre = 5 * TICK48 + 3
    ticks = [centre + d for d in (-5, -3, -1, 0, 1, TICK48 // 2 - 1, -TICK48 // 2, -(10**6))]
    calibrations = [Calibration(centre - 10**9, 10**9, EPOCH_2003), Calibration(centre + 10**9, 2 * 10**9, EPOCH_2003)]
    events = [Event(1, t, [n, 0.0]) for n, t in enumerate(ticks)]
    return with_events([TABLE1], events, base_tick=centre, calibrations=calibrations)


@vector("Ticks wrap below 0 to the top of 64 bits, and beyond it to 0.")
def tick_wrap_64():
    calibrations = [Calibration(5, 10**9, EPOCH_2003)]
    events = [Event(1, t % 2**64, [0, 0.0]) for t in (-10, -1, 0, 5)]
    return with_events([TABLE1], events, base_tick=2, calibrations=calibrations, tick_hz=10**9)
