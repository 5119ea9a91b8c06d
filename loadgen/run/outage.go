package run

import (
	"slices"

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

// schedule is when generators mean to publish, in ticks: each once an interval, and not from end on.
type schedule struct{ interval, end int64 }

// outage is what one fault did: the longest silence, when deliveries were at nine tenths of their rate again, and what was
// lost of all that was sent until then. happened and origin are CLOCK_MONOTONIC; the result counts seconds from origin.
func (h history) outage(fault scenario.Fault, happened, origin int64, meant schedule) result.Outage {
	at := happened / generator.Tick
	recovered := h.recovery(at, meant)
	from, to := h.silence(at, recovered)
	_, lost, failed := h.sum(at, recovered)
	_, end := h.span()
	seconds := func(tick int64) float64 { return float64(tick*generator.Tick-origin) / 1e9 }
	unlessEnd := func(tick int64) float64 {
		if tick >= end {
			return 0
		}
		return seconds(tick)
	}
	return result.Outage{
		Fault: fault, At: float64(happened-origin) / 1e9, LastBefore: seconds(from), FirstAfter: unlessEnd(to),
		Recovered: unlessEnd(recovered), LostDuring: lost, FailedDuring: failed,
	}
}

// recovery is the tick from which on deliveries were as usual again; at itself when they always were, the end when never. As usual is a rate, and
// that no more wait for their delivery than before: the burst that follows a silence is as fast as ever while some messages are
// still held up. It looks at a whole second at a time, so that a message a little early or late is no outage.
func (h history) recovery(at int64, meant schedule) int64 {
	first, end := h.span()
	if at < first || at >= end {
		return at // no evidence: generators may send more seldom than faults happen
	}
	from := max(first, at-lookBack)
	before, _, _ := h.sum(from, at)
	usual := float64(before.Received) / max(1, float64(at-from))
	waiting := h.waiting(first, end)
	most := (1 - recoveredShare) * usual * float64(ticksPerSecond)
	if at > from {
		most += slices.Max(waiting[from-first : at-first])
	}
	asUsual := func(tick int64) bool {
		begin := min(tick, meant.end-ticksPerSecond) // the last second in which messages were meant to be published
		window := min(end, begin+ticksPerSecond)
		received, _, _ := h.sum(begin, window)
		expected := usual * float64(window-begin)
		if meant.interval > ticksPerSecond && at-meant.interval >= first {
			expected = h.expected(at, begin, window, meant.interval)
		}
		return float64(received.Received) >= recoveredShare*expected-1 && waiting[tick-first] <= most
	}
	fell := at
	for fell < min(end, at+effect) && asUsual(fell) {
		fell++
	}
	if fell == min(end, at+effect) {
		return at
	}
	for tick := fell; tick < end; tick++ {
		if t := h[tick]; t != nil && t.Received > 0 && asUsual(tick) {
			return tick
		}
	}
	return end
}

// expected is how many deliveries [tick, to) would have without the fault: as many as the same part of the last interval before it.
// The places of generators in their interval are random, so the rate of a second is so too, by a third with eighty messages in
// it; but they are the same in every interval.
func (h history) expected(at, tick, to, interval int64) (received float64) {
	for ; tick < to; tick++ {
		ago := (tick - at + interval) / interval * interval // the least whole number of intervals that leads before the fault
		if t := h[tick-ago]; t != nil {
			received += float64(t.Received)
		}
	}
	return received
}

// waiting is how many deliveries, tick by tick of [first, end), were still to come of what had been sent by then; what was lost
// waits for nothing. Subscribers may be several and take only some of the messages, so one sent is as many deliveries as one
// had in the end.
func (h history) waiting(first, end int64) []float64 {
	all, lost, _ := h.sum(first, end)
	each := float64(all.Received) / max(1, float64(all.Sent)-float64(lost))
	waiting := make([]float64, end-first)
	sum := 0.0
	for i := range waiting {
		if t := h[first+int64(i)]; t != nil {
			sum += each*(float64(t.Sent)-float64(t.Lost)) - float64(t.Received)
		}
		waiting[i] = sum
	}
	return waiting
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
