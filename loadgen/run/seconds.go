package run

import "lifeline/loadgen/measure"

// stillTold is for how many seconds workers may tell of one that is over.
const stillTold = 10

// seconds are the round trips of each second of CLOCK_MONOTONIC. A recorder has 180 KB, and the coordinator's memory counts as the
// fleet's; so recorders are kept of the last seconds only, and of the others what a timeline shows.
type seconds struct {
	open   map[int64]*measure.Recorder
	over   map[int64]trips
	newest int64
	spare  []*measure.Recorder
}

// trips are a second's round trips, in nanoseconds.
type trips struct{ p50, p99, p998, longest int64 }

func newSeconds() *seconds {
	return &seconds{open: map[int64]*measure.Recorder{}, over: map[int64]trips{}}
}

// add adds a worker's report of a second. A late report counts for the oldest second that is still open.
func (s *seconds) add(second int64, told *measure.Recorder) {
	if second > s.newest {
		s.newest = second
		s.close(second - stillTold)
	}
	second = max(second, s.newest-stillTold+1)
	if s.open[second] == nil {
		s.open[second] = s.empty()
	}
	s.open[second].Merge(told)
}

// close keeps the figures of all seconds up to last.
func (s *seconds) close(last int64) {
	for second, recorder := range s.open {
		if second <= last {
			s.over[second] = tripsOf(recorder)
			delete(s.open, second)
			recorder.Reset()
			s.spare = append(s.spare, recorder)
		}
	}
}

func (s *seconds) empty() *measure.Recorder {
	if last := len(s.spare) - 1; last >= 0 {
		recorder := s.spare[last]
		s.spare = s.spare[:last]
		return recorder
	}
	return &measure.Recorder{}
}

func tripsOf(r *measure.Recorder) trips {
	return trips{r.Percentile(50), r.Percentile(99), r.Percentile(99.8), r.Percentile(100)}
}

// at are the figures of a second so far; all zero where nothing was told of it.
func (s *seconds) at(second int64) trips {
	if recorder := s.open[second]; recorder != nil {
		return tripsOf(recorder)
	}
	return s.over[second]
}

// each calls with every second of which something was told.
func (s *seconds) each(call func(second int64, t trips)) {
	s.close(s.newest)
	for second, t := range s.over {
		call(second, t)
	}
}
