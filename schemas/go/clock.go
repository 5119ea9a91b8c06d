package llb

import (
	"math/bits"
	"sort"
)

// Calibration relates a tick to two clocks.
type Calibration struct {
	Tick             uint64
	MonotonicNs      uint64 // CLOCK_MONOTONIC_RAW
	RealtimeOffsetNs int64  // CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW
	ErrorNs          uint32 // maximum distance in time between the three readings
	Step             bool   // realtime was set between the previous calibration and this one
}

// realNs returns the calibration's CLOCK_REALTIME, and whether it is within int64.
func (c *Calibration) realNs() (int64, bool) {
	sum, carry := bits.Add64(c.MonotonicNs, uint64(c.RealtimeOffsetNs), 0)
	high := carry
	if c.RealtimeOffsetNs < 0 {
		high-- // the offset's sign extension
	}
	return int64(sum), high == uint64(int64(sum)>>63)
}

// span is the range of ticks [from, from+length] that one calibration converts.
type span struct {
	from, length uint64
	tick         uint64
	realNs       int64
	mult         uint64 // nanoseconds per tick, times 2^32; below 2^62
}

// timeNs is FORMAT.md, section 7, step 4: floor over a product of 128 bits that wraps as two's complement.
func (s *span) timeNs(tick uint64) int64 {
	ticks := tick - s.tick
	high, low := bits.Mul64(ticks, s.mult)
	if int64(ticks) < 0 {
		high -= s.mult
	}
	return s.realNs + int64(high<<32|low>>32)
}

// timeline converts ticks to times. Events come in runs, so it remembers the span of the last one.
type timeline struct {
	spans   []span
	current span
}

func (t *timeline) timeNs(tick uint64) int64 {
	if tick-t.current.from > t.current.length {
		t.seek(tick)
	}
	return t.current.timeNs(tick)
}

func (t *timeline) seek(tick uint64) {
	behind := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].from > tick })
	t.current = t.spans[behind-1] // the first span begins at 0
}

// slope returns floor(rise * 2^32 / run), and whether it is below 2^62.
func slope(rise, run uint64) (uint64, bool) {
	high, low := rise>>32, rise<<32
	if high >= run {
		return 0, false // the quotient needs more than 64 bits
	}
	mult, _ := bits.Div64(high, low, run)
	return mult, mult < 1<<62
}

// calibrate checks the calibrations and prepares the conversion. On a fault it returns the index of the faulty
// calibration.
func (t *timeline) calibrate(calibrations []Calibration, tickHz uint64) (index int, fault string) {
	t.spans = t.spans[:0]
	if tickHz < 1 || tickHz > maxTickHz {
		return -1, "tick_hz must be 1 to 10^11"
	}
	for i := range calibrations {
		c := &calibrations[i]
		real, ok := c.realNs()
		if !ok {
			return i, "monotonic_ns + realtime_offset_ns lies outside i64"
		}
		s := span{from: c.Tick, tick: c.Tick, realNs: real}
		if i == 0 {
			if c.Step {
				return i, "the first calibration carries a step"
			}
			s.from = 0
			t.spans = append(t.spans, s)
			continue
		}
		before, beforeReal := &calibrations[i-1], t.spans[i-1].realNs
		switch {
		case c.Tick <= before.Tick:
			return i, "tick does not increase"
		case c.MonotonicNs < before.MonotonicNs:
			return i, "monotonic_ns decreases"
		case !c.Step && real < beforeReal:
			return i, "realtime decreases without a step"
		}
		rise := uint64(real) - uint64(beforeReal)
		if c.Step {
			rise = c.MonotonicNs - before.MonotonicNs
		}
		mult, ok := slope(rise, c.Tick-before.Tick)
		if !ok {
			return i, "more nanoseconds per tick than can be"
		}
		t.spans[i-1].length = c.Tick - 1 - t.spans[i-1].from
		t.spans[i-1].mult = mult
		s.mult = mult // applies to the last span unless another follows
		t.spans = append(t.spans, s)
	}
	last := &t.spans[len(t.spans)-1]
	last.length = ^uint64(0) - last.from
	if len(t.spans) == 1 {
		last.mult, _ = slope(1_000_000_000, tickHz)
	}
	t.current = t.spans[0]
	return 0, ""
}
