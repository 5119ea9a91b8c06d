package run

import (
	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// history is the merged ticks of all workers, by CLOCK_MONOTONIC / generator.Tick.
type history map[int64]*generator.Ticks

func (h history) add(ticks map[int64]*generator.Ticks) {
	for at, from := range ticks {
		to := h[at]
		if to == nil {
			to = &generator.Ticks{}
			h[at] = to
		}
		to.Sent += from.Sent
		to.Acknowledged += from.Acknowledged
		to.Received += from.Received
		to.Failed += from.Failed
		to.Lost += from.Lost
	}
}

// sum adds the ticks of [from, to).
func (h history) sum(from, to int64) (total generator.Ticks, lost, failed uint64) {
	for at := from; at < to; at++ {
		if t := h[at]; t != nil {
			total.Sent += t.Sent
			total.Received += t.Received
			total.Acknowledged += t.Acknowledged
			lost += uint64(t.Lost)
			failed += uint64(t.Failed)
		}
	}
	return total, lost, failed
}

// span is the first and the one after the last tick in which something happened.
func (h history) span() (first, end int64) {
	for at := range h {
		if end == 0 || at < first {
			first = at
		}
		if at+1 > end {
			end = at + 1
		}
	}
	return first, end
}

const (
	ticksPerSecond = int64(1_000_000_000 / generator.Tick)
	lookBack       = 10 * ticksPerSecond // the rate before a fault is that of so long before it
	effect         = 3 * ticksPerSecond  // a fault that has not lowered the deliveries by then was no outage
	recoveredShare = 0.9
)

// outage is what one fault did: the longest silence, when deliveries were at nine tenths of their rate again, and what was
// lost of all that was sent until then. happened and origin are CLOCK_MONOTONIC; the result counts seconds from origin.
func (h history) outage(fault scenario.Fault, happened, origin int64) result.Outage {
	at := happened / generator.Tick
	recovered := h.recovery(at)
	from, to := h.silence(at, recovered)
	_, lost, failed := h.sum(at, recovered)
	seconds := func(tick int64) float64 { return float64(tick*generator.Tick-origin) / 1e9 }
	return result.Outage{
		Fault: fault, At: float64(happened-origin) / 1e9, LastBefore: seconds(from), FirstAfter: seconds(to),
		Recovered: seconds(recovered), LostDuring: lost, FailedDuring: failed,
	}
}

// recovery is the tick from which on deliveries were as usual again; at itself when they always were. It looks at a whole second
// at a time, so that the random places of few messages in time are no outage.
func (h history) recovery(at int64) int64 {
	first, end := h.span()
	from := max(first, at-lookBack)
	before, _, _ := h.sum(from, at)
	usual := float64(before.Received) / max(1, float64(at-from))
	asUsual := func(tick int64) bool {
		window := min(end, tick+ticksPerSecond)
		received, _, _ := h.sum(tick, window)
		return float64(received.Received) >= recoveredShare*usual*float64(window-tick)
	}
	fell := at
	for fell < at+effect && asUsual(fell) {
		fell++
	}
	if fell == at+effect {
		return at
	}
	for tick := fell; tick < end; tick++ {
		if t := h[tick]; t != nil && t.Received > 0 && asUsual(tick) {
			return tick
		}
	}
	return end
}

// silence is the longest run of ticks from at on in which nothing was received, up to the recovery.
func (h history) silence(at, recovered int64) (from, to int64) {
	from, to = at, at
	began := at
	for tick := at; tick < recovered; tick++ {
		if t := h[tick]; t != nil && t.Received > 0 {
			began = tick + 1
		} else if tick+1-began > to-from {
			from, to = began, tick+1
		}
	}
	return from, to
}
