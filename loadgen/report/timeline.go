package report

import (
	"fmt"
	"time"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/result"
)

// Timeline draws a run second by second: messages, round trips, processors; faults are shaded from the fault to the recovery.
func Timeline(r result.Result) plot.Figure {
	seconds := plot.Axis{To: 1, Text: func(at float64) string { return format.Clock(time.Duration(at * float64(time.Second))) }}
	if last := len(r.Timeline) - 1; last > 0 {
		seconds.To = r.Timeline[last].At
	}
	for at := 0.0; seconds.To < 8 && at <= seconds.To; at++ { // or a short run would have ticks of less than a second, of one name
		seconds.Ticks = append(seconds.Ticks, at)
	}
	bands := outages(r)
	// The machine is not sampled in every second: the last one may end without.
	var watched []result.Second
	for _, second := range r.Timeline {
		if second.UsedMemory > 0 {
			watched = append(watched, second)
		}
	}
	figure := plot.Figure{
		Title:    "Second by second",
		Subtitle: "RTT of the messages that arrived in a second.",
		Panels: []plot.Panel{
			{Title: "Messages per second", X: seconds, Bands: bands, Height: 150, Series: []plot.Series{
				overTime(r.Timeline, "sent", 1, func(s result.Second) float64 { return float64(s.Sent) }),
				overTime(r.Timeline, "received", 0, func(s result.Second) float64 { return float64(s.Received) }),
			}},
			{Title: "RTT", X: seconds, Y: timeAxis(), Bands: unlabelled(bands), Height: 200, Series: []plot.Series{
				overTime(r.Timeline, "greatest", 7, func(s result.Second) float64 { return float64(s.Max) }),
				overTime(r.Timeline, "p99", 1, func(s result.Second) float64 { return float64(s.P99) }),
				overTime(r.Timeline, "p50", 0, func(s result.Second) float64 { return float64(s.P50) }),
			}},
			{Title: "Cores in use", X: seconds, Bands: unlabelled(bands), Height: 130, Series: []plot.Series{
				overTime(watched, "whole machine", 7, func(s result.Second) float64 { return (1 - s.Idle) * float64(r.Machine.Cores) }),
				overTime(watched, "fleet", 0, func(s result.Second) float64 { return s.ClientCPU }),
				overTime(watched, "broker", 1, func(s result.Second) float64 { return s.BrokerCPU }),
			}},
		},
	}
	if r.Resources.Broker.Processes == 0 { // external, whose processes are not visible
		processors := &figure.Panels[2]
		processors.Series = processors.Series[:2]
	}
	messages := &figure.Panels[0]
	for _, extra := range []struct {
		name   string
		colour int
		of     func(result.Second) float64
	}{
		{"never arrived", 4, func(s result.Second) float64 { return float64(s.Lost) }},
		{"failed", 2, func(s result.Second) float64 { return float64(s.Failed) }},
	} {
		// Dots, and only where there are any: one message lost in a thousand would vanish in a line along the axis.
		series := plot.Series{Name: extra.name, Colour: extra.colour, Dots: true, Alone: true}
		for _, second := range r.Timeline {
			if count := extra.of(second); count > 0 {
				series.Points = append(series.Points, plot.Point{X: second.At, Y: count, Text: fmt.Sprintf("%s: %s %s",
					seconds.Text(second.At), format.Number(count), extra.name)})
			}
		}
		if len(series.Points) > 0 {
			messages.Series = append(messages.Series, series)
		}
	}
	figure.Panels[2].X.Label = "since the first message, m:ss"
	return figure
}

func overTime(seconds []result.Second, name string, colour int, of func(result.Second) float64) plot.Series {
	series := plot.Series{Name: name, Colour: colour}
	for _, second := range seconds {
		series.Points = append(series.Points, plot.Point{X: second.At, Y: of(second)})
	}
	return series
}

func outages(r result.Result) []plot.Band {
	var bands []plot.Band
	for _, o := range r.Faults {
		to := o.Recovered
		if to == 0 && len(r.Timeline) > 0 {
			to = r.Timeline[len(r.Timeline)-1].At
		}
		bands = append(bands, plot.Band{From: o.At, To: to, Label: faultName(o)})
	}
	return bands
}

func unlabelled(bands []plot.Band) []plot.Band {
	plain := append([]plot.Band(nil), bands...)
	for i := range plain {
		plain[i].Label = ""
	}
	return plain
}
