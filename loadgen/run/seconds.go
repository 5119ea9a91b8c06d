package run

import "lifeline/loadgen/measure"

// secondsOpen is how long reports of a past second are accepted, in seconds.
const secondsOpen = 10

// seconds are the round trips of each second of CLOCK_MONOTONIC. A recorder takes 180 KB, so only the last seconds have
// one; older seconds are reduced to the values of a timeline.
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
func (s *seconds) add(second int64, report *measure.Recorder) {
	if second > s.newest {
		s.newest = second
		s.close(second - secondsOpen)
	}
	second = max(second, s.newest-secondsOpen+1)
	if s.open[second] == nil {
		s.open[second] = s.empty()
	}
	s.open[second].Merge(report)
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

// at returns the values of a second so far; zero without reports.
func (s *seconds) at(second int64) trips {
	if recorder := s.open[second]; recorder != nil {
		return tripsOf(recorder)
	}
	return s.over[second]
}

// each calls for every second with reports.
func (s *seconds) each(call func(second int64, t trips)) {
	s.close(s.newest)
	for second, t := range s.over {
		call(second, t)
	}
}
