package run

import (
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
)

// enter begins a phase.
func (r *runner) enter(phase string) {
	r.phase = phase
	r.tell()
}

// note takes a worker's progress.
func (r *runner) note(number int, p generator.Progress) {
	second := p.At / int64(time.Second)
	if r.seconds[second] == nil {
		r.seconds[second] = &measure.Recorder{}
	}
	r.seconds[second].Merge(&p.RTT)
	p.RTT = measure.Recorder{}
	r.progress[number] = p
}

// tell says where the run is.
func (r *runner) tell() {
	now := clock.Now()
	switch {
	case r.end != 0 && now >= r.end:
		r.phase = "draining"
	case r.begin != 0 && now >= r.begin:
		r.phase = "measuring"
	}
	if r.options.Watch == nil {
		return
	}
	status := Status{Phase: r.phase, Generators: r.scenario.Generators}
	for _, p := range r.progress {
		add(&status.Counts, p.Counts)
	}
	if r.end != 0 {
		status.Left = max(0, time.Duration(r.end-now))
	}
	if last := r.seconds[now/int64(time.Second)-1]; last != nil {
		status.RTT = last.Distribution()
	}
	r.options.Watch(status)
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
	idle := map[int64]float64{}
	for _, sample := range r.watch.Samples() {
		idle[(sample.At-origin)/int64(time.Second)] = sample.Idle
	}
	var seconds []result.Second
	for from := first; from < end; from += ticksPerSecond {
		counts, _, failed := r.history.sum(from, from+ticksPerSecond)
		at := int64(len(seconds))
		second := result.Second{
			At: float64(at), Connections: r.result.Counts.Connections, Sent: uint64(counts.Sent), Acknowledged: uint64(counts.Acknowledged),
			Received: uint64(counts.Received), Failed: failed, Idle: idle[at],
		}
		if trips := r.seconds[(origin+at*int64(time.Second))/int64(time.Second)+1]; trips != nil {
			second.P50, second.P99, second.Max = trips.Percentile(50), trips.Percentile(99), trips.Percentile(100)
		}
		seconds = append(seconds, second)
	}
	return seconds
}
