package run

import (
	"cmp"
	"slices"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// tellStalls reports to all workers in which times the machine stood still, found since the last call, and until when all are known.
func (r *runner) tellStalls() (until int64) {
	found, until := r.watch.Stalls()
	r.stalls = clock.Union(append(r.stalls, found...))
	r.orderAll(worker.Order{Stalls: &worker.Stalls{Found: found, Until: until}})
	return until
}

// tellStallsUntil does so until all before closed are known, which takes some milliseconds.
func (r *runner) tellStallsUntil(closed int64) {
	for r.tellStalls() < closed {
		time.Sleep(time.Millisecond)
	}
}

// stallsKept is the number of stalls that a result lists.
const stallsKept = 100

// stallsWithin are a result's, of the union of all, from begin to end; origin is the first message.
func stallsWithin(all []clock.Interval, begin, end, origin int64) result.Stalls {
	within := clock.Interval{From: begin, To: end}.Overlap(all)
	s := result.Stalls{Count: len(within)}
	for _, each := range within {
		length := each.To - each.From
		s.Total += length
		s.Longest = append(s.Longest, result.Stall{At: float64(each.From-origin) / 1e9, Length: length})
	}
	slices.SortFunc(s.Longest, func(a, b result.Stall) int { return cmp.Compare(b.Length, a.Length) })
	s.Longest = s.Longest[:min(len(s.Longest), stallsKept)]
	return s
}
