package run

import (
	"cmp"
	"slices"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// tellStalls reports to a machine's workers in which times it stood still, found since the last call, and until when all are known.
func (r *runner) tellStalls(p *post) (until int64) {
	found, until := p.Stalls()
	p.stalls = clock.Union(append(p.stalls, found...))
	for number := p.first; number < p.first+p.plan.Workers; number++ {
		_ = r.order(number, worker.Order{Stalls: &worker.Stalls{Found: found, Until: until}}) // as orderAll
	}
	return until
}

// tellStallsUntil does so until all before closed are known, which takes some milliseconds here. An agent reports them each second,
// and they are told then.
func (r *runner) tellStallsUntil(p *post, closed int64) {
	for p.agent == nil && r.tellStalls(p) < closed {
		time.Sleep(time.Millisecond)
	}
}

// allStalls are those of all machines in the measured span.
func (r *runner) allStalls(origin int64) (all result.Stalls) {
	for _, p := range r.posts {
		addStalls(&all, stallsWithin(p.stalls, r.begin, r.end, origin), 0)
	}
	return all
}

// addStalls adds those of another machine, or of another run that began so many seconds later.
func addStalls(to *result.Stalls, from result.Stalls, later float64) {
	to.Count += from.Count
	to.Total += from.Total
	for _, stall := range from.Longest {
		stall.At += later
		to.Longest = append(to.Longest, stall)
	}
	slices.SortFunc(to.Longest, func(a, b result.Stall) int { return cmp.Compare(b.Length, a.Length) })
	to.Longest = to.Longest[:min(len(to.Longest), stallsKept)]
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
