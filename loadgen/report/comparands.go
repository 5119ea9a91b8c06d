package report

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// comparand is a quantity that runs are compared by.
type comparand struct {
	name, unit string
	always     bool // shown even where it is 0 in all runs
	of         func(*result.Result) float64
}

var comparands = func() []comparand {
	all := []comparand{
		{"connections", "connections", true, func(r *result.Result) float64 { return float64(r.Counts.Connections) }},
		{"sent", "messages", true, func(r *result.Result) float64 { return float64(r.Counts.Sent) }},
		{"lost", "messages", true, func(r *result.Result) float64 { return float64(r.Counts.Lost) }},
		{"lost while our subscriber was away", "messages", false, func(r *result.Result) float64 { return float64(r.Counts.Away) }},
		{"lost though acknowledged", "messages", false, func(r *result.Result) float64 { return float64(r.Counts.LostAcknowledged) }},
		{"duplicated", "messages", true, func(r *result.Result) float64 { return float64(r.Counts.Duplicated) }},
		{"arrived out of order", "messages", false, func(r *result.Result) float64 { return float64(r.Counts.Reordered) }},
		{"RTT, mean", "ns", true, func(r *result.Result) float64 { return r.Times.RTT.Mean }},
		{"RTT, STDDEV", "ns", true, func(r *result.Result) float64 { return r.Times.RTT.StdDev }},
	}
	for _, p := range columns {
		all = append(all, comparand{fmt.Sprintf("RTT, p%g", p), "ns", true, func(r *result.Result) float64 { return float64(r.Times.RTT.At(p)) }})
	}
	return append(all,
		comparand{"RTT without stalls, p99.8", "ns", false, func(r *result.Result) float64 { return float64(r.Times.RTTWithoutStalls.At(99.8)) }},
		comparand{"service time, p50", "ns", false, func(r *result.Result) float64 { return float64(r.Times.ServiceTime.At(50)) }},
		comparand{"service time, p99.8", "ns", false, func(r *result.Result) float64 { return float64(r.Times.ServiceTime.At(99.8)) }},
		comparand{"PRT, mean", "ns", false, func(r *result.Result) float64 { return r.Times.PRT.Mean }},
		comparand{"PT, mean", "ns", false, func(r *result.Result) float64 { return r.Times.PT.Mean }},
		comparand{"SRT, mean", "ns", false, func(r *result.Result) float64 { return r.Times.SRT.Mean }},
		comparand{"acknowledgement, p50", "ns", false, func(r *result.Result) float64 { return float64(r.Times.Acknowledged.At(50)) }},
		comparand{"acknowledgement, p99.8", "ns", false, func(r *result.Result) float64 { return float64(r.Times.Acknowledged.At(99.8)) }},
		comparand{"connecting, p50", "ns", false, func(r *result.Result) float64 { return float64(r.Times.Connect.At(50)) }},
		comparand{"generators late by, p99.8", "ns", false, func(r *result.Result) float64 { return float64(r.Times.Lateness.At(99.8)) }},
		comparand{"broker's processors", "cores", false, func(r *result.Result) float64 { return r.Resources.Broker.CPU }},
		comparand{"fleet's processors", "cores", false, func(r *result.Result) float64 { return r.Resources.Client.CPU }},
		comparand{"broker's memory per connection", "bytes", false, func(r *result.Result) float64 { return r.Resources.Broker.PerConnection }},
		comparand{"fleet's memory per connection", "bytes", false, func(r *result.Result) float64 { return r.Resources.Client.PerConnection }},
		comparand{"CPU idle", "share", true, func(r *result.Result) float64 { return r.Resources.Idle }},
	)
}()

func (m Measured) cell(i int) string { return cell(m.Values[i], m.Unit) }

func cell(value float64, unit string) string {
	switch unit {
	case "ns":
		if value == 0 { // of nothing that was measured
			return ""
		}
		return format.Duration(value)
	case "bytes":
		return format.Bytes(value)
	case "share":
		return format.Percent(thousandth(value))
	case "cores":
		return format.Number(value) + " cores"
	default:
		return format.Count(int64(value))
	}
}
