package report

import (
	"fmt"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
)

// columns are the percentiles that tables show; the JSON has more.
var columns = []float64{50, 95, 99, 99.5, 99.8, 99.9, 100}

// quantity is one row of times.
type quantity struct {
	name string
	of   func(*result.Times) *result.Distribution
}

var quantities = []quantity{
	{"RTT", func(t *result.Times) *result.Distribution { return &t.RTT }},
	{"RTT, without stalls", func(t *result.Times) *result.Distribution { return &t.RTTWithoutStalls }},
	{"service time", func(t *result.Times) *result.Distribution { return &t.ServiceTime }},
	{"service time, without stalls", func(t *result.Times) *result.Distribution { return &t.ServiceTimeWithoutStalls }},
	{"RTT during warm-up", func(t *result.Times) *result.Distribution { return &t.WarmUpRTT }},
	{"PRT: the publishing call", func(t *result.Times) *result.Distribution { return &t.PRT }},
	{"PT: until it is here", func(t *result.Times) *result.Distribution { return &t.PT }},
	{"SRT: until it is delivered", func(t *result.Times) *result.Distribution { return &t.SRT }},
	{"acknowledgement", func(t *result.Times) *result.Distribution { return &t.Acknowledged }},
	{"generators' own lateness", func(t *result.Times) *result.Distribution { return &t.Lateness }},
	{"connecting", func(t *result.Times) *result.Distribution { return &t.Connect }},
	{"first publish to first delivery", func(t *result.Times) *result.Distribution { return &t.FirstDelivery }},
	{"subscribing to first delivery", func(t *result.Times) *result.Distribution { return &t.Subscribe }},
}

func times(r result.Result) table {
	t := table{title: "Times", head: []string{"ms", "count", "mean", "STDDEV"},
		note: "RTT begins when the message was due, the service time when it was sent: RTT holds what the generator, or a client that blocked it, made it wait."}
	for _, percent := range columns {
		t.head = append(t.head, fmt.Sprintf("p%g", percent))
	}
	if r.Times.PT.Negative > 0 {
		t.note += fmt.Sprintf(" PT is negative where a message was there before the publishing call had returned (%s of %s messages): "+
			"clients of today publish in the background.", format.Count(r.Times.PT.Negative), format.Count(r.Times.PT.Count))
	}
	for _, q := range quantities {
		d := q.of(&r.Times)
		if d.Count == 0 {
			continue
		}
		name := strings.Replace(q.name, "without stalls", withoutStalls(r), 1)
		cells := []string{name, format.Count(d.Count), format.Millis(d.Mean), format.Millis(d.StdDev)}
		for _, percent := range columns {
			cells = append(cells, format.Millis(float64(d.At(percent))))
		}
		t.add(cells...)
	}
	return t
}

// withoutStalls says what a row leaves out.
func withoutStalls(r result.Result) string {
	messages, share := underWayInStalls(r)
	return fmt.Sprintf("without %s of the machine (%s, %s)", format.Some(r.Stalls.Count, "stall"), format.Some(messages, "message"),
		format.Percent(share))
}

// underWayInStalls is the number of deliveries that Times.RTT has and Times.RTTWithoutStalls has not.
func underWayInStalls(r result.Result) (messages int64, share float64) {
	all := r.Times.RTT.Count
	messages = all - r.Times.RTTWithoutStalls.Count
	return messages, float64(messages) / float64(max(1, all))
}

func counts(r result.Result) table {
	t := table{title: "Messages", head: []string{"", "messages", "share of sent"}}
	c := r.Counts
	always := map[string]bool{"sent": true, "received": true, "lost": true, "duplicated": true}
	for _, row := range []struct {
		name  string
		value uint64
	}{
		{"sent", c.Sent}, {"received", c.Received}, {"lost", c.Lost}, {"of them acknowledged and not delivered", c.LostAcknowledged},
		{"of them published and not delivered", c.Undelivered}, {"of them never acknowledged", c.Unacknowledged},
		{"of them published while our subscriber was away", c.Away},
		{"of them within a second of that", c.Unclear},
		{"duplicated", c.Duplicated}, {"arrived out of order", c.Reordered}, {"arrived after 120 s, counted as lost", c.Late}, {"not selected by the subscriber", c.Unselected},
		{"acknowledged", c.Acknowledged}, {"acknowledged with an error", c.Refused}, {"publishing failed", c.Failed},
		{"not published, the generator being busy", c.Skipped}, {"of somebody else", c.Foreign},
	} {
		if row.value == 0 && !always[row.name] {
			continue
		}
		share := ""
		if c.Sent > 0 {
			share = format.Percent(float64(row.value) / float64(c.Sent))
		}
		t.add(row.name, format.Count(row.value), share)
	}
	return t
}

// slowest are a few of the slowest messages: whether a slow tail is one generator, one moment, or everywhere.
func slowest(r result.Result) table {
	const shown = 10
	t := table{title: "The slowest messages", head: []string{"generator", "its message, from 0", "due at", "RTT, ms", "service time, ms"}}
	if more := len(r.Slowest) - shown; more > 0 {
		t.note = fmt.Sprintf("%s has %s more.", JSONName, format.Count(more))
	}
	for _, trip := range r.Slowest[:min(shown, len(r.Slowest))] {
		t.add(format.Count(int(trip.Generator)), format.Count(int(trip.Sequence)), format.Tick(trip.At*1e9), format.Millis(float64(trip.RTT)), format.Millis(float64(trip.Service)))
	}
	return t
}

func resources(r result.Result) table {
	t := table{
		title: "Processor and memory",
		note: fmt.Sprintf("The machine was %s idle. By the study's definition (peak minus bottom of vmstat's used memory) the run took %s.",
			format.Percent(thousandth(r.Resources.Idle)), format.Bytes(float64(r.Resources.VmstatMemory))),
		head: []string{"", "processes", "cores", "resident before", "resident peak", "per connection"},
	}
	for _, side := range []struct {
		name string
		result.Usage
	}{{"broker", r.Resources.Broker}, {"fleet", r.Resources.Client}} {
		if side.Processes == 0 {
			continue
		}
		t.add(side.name, format.Count(side.Processes), format.Number(side.CPU), format.Bytes(float64(side.BaseRSS)),
			format.Bytes(float64(side.PeakRSS)), format.Bytes(side.PerConnection))
	}
	return t
}

func noise(r result.Result) table {
	if len(r.Hosts) > 0 {
		return noiseOfHosts(r)
	}
	t := table{title: "Noise", note: "What else happened on the machine. A run beyond a limit is not valid.", head: []string{"", "measured", "limit"}}
	n := r.Noise
	t.add("other processes, cores", format.Number(n.Others), format.Number(host.MaxOthers))
	for _, process := range n.Busiest {
		t.add(fmt.Sprintf("of them %s (process %d)", process.Name, process.ID), format.Number(process.Cores), "")
	}
	t.add("kept by the hypervisor", format.Percent(thousandth(n.Steal)), format.Percent(host.MaxSteal))
	if n.HiccupP998 > 0 { // a result of an earlier release does not have it
		t.add("an idle thread wakes late by, worst core, p99.8", format.Duration(float64(n.HiccupP998)), format.Tick(float64(host.MaxHiccup)))
	}
	t.add("the same, greatest", format.Duration(float64(n.HiccupMax)), "")
	if s := r.Stalls; s.Count > 0 {
		t.add("stalls of a core from "+format.Tick(host.StallTime), format.Count(s.Count), "")
		t.add("the same, in all", format.Duration(float64(s.Total)), "")
		t.add("the same, longest", format.Duration(float64(s.Longest[0].Length)), "")
	}
	t.add("a ready thread waits for a core, mean", format.Duration(n.RunQueueWait), format.Tick(float64(host.MaxRunQueueWait)))
	t.add("generators late by, p99.8", format.Duration(float64(r.Times.Lateness.At(99.8))), format.Tick(float64(host.MaxLateness)))
	return t
}

func brokerCounters(r result.Result) table {
	t := table{title: "The broker's own counters", head: []string{"", "before", "after", "difference"}}
	before, after := r.Broker.Before, r.Broker.After
	for _, row := range []struct {
		name          string
		before, after int64
	}{
		{"messages in", before.In, after.In}, {"messages out", before.Out, after.Out}, {"stored", before.Stored, after.Stored},
		{"dropped", before.Dropped, after.Dropped}, {"bytes between nodes", before.Routed, after.Routed},
		{"connections", before.Connections, after.Connections},
	} {
		if row.after < 0 || row.before == 0 && row.after == 0 {
			continue
		}
		t.add(row.name, format.Count(row.before), format.Count(row.after), format.Count(row.after-row.before))
	}
	return t
}

func faults(r result.Result) table {
	t := table{
		title: "Faults", head: []string{"", "at", "no delivery for", "recovered after", "lost meanwhile", "failed meanwhile"},
		note: "Recovered: deliveries are back at nine tenths of the rate before, and none is held up any more.",
	}
	for _, o := range r.Faults {
		recovered := "not before the end"
		if seconds, ok := o.Recovery(); ok {
			recovered = format.Tick(seconds * 1e9)
		}
		silence := "to the end"
		if seconds, ended := o.Silence(); ended {
			silence = format.Tick(seconds * 1e9)
		}
		t.add(faultName(o), format.Tick(o.At*1e9), silence, recovered, format.Count(o.LostDuring), format.Count(o.FailedDuring))
	}
	return t
}

func faultName(o result.Outage) string {
	return fmt.Sprintf("%s node %d", o.Fault.Action, o.Fault.Node)
}

// thousandth drops digits of a share that come from counting ticks.
func thousandth(share float64) float64 { return float64(int(share*1000+0.5)) / 1000 }
