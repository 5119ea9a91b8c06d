package report

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
)

// hosts are the machines of a fleet on several, each with its share.
func hosts(r result.Result) table {
	t := table{title: "Hosts", head: []string{"host", "generators", "source addresses", "connections", "sent", "lost", "RTT p50, ms", "p99.8, ms",
		"cores used", "memory per connection", "clock known to", "and drifted by"},
		note: "A message is sent and received on one host, so no round trip depends on the clocks. The measured span, and the seconds " +
			"of charts, are as far apart on two hosts as their clocks are known to and drift."}
	for _, h := range r.Hosts {
		drift := "unknown"
		if h.ClockEnd.Error > 0 {
			drift = format.Duration(float64(h.ClockEnd.Nanos - h.ClockBegin.Nanos))
		}
		t.add(h.Name, format.Count(h.Generators), format.Count(max(1, len(h.Sources))), format.Count(h.Counts.Connections),
			format.Count(h.Counts.Sent), format.Count(h.Counts.Lost),
			format.Millis(float64(h.RTT.At(50))), format.Millis(float64(h.RTT.At(99.8))), format.Number(h.Resources.Client.CPU),
			format.Bytes(h.Resources.Client.PerConnection), "± "+format.Duration(float64(h.ClockBegin.Error)), drift)
	}
	return t
}

// noiseOfHosts replaces the table of one machine's noise.
func noiseOfHosts(r result.Result) table {
	t := table{title: "Noise", note: "What else happened on each host. A run beyond a limit on any of them is not valid.",
		head: []string{"host", "other processes, cores", "kept by the hypervisor", "an idle thread wakes late by, worst core, p99.8",
			"a ready thread waits for a core, mean", "generators late by, p99.8"}}
	limit := func(value, limit string) string { return fmt.Sprintf("%s of %s", value, limit) }
	for _, h := range r.Hosts {
		n := h.Noise
		t.add(h.Name,
			limit(format.Number(n.Others), format.Number(host.MaxOthers)),
			limit(format.Percent(thousandth(n.Steal)), format.Percent(host.MaxSteal)),
			limit(format.Duration(float64(n.HiccupP998)), format.Tick(float64(host.MaxHiccup))),
			limit(format.Duration(n.RunQueueWait), format.Tick(float64(host.MaxRunQueueWait))),
			limit(format.Duration(float64(h.Lateness.At(99.8))), format.Tick(float64(host.MaxLateness))))
	}
	return t
}
