package study

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lifeline/loadgen/host"
)

// resumable is how long after its first run a point is still part of the same study, which may be spread over some days.
const resumable = 7 * 24 * time.Hour

// goesOn reports whether what was measured of a point belongs to the study that goes on: runs of the same scenario, on this machine,
// of the last week.
func (r Record) goesOn(p planned) bool {
	return len(r.Runs) > 0 && r.Machine == host.Machine() && !r.Partial && time.Since(r.Runs[0].Started) <= resumable &&
		r.sameScenario(p.scenario)
}

// moreTries are the runs beyond the rounds for a point that other load has disturbed.
const moreTries = 2

// course is a point on its way through the study.
type course struct {
	planned
	record Record
}

// tries are the runs that were made, however they ended.
func (c *course) tries() int { return len(c.record.Runs) }

// estimate is how long one more run takes: as long as the longest so far.
func (c *course) estimate() time.Duration {
	if c.tries() == 0 {
		return c.planned.estimate()
	}
	return slices.MaxFunc(c.record.Runs, func(a, b Run) int { return cmp.Compare(a.Elapsed, b.Elapsed) }).Elapsed
}

// settled reports whether another run would only repeat the answer.
func (c *course) settled() bool { return c.Refused && c.record.refusal() }

// schedule decides which point is measured next.
type schedule struct {
	courses []*course
	rounds  int  // in which every point has its turn
	beyond  bool // there is time to spend after the rounds
	seed    uint64
}

// next is the point to measure in the time that is left; nil if there is none. In a round, points come in random order, and each has
// its turn before any has the next one. After the rounds the point comes whose median is least certain.
func (s *schedule) next(left time.Duration) *course {
	fitting := slices.DeleteFunc(slices.Clone(s.courses), func(c *course) bool { return c.settled() || c.estimate() > left })
	if len(fitting) == 0 {
		return nil
	}
	round := slices.MinFunc(fitting, func(a, b *course) int { return cmp.Compare(a.tries(), b.tries()) }).tries()
	if round >= s.rounds {
		return s.leastCertain(fitting)
	}
	for _, i := range rand.New(rand.NewPCG(s.seed, uint64(round))).Perm(len(s.courses)) {
		if c := s.courses[i]; c.tries() == round && slices.Contains(fitting, c) {
			return c
		}
	}
	return nil
}

// leastCertain is the point with the largest uncertainty; nil if none has any, or the study ends with its rounds.
func (s *schedule) leastCertain(fitting []*course) *course {
	c := slices.MaxFunc(fitting, func(a, b *course) int { return cmp.Compare(s.uncertainty(a), s.uncertainty(b)) })
	if !s.beyond || s.uncertainty(c) == 0 {
		return nil
	}
	return c
}

// uncertainty is the greater relative spread of p50 and p99.8, over the root of the number of runs, as the median's error falls. A
// point with too few undisturbed runs comes before all others, until it has had a few more tries.
func (s *schedule) uncertainty(c *course) float64 {
	used := c.record.used()
	trusted := len(used)
	if len(used) > 0 && !used[0].trusted() {
		trusted = 0
	}
	switch {
	case trusted < EnoughRuns && c.tries() < s.rounds+moreTries:
		return math.Inf(1)
	case len(used) == 0:
		return 0
	}
	relative := max(c.record.Spread(rtt(50)).Relative(), c.record.Spread(rtt(99.8)).Relative())
	return relative / math.Sqrt(float64(len(used)))
}

// roundsLeft is how long the rest of the rounds takes.
func (s *schedule) roundsLeft() time.Duration {
	left := time.Duration(0)
	for _, c := range s.courses {
		if !c.settled() {
			left += time.Duration(max(0, s.rounds-c.tries())) * c.estimate()
		}
	}
	return left
}

// spent is the time of all runs so far.
func (s *schedule) spent() time.Duration {
	spent := time.Duration(0)
	for _, c := range s.courses {
		for _, run := range c.record.Runs {
			spent += run.Elapsed
		}
	}
	return spent
}
