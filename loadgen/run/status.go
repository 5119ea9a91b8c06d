package run

import (
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/live"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
)

// enter begins a phase.
func (r *runner) enter(phase string) {
	r.phase = phase
	r.show()
}

// lastStatus holds the counts that the next status takes its rates from.
type lastStatus struct {
	at             int64
	sent, received uint64
}

// note takes a worker's progress.
func (r *runner) note(number int, p generator.Progress) {
	r.seconds.add(p.At/int64(time.Second), &p.RTT)
	p.RTT = measure.Recorder{}
	r.progress[number] = p
}

// show updates the view.
func (r *runner) show() {
	now := clock.Now()
	switch {
	case r.end != 0 && now >= r.end:
		r.phase = "draining"
	case r.begin != 0 && now >= r.begin:
		r.phase = "measuring"
	}
	if r.options.View != nil {
		r.options.View.Show(r.status(now))
	}
}

func (r *runner) status(now int64) live.Status {
	s := live.Status{
		Scenario: r.scenario.Name, Phase: r.phase, Elapsed: time.Since(r.result.Started), Left: -1, Generators: r.scenario.Generators,
	}
	counts := r.counts()
	s.Connections, s.Sent, s.Received = counts.Connections, counts.Sent, counts.Received
	s.Lost, s.Duplicated, s.Reordered, s.Failed = counts.Lost, counts.Duplicated, counts.Reordered, counts.Failed
	if passed := now - r.last.at; r.last.at != 0 && passed > 0 {
		s.SendRate = float64(counts.Sent-r.last.sent) / float64(passed) * 1e9
		s.ReceiveRate = float64(counts.Received-r.last.received) / float64(passed) * 1e9
	}
	r.last = lastStatus{now, counts.Sent, counts.Received}
	if r.end != 0 {
		s.Left = max(0, time.Duration(r.end-now))
	}
	last := r.seconds.at(now/int64(time.Second) - 1)
	s.P50, s.P99, s.P998, s.Max = last.p50, last.p99, last.p998, last.longest
	if r.hired {
		sample := r.lastSample()
		s.Idle, s.BrokerCPU, s.ClientCPU = sample.Idle, sample.BrokerCPU, sample.ClientCPU
		s.BrokerBytes, s.ClientBytes = sample.BrokerRSS, sample.ClientRSS
	}
	return s
}

// origin is the first message, from which a result counts its seconds.
func (r *runner) origin() int64 {
	first, _ := r.history.span()
	return first * generator.Tick
}

// timeline is the run second by second.
func (r *runner) timeline() []result.Second {
	first, end := r.history.span()
	if end == 0 {
		return nil
	}
	origin := r.origin()
	var seconds []result.Second
	for from := first; from < end; from += ticksPerSecond {
		counts, lost, failed := r.history.sum(from, from+ticksPerSecond)
		seconds = append(seconds, result.Second{
			At: float64(len(seconds)), Connections: r.result.Counts.Connections, Sent: uint64(counts.Sent),
			Acknowledged: uint64(counts.Acknowledged), Received: uint64(counts.Received), Failed: failed, Lost: lost,
		})
	}
	at := func(when int64) *result.Second { // a second beside the run is not shown
		if second := when - origin; second >= 0 && second < int64(len(seconds))*int64(time.Second) {
			return &seconds[second/int64(time.Second)]
		}
		return &result.Second{}
	}
	// Workers report at the end of their own second, within this one: its begin is the middle of the reported span.
	r.seconds.each(func(second int64, of trips) {
		s := at(second * int64(time.Second))
		s.P50, s.P99, s.Max = of.p50, of.p99, of.longest
	})
	for _, sample := range r.samples() { // of the interval before
		s := at(sample.At - int64(sampleInterval)/2)
		s.Idle, s.BrokerCPU, s.ClientCPU, s.UsedMemory = sample.Idle, sample.BrokerCPU, sample.ClientCPU, sample.UsedMemory
	}
	return seconds
}
