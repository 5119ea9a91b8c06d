package report

import (
	"fmt"
	"math"
	"sort"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/result"
)

// Setup is one way to run a fleet, measured at several numbers of connections.
type Setup struct {
	Name string
	Runs []result.Result
}

// Setups puts runs together that differ in their numbers of generators alone (and in what follows from them).
func Setups(runs []result.Result) []Setup {
	var setups []Setup
	of := map[string]int{}
	for _, r := range runs {
		s := r.Scenario
		s.Name, s.Seed, s.Generators, s.Workers, s.Sources, s.Connections.Pool = "", 0, 0, 0, 0, 0
		key := fmt.Sprint(settings(s))
		if _, known := of[key]; !known {
			of[key] = len(setups)
			setups = append(setups, Setup{Name: setupName(r)})
		}
		setup := &setups[of[key]]
		setup.Runs = append(setup.Runs, r)
	}
	return setups
}

func setupName(r result.Result) string {
	name := transportName(r.Scenario)
	if nodes := r.Scenario.Broker.Nodes; nodes > 1 {
		name += fmt.Sprintf(", %d nodes", nodes)
	}
	return name
}

// RTTByConnections draws RTT and STDDEV, and the 99.8th percentile, over connections.
func RTTByConnections(title, subtitle string, setups []Setup) plot.Figure {
	figure := plot.Figure{Title: title, Subtitle: subtitle,
		Note: "Runs that did not get to their end are not drawn."}
	for i, quantity := range []struct {
		title string
		of    func(result.Distribution) float64
	}{
		{"RTT, mean", func(d result.Distribution) float64 { return d.Mean }},
		{"STDDEV of RTT", func(d result.Distribution) float64 { return d.StdDev }},
		{"99.8 % of messages within", func(d result.Distribution) float64 { return float64(d.At(99.8)) }},
	} {
		panel := overConnections(quantity.title, setups, format.Duration, func(r result.Result) (float64, bool) {
			return quantity.of(r.Times.RTT), r.Times.RTT.Count > 0
		})
		panel.Y, panel.Height = timeAxis(), 170
		if i == 0 {
			panel.Height = 220
		}
		figure.Panels = append(figure.Panels, panel)
	}
	label(figure.Panels)
	return figure
}

// LoadByConnections draws CPU idle and memory over connections, beside the true memory.
func LoadByConnections(title, subtitle string, setups []Setup) plot.Figure {
	figure := plot.Figure{Title: title, Subtitle: subtitle, Note: "vmstat: peak minus bottom of the machine's used memory; " +
		"it counts broker and fleet together. Resident: of the broker's processes, above what they had before the first connection."}
	idle := overConnections("CPU idle", setups, format.Percent, func(r result.Result) (float64, bool) { return r.Resources.Idle, true })
	idle.Y = plot.Axis{From: 0, To: 1, Text: format.Percent, Ticks: []float64{0, 0.25, 0.5, 0.75, 1}}
	bytes := plot.Axis{Text: func(v float64) string { return format.Trim(format.Bytes(v)) }}
	used := overConnections("Memory by vmstat", setups, format.Bytes, func(r result.Result) (float64, bool) {
		return float64(r.Resources.VmstatMemory), true
	})
	resident := overConnections("Broker's resident memory", setups, format.Bytes, func(r result.Result) (float64, bool) {
		return float64(r.Resources.Broker.PeakRSS - r.Resources.Broker.BaseRSS), r.Resources.Broker.Processes > 0
	})
	used.Y, resident.Y = bytes, bytes
	figure.Panels = []plot.Panel{idle, used, resident}
	for i := range figure.Panels {
		figure.Panels[i].Height = 160
	}
	label(figure.Panels)
	return figure
}

func overConnections(title string, setups []Setup, text func(float64) string, of func(result.Result) (float64, bool)) plot.Panel {
	panel := plot.Panel{Title: title}
	least, most := math.Inf(1), 0.0
	for i, setup := range setups {
		series := plot.Series{Name: setup.Name, Colour: i, Dots: true}
		runs := append([]result.Result(nil), setup.Runs...)
		sort.SliceStable(runs, func(a, b int) bool { return runs[a].Counts.Connections < runs[b].Counts.Connections })
		for _, r := range runs {
			value, known := of(r)
			if !known || r.Counts.Sent == 0 || r.Broke() {
				continue
			}
			connections := float64(r.Counts.Connections)
			least, most = math.Min(least, connections), math.Max(most, connections)
			series.Points = append(series.Points, plot.Point{X: connections, Y: value,
				Text: fmt.Sprintf("%s, %s connections: %s", setup.Name, format.Count(r.Counts.Connections), text(value))})
		}
		panel.Series = append(panel.Series, series)
	}
	// The study's axes are linear; from hundreds to a hundred thousand the small fleets would lie on one spot.
	panel.X = plot.Axis{From: 0, To: most}
	if most > 12*least {
		panel.X = plot.Axis{Scale: plot.Log}
	}
	return panel
}

// label names the axis once, below the last panel.
func label(panels []plot.Panel) {
	panels[len(panels)-1].X.Label = "connections"
}
