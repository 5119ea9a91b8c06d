package generator

import (
	"runtime"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
)

// passage is one delivery in the measured span: when it was due, before sending, and after receiving. 24 bytes, for about a second.
type passage struct{ due, before, taken int64 }

// undisturbed times the deliveries that no stall of the machine can have delayed. Whether one can have is known when the
// coordinator has reported the stalls up to its arrival.
type undisturbed struct {
	mu               sync.Mutex
	stalls           []clock.Interval // a union
	rtt, serviceTime measure.Recorder
}

// Stalls takes the stalls found since the last call, of which none is missing that began before until, and times the deliveries up to
// then that were under way in none of all reported so far.
func (f *Fleet) Stalls(found []clock.Interval, until int64) {
	f.calm.settle(f.stats.takeWaiting(until), found)
}

func (u *undisturbed) settle(passages []passage, found []clock.Interval) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stalls = clock.Union(append(u.stalls, found...))
	const atOnce = 256 // some ten microseconds, before arrivals may go first
	for i, p := range passages {
		if i%atOnce == atOnce-1 {
			runtime.Gosched()
		}
		underWay := clock.Interval{From: p.due, To: p.taken}
		if len(underWay.Overlap(u.stalls)) == 0 {
			u.rtt.Record(p.taken - p.due)
			u.serviceTime.Record(p.taken - p.before)
		}
	}
}

// takeWaiting removes and returns the deliveries before a time.
func (b *stats) takeWaiting(until int64) []passage {
	b.mu.Lock()
	defer b.mu.Unlock()
	ready, later := b.waiting[:0], []passage(nil)
	for _, p := range b.waiting {
		if p.taken < until {
			ready = append(ready, p)
		} else {
			later = append(later, p)
		}
	}
	b.waiting = later
	return ready
}
