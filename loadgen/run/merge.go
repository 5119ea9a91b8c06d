package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
)

// Merge makes one result of runs of one scenario that were made apart, each with generators of its own (Options.First), against one
// broker or each against one of its own. Counts are sums; times are exact, as if one run had recorded them. Each run becomes a host,
// or keeps its hosts. Seconds are those since the first message of all, by the runs' wall clocks; percentiles and idle time of a
// second are the worst run's.
func Merge(names []string, runs []result.Result) (result.Result, error) {
	if err := mergeable(names, runs); err != nil {
		return result.Result{}, err
	}
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return runs[a].Origin.Compare(runs[b].Origin) })
	first := runs[order[0]]
	merged := result.Result{
		Format: result.Format, Scenario: first.Scenario, Client: first.Client, Started: first.Started, Origin: first.Origin,
		First: first.First, Broker: first.Broker,
	}
	merged.Scenario.Generators, merged.Scenario.Connections.Pool, merged.Scenario.Workers = 0, 0, 0
	var times generator.Times
	var bytes float64
	for _, i := range order {
		r := runs[i]
		if r.Stalls.Count == 0 { // then they stand for themselves
			r.Times.RTTWithoutStalls, r.Times.ServiceTimeWithoutStalls = r.Times.RTT, r.Times.ServiceTime
		}
		if err := times.Add(r.Times); err != nil {
			return merged, fmt.Errorf("%s: %w", names[i], err)
		}
		if r.Started.Before(merged.Started) {
			merged.Started = r.Started
		}
		merged.First = min(merged.First, r.First)
		merged.Elapsed = max(merged.Elapsed, r.Started.Add(r.Elapsed).Sub(merged.Started))
		merged.Partial = merged.Partial || r.Partial
		merged.Scenario.Generators += r.Scenario.Generators
		merged.Scenario.Connections.Pool += r.Scenario.Connections.Pool
		merged.Scenario.Workers += r.Scenario.Workers
		add(&merged.Counts, r.Counts)
		bytes += r.Bytes.PerMessage * float64(r.Counts.Sent)
		for _, remark := range r.Remarks {
			merged.Remarks = append(merged.Remarks, names[i]+": "+remark)
		}
		merged.Hosts = append(merged.Hosts, hostsOf(names[i], r)...)
		together(&merged, r, r.Origin.Sub(first.Origin))
		if i != order[0] {
			counters(&merged.Broker, r.Broker, shared(r.Scenario))
		}
	}
	if merged.Counts.Sent > 0 {
		merged.Bytes.PerMessage = bytes / float64(merged.Counts.Sent)
		merged.Bytes.PerEvent = merged.Bytes.PerMessage / float64(max(1, merged.Scenario.Message.Events))
	}
	merged.Times = times.Result()
	if merged.Stalls.Count == 0 {
		merged.Times.RTTWithoutStalls, merged.Times.ServiceTimeWithoutStalls = result.Distribution{}, result.Distribution{}
	}
	summarise(&merged)
	if !slices.ContainsFunc(runs, func(r result.Result) bool { return len(r.Goals) < len(r.Scenario.Objectives) }) {
		merged.Goals = goals(merged.Scenario, merged.Counts, &times.RTT)
	}
	b := &merged.Broker
	b.Compared, b.Agree, b.Sentence = agreement(merged.Scenario, b.Before, b.After, merged.Counts)
	verify(&merged, judgeHosts(merged.Hosts))
	merged.Failure = missed(merged.Goals)
	return merged, nil
}

// mergeable refuses what would not add up. That the scenarios are the same is the caller's to see.
func mergeable(names []string, runs []result.Result) error {
	if len(runs) < 2 {
		return errors.New("one run alone cannot be merged")
	}
	for i, r := range runs {
		switch {
		case r.Broke():
			return fmt.Errorf("%s failed: %s", names[i], r.Failure.Message)
		case r.Times.RTT.Count == 0:
			return fmt.Errorf("%s has measured nothing", names[i])
		case r.Origin.IsZero() || r.Times.RTT.Sum == "":
			return fmt.Errorf("%s is of an earlier fleet, whose results lack the exact sums and the time of the first message", names[i])
		}
		for j, other := range runs[:i] {
			if r.First < other.First+other.Scenario.Generators && other.First < r.First+r.Scenario.Generators {
				return fmt.Errorf("%s and %s both have a generator %d: give the runs generators of their own (`fleet run --first`)",
					names[j], names[i], max(r.First, other.First))
			}
		}
	}
	return nil
}

// hostsOf are a run's, under its name.
func hostsOf(name string, r result.Result) []result.Host {
	if len(r.Hosts) == 0 {
		gauges := slices.DeleteFunc(slices.Clone(r.Invalid), func(reason string) bool {
			return slices.Contains(unsent(r.Counts), reason) || slices.Contains(disagreement(r.Broker), reason)
		})
		return []result.Host{{
			Name: name, Machine: r.Machine, Generators: r.Scenario.Generators, Workers: r.Scenario.Workers, Counts: r.Counts,
			RTT: r.Times.RTT, Lateness: r.Times.Lateness, Resources: r.Resources, Noise: r.Noise, Invalid: gauges,
		}}
	}
	hosts := slices.Clone(r.Hosts)
	for i := range hosts {
		hosts[i].Name = name + ": " + hosts[i].Name
	}
	return hosts
}

// together adds what a run, whose first message was sent so much later, has by seconds.
func together(to *result.Result, from result.Result, later time.Duration) {
	shift := later.Seconds()
	addStalls(&to.Stalls, from.Stalls, shift)
	for _, trip := range from.Slowest {
		trip.At += shift
		to.Slowest = append(to.Slowest, trip)
	}
	slices.SortStableFunc(to.Slowest, func(a, b result.Trip) int { return cmp.Compare(b.RTT, a.RTT) })
	to.Slowest = to.Slowest[:min(len(to.Slowest), generator.SlowestKept)]
	for _, missing := range from.Missing {
		missing.At += shift
		to.Missing = append(to.Missing, missing)
	}
	for _, fault := range from.Faults {
		fault.At += shift
		for _, at := range []*float64{&fault.LastBefore, &fault.FirstAfter, &fault.Recovered} {
			if *at != 0 { // not before the end
				*at += shift
			}
		}
		to.Faults = append(to.Faults, fault)
	}
	offset := int(math.Round(shift))
	for i, second := range from.Timeline {
		for len(to.Timeline) <= offset+i {
			to.Timeline = append(to.Timeline, result.Second{At: float64(len(to.Timeline)), Idle: 1})
		}
		addSecond(&to.Timeline[offset+i], second)
	}
}

func addSecond(to *result.Second, from result.Second) {
	to.Connections += from.Connections
	to.Sent += from.Sent
	to.Acknowledged += from.Acknowledged
	to.Received += from.Received
	to.Failed += from.Failed
	to.Lost += from.Lost
	to.P50, to.P99, to.Max = max(to.P50, from.P50), max(to.P99, from.P99), max(to.Max, from.Max)
	if from.Idle > 0 { // else nobody has looked
		to.Idle = min(to.Idle, from.Idle)
	}
	to.BrokerCPU += from.BrokerCPU
	to.ClientCPU += from.ClientCPU
	to.UsedMemory += from.UsedMemory
}

// counters adds the counters of a run's own broker. Of a shared one it takes the readings that enclose all runs, since its counters
// only grow; streams and topics are each run's own.
func counters(to *result.BrokerCounters, from result.BrokerCounters, shared bool) {
	before, after := to.Before.Stored+from.Before.Stored, to.After.Stored+from.After.Stored
	if shared {
		if from.Before.In < to.Before.In {
			to.Before = from.Before
		}
		if from.After.In > to.After.In {
			to.After = from.After
		}
	} else {
		for _, sum := range []struct{ to, from *result.Counters }{{&to.Before, &from.Before}, {&to.After, &from.After}} {
			sum.to.Connections += sum.from.Connections
			sum.to.In += sum.from.In
			sum.to.Out += sum.from.Out
			sum.to.Dropped += sum.from.Dropped
			sum.to.Routed += sum.from.Routed
			sum.to.Nodes = slices.Concat(sum.to.Nodes, sum.from.Nodes)
		}
	}
	if to.Before.Stored >= 0 && from.Before.Stored >= 0 {
		to.Before.Stored, to.After.Stored = before, after
	}
}
