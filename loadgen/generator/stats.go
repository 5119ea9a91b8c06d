package generator

import (
	"slices"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
)

// Tick is the resolution of a worker's history in nanoseconds: fine enough to show outages.
const Tick = 100_000_000

// Ticks are counts of one tick of CLOCK_MONOTONIC.
type Ticks struct {
	Sent, Acknowledged, Received, Failed uint32
	Lost                                 uint32 // of what was sent in this tick
}

// Times are the recorders behind result.Times.
type Times struct {
	RTT, ServiceTime, RTTWithoutStalls, ServiceTimeWithoutStalls, WarmUpRTT, PRT, PT, SRT, Acknowledged, Lateness, Connect, FirstDelivery, Subscribe measure.Recorder
}

// Merge adds another worker's times.
func (t *Times) Merge(from *Times) {
	to, other := t.all(), from.all()
	for i := range to {
		to[i].Merge(other[i])
	}
}

func (t *Times) all() []*measure.Recorder {
	return []*measure.Recorder{&t.RTT, &t.ServiceTime, &t.RTTWithoutStalls, &t.ServiceTimeWithoutStalls, &t.WarmUpRTT, &t.PRT, &t.PT,
		&t.SRT, &t.Acknowledged, &t.Lateness, &t.Connect, &t.FirstDelivery, &t.Subscribe}
}

// Result converts the recorders for a report.
func (t *Times) Result() result.Times {
	return result.Times{
		RTT: t.RTT.Distribution(), ServiceTime: t.ServiceTime.Distribution(),
		RTTWithoutStalls: t.RTTWithoutStalls.Distribution(), ServiceTimeWithoutStalls: t.ServiceTimeWithoutStalls.Distribution(),
		WarmUpRTT: t.WarmUpRTT.Distribution(), PRT: t.PRT.Distribution(), PT: t.PT.Distribution(), SRT: t.SRT.Distribution(),
		Acknowledged: t.Acknowledged.Distribution(), Lateness: t.Lateness.Distribution(), Connect: t.Connect.Distribution(),
		FirstDelivery: t.FirstDelivery.Distribution(), Subscribe: t.Subscribe.Distribution(),
	}
}

// Add merges the times of a run that ended earlier.
func (t *Times) Add(from result.Times) error {
	distributions := []result.Distribution{from.RTT, from.ServiceTime, from.RTTWithoutStalls, from.ServiceTimeWithoutStalls, from.WarmUpRTT, from.PRT, from.PT, from.SRT, from.Acknowledged,
		from.Lateness, from.Connect, from.FirstDelivery, from.Subscribe}
	for i, to := range t.all() {
		recorder, err := measure.Restore(distributions[i])
		if err != nil {
			return err
		}
		to.Merge(recorder)
	}
	return nil
}

// stats are a worker's counters and times. All its goroutines share one; at a few thousand messages per second,
// contention is negligible.
type stats struct {
	mu      sync.Mutex
	counts  result.Counts
	bytes   uint64 // of payload published
	times   Times
	slowest Slowest
	missing []Missing        // some of the lost deliveries
	recent  measure.Recorder // round trips since the last progress
	waiting []passage        // deliveries in the measured span, later than the last report of stalls
	ticks   map[int64]*Ticks
}

func newStats() *stats { return &stats{ticks: map[int64]*Ticks{}} }

// tick returns the counts of an instant; the caller holds the lock.
func (b *stats) tick(at int64) *Ticks {
	t := b.ticks[at/Tick]
	if t == nil {
		t = &Ticks{}
		b.ticks[at/Tick] = t
	}
	return t
}

func (b *stats) connected(took int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Connections++
	b.times.Connect.Record(took)
}

// sending is one successful publish; all times CLOCK_MONOTONIC.
type sending struct {
	length               int
	could, before, after int64 // when it could be sent at the earliest, at its intended time or when the client was free; sent; returned
	warmUp               bool
}

func (b *stats) sent(s sending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Sent++
	b.bytes += uint64(s.length)
	b.tick(s.before).Sent++
	if !s.warmUp {
		b.times.PRT.Record(s.after - s.before)
		b.times.Lateness.Record(s.before - s.could)
	}
}

func (b *stats) failed(before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Failed++
	b.tick(before).Failed++
}

func (b *stats) acknowledged(before, at int64, warmUp bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Acknowledged++
	b.tick(at).Acknowledged++
	if !warmUp {
		b.times.Acknowledged.Record(at - before)
	}
}

// arrival is one copy of a message as a subscriber got it; all times CLOCK_MONOTONIC.
type arrival struct {
	generator, sequence               uint32
	intended, before, received, taken int64
	began                             int64 // the generator's first publish, of the first message that the subscriber has of it; else 0
	warmUp                            bool
}

func (b *stats) arrived(a arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Received++
	b.tick(a.taken).Received++
	trip := a.taken - a.intended
	b.recent.Record(trip)
	if a.began != 0 {
		b.times.FirstDelivery.Record(a.taken - a.began)
	}
	if a.warmUp {
		b.times.WarmUpRTT.Record(trip)
		return
	}
	b.times.RTT.Record(trip)
	b.times.ServiceTime.Record(a.taken - a.before)
	b.slowest.add(Trip{Generator: a.generator, Sequence: a.sequence, Intended: a.intended, RTT: trip, Service: a.taken - a.before})
	b.times.SRT.Record(a.taken - a.received)
	b.waiting = append(b.waiting, passage{a.intended, a.before, a.taken})
}

func (b *stats) processed(pt int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times.PT.Record(pt)
}

func (b *stats) subscribed(took int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times.Subscribe.Record(took)
}

func (b *stats) count(which func(*result.Counts) *uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*which(&b.counts)++
}

// Progress is a worker's report of one second.
type Progress struct {
	At     int64 // CLOCK_MONOTONIC
	Counts result.Counts
	RTT    measure.Recorder // since the last one
}

// progress also resets the recent round trips.
func (b *stats) progress() Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := Progress{At: clock.Now(), Counts: b.counts, RTT: b.recent}
	b.recent = measure.Recorder{}
	return p
}

// Totals are all counters and times of a worker.
type Totals struct {
	Counts  result.Counts
	Bytes   uint64 // of payload published
	Times   Times
	Slowest Slowest          // of the measured span, as Times.RTT
	Missing []Missing        // some of the lost deliveries
	Ticks   map[int64]*Ticks // by CLOCK_MONOTONIC / Tick
}

// totals returns a copy: a disconnected client may still call back while the totals are sent.
func (b *stats) totals() Totals {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := Totals{Counts: b.counts, Bytes: b.bytes, Slowest: slices.Clone(b.slowest), Missing: slices.Clone(b.missing), Ticks: make(map[int64]*Ticks, len(b.ticks))}
	t.Times.Merge(&b.times)
	for at, ticks := range b.ticks {
		own := *ticks
		t.Ticks[at] = &own
	}
	return t
}
