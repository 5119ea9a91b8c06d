package study

import (
	"fmt"
	"maps"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
)

// add takes one more run into the point. Its messages are counted whatever became of its times. The times of the runs that count
// (used) are taken together, exactly; what cannot be taken together, such as the seconds of the timeline, is that of the first.
func (r *Record) add(m Measured, seed uint64) error {
	m.Noise.Busiest = nil
	run := runOf(m)
	run.Seed = seed
	r.Runs = append(r.Runs, run)
	switch {
	case len(r.Runs) == 1, !r.measured() || r.Broke():
		r.replace(m)
	case !run.timed():
		// A failed run is in Runs; the point has others.
	case run.trusted() && !r.Valid:
		r.replace(m)
	default:
		r.count(m)
		if run.trusted() == r.Valid {
			if err := r.merge(m); err != nil {
				return fmt.Errorf("point %s: %w", r.Point, err)
			}
		}
	}
	r.Resources = r.resources()
	return nil
}

// replace makes the point's times those of a run, and keeps the messages counted before.
func (r *Record) replace(m Measured) {
	before := r.Measured
	r.Measured = m
	if before.measured() && !before.Broke() {
		r.count(before)
	}
}

// count adds a run's messages and the broker's counters.
func (r *Record) count(m Measured) {
	r.Counts.Connections = max(r.Counts.Connections, m.Counts.Connections)
	more := fields[uint64](&m.Counts)
	for i, sum := range fields[uint64](&r.Counts) {
		*sum += *more[i]
	}
	r.Elapsed += m.Elapsed
	addCounters(&r.Broker.Before, m.Broker.Before)
	addCounters(&r.Broker.After, m.Broker.After)
	if r.Broker.Agree && !m.Broker.Agree {
		r.Broker.Compared, r.Broker.Agree, r.Broker.Sentence = m.Broker.Compared, false, m.Broker.Sentence
	}
	if r.Failure == nil { // an objective that a run missed
		r.Failure = m.Failure
	}
	if m.Noise.Others > r.Noise.Others {
		r.Noise = m.Noise
	}
}

// addCounters adds a broker's figures up; -1 says that there is none.
func addCounters(sum *result.Counters, more result.Counters) {
	others := fields[int64](&more)
	for i, each := range fields[int64](sum) {
		if *each >= 0 && *others[i] >= 0 {
			*each += *others[i]
		}
	}
	for i := range min(len(sum.Nodes), len(more.Nodes)) {
		others := fields[int64](&more.Nodes[i])
		for j, each := range fields[int64](&sum.Nodes[i]) {
			*each += *others[j]
		}
	}
}

// merge takes a run's times together with those of the runs before.
func (r *Record) merge(m Measured) error {
	if r.Stalls.Count+m.Stalls.Count > 0 {
		fillWithoutStalls(&r.Measured)
		fillWithoutStalls(&m)
	}
	r.Stalls.Count, r.Stalls.Total = r.Stalls.Count+m.Stalls.Count, r.Stalls.Total+m.Stalls.Total
	more := distributions(&m.Times)
	for i, d := range distributions(&r.Times) {
		if err := mergeInto(d, *more[i]); err != nil {
			return err
		}
	}
	r.Beside = maps.Clone(r.Beside)
	for name, d := range m.Beside {
		sum := r.Beside[name]
		if err := mergeInto(&sum, d); err != nil {
			return err
		}
		if r.Beside == nil {
			r.Beside = map[string]result.Distribution{}
		}
		r.Beside[name] = sum
	}
	return nil
}

// fillWithoutStalls writes the times without stalls of a run that had none: they are all its times, and left out there.
func fillWithoutStalls(m *Measured) {
	if m.Stalls.Count == 0 {
		m.Times.RTTWithoutStalls, m.Times.ServiceTimeWithoutStalls = m.Times.RTT, m.Times.ServiceTime
	}
}

func mergeInto(sum *result.Distribution, more result.Distribution) error {
	if more.Count == 0 {
		return nil
	}
	both, err := measure.Restore(*sum)
	if err != nil {
		return err
	}
	other, err := measure.Restore(more)
	if err != nil {
		return err
	}
	both.Merge(other)
	*sum = both.Distribution()
	return nil
}

// resources are the medians over the runs whose times count.
func (r Record) resources() result.Resources {
	if len(r.used()) == 0 {
		return r.Resources
	}
	middle := func(of func(result.Resources) float64) float64 {
		return r.Spread(func(run Run) float64 { return of(run.Resources) }).Median
	}
	usage := func(side func(result.Resources) result.Usage) result.Usage {
		return result.Usage{
			Processes:     side(r.used()[0].Resources).Processes,
			CPU:           middle(func(all result.Resources) float64 { return side(all).CPU }),
			PeakRSS:       int64(middle(func(all result.Resources) float64 { return float64(side(all).PeakRSS) })),
			BaseRSS:       int64(middle(func(all result.Resources) float64 { return float64(side(all).BaseRSS) })),
			PerConnection: middle(func(all result.Resources) float64 { return side(all).PerConnection }),
		}
	}
	return result.Resources{
		Broker:       usage(func(all result.Resources) result.Usage { return all.Broker }),
		Client:       usage(func(all result.Resources) result.Usage { return all.Client }),
		Idle:         middle(func(all result.Resources) float64 { return all.Idle }),
		VmstatMemory: int64(middle(func(all result.Resources) float64 { return float64(all.VmstatMemory) })),
	}
}
