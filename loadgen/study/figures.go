package study

import (
	"fmt"
	"math"
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/report"
)

// The pictures of this file have the axes of the paper's figures: linear, in milliseconds, per cent and megabytes.

// line is one setup over its numbers of connections.
type line struct {
	name    string
	records []Record
}

// quantity is what a figure draws of a record, in the unit of its axis.
type quantity struct {
	name   string // put behind a line's own
	dashed bool
	of     func(Record) float64
}

var (
	rttAndDeviation = []quantity{
		{"RTT", false, func(r Record) float64 { return r.middle(mean) / 1e6 }},
		{"STDDEV", true, func(r Record) float64 { return r.middle(deviation) / 1e6 }},
	}
	idleShare    = []quantity{{"CPU idle", false, func(r Record) float64 { return 100 * r.Resources.Idle }}}
	usedMegabyte = []quantity{{"memory", false, func(r Record) float64 { return float64(r.Resources.VmstatMemory) / 1e6 }}}
)

// overConnections draws quantities of the lines; fleets of more than `most` connections are beyond the paper's axis.
func overConnections(title, unit string, lines []line, quantities []quantity, most int) plot.Panel {
	panel := plot.Panel{Title: title, X: plot.Axis{From: 0, To: float64(most)}, Y: plot.Axis{Label: unit}, Height: 200}
	highest := 0.0
	for i, each := range lines {
		for _, q := range quantities {
			name := each.name
			if len(quantities) > 1 {
				name = q.name + ", " + name
			}
			series := plot.Series{Name: name, Colour: i, Dashed: q.dashed, Dots: true}
			for _, r := range each.records {
				connections := r.Counts.Connections
				if !r.measured() || r.Broke() || connections > most {
					continue
				}
				value := q.of(r)
				highest = math.Max(highest, value)
				series.Points = append(series.Points, plot.Point{X: float64(connections), Y: value,
					Text: fmt.Sprintf("%s, %s connections: %s", name, format.Count(connections), format.Number(value))})
			}
			if len(series.Points) > 0 {
				panel.Series = append(panel.Series, series)
			}
		}
	}
	panel.Y.To = roundUp(highest)
	return panel
}

// together is a figure of those panels that have lines, with the axis named once; false where there are none.
func together(title, subtitle, note string, panels ...plot.Panel) (plot.Figure, bool) {
	panels = slices.DeleteFunc(panels, func(panel plot.Panel) bool { return len(panel.Series) == 0 })
	if len(panels) == 0 {
		return plot.Figure{}, false
	}
	if panels[len(panels)-1].X.Label == "" {
		panels[len(panels)-1].X.Label = "concurrent connections"
	}
	return plot.Figure{Title: title, Subtitle: subtitle, Note: note, Panels: panels}, true
}

// rttPanel and loadPanels are the panels of the paper's Figures 7 and 11, and 6 and 13.
func rttPanel(title string, lines []line, most int) plot.Panel {
	return overConnections(title, "ms", lines, rttAndDeviation, most)
}

func loadPanels(title string, lines []line, most int) []plot.Panel {
	idle := overConnections(title+": CPU idle", "%", lines, idleShare, most)
	idle.Y.From, idle.Y.To = 0, 100
	return []plot.Panel{idle, overConnections(title+": memory", "MB", lines, usedMegabyte, most)}
}

// percentilePanel draws the paper's percentiles: the time within which so many per cent of the messages made the round trip. Its
// axis ends above the slowest curve's p99.8: beyond are single messages, whose greatest time is in the table.
func percentilePanel(title string, curves []report.Curve, mark plot.Mark) (plot.Panel, error) {
	figure, err := report.Percentiles("", "", curves)
	if err != nil {
		return plot.Panel{}, err
	}
	panel := figure.Panels[0]
	slowest := 0.0
	for _, curve := range curves {
		slowest = math.Max(slowest, float64(curve.Distribution.At(99.8))/1e6)
	}
	top := roundUp(slowest)
	for i := range panel.Series {
		series := &panel.Series[i]
		for j := range series.Points {
			series.Points[j].Y /= 1e6
		}
		series.Points = slices.DeleteFunc(series.Points, func(at plot.Point) bool { return at.Y > top })
	}
	panel.Title, panel.Height = title, 240
	panel.Y = plot.Axis{Label: "ms", From: 0, To: top}
	mark.Y /= 1e6
	panel.Marks = []plot.Mark{mark}
	return panel, nil
}

// percentiles is a figure of such panels, one for each group of curves that has any.
func percentiles(title, of string, mark plot.Mark, groups []group) (plot.Figure, bool, error) {
	var panels []plot.Panel
	for _, each := range groups {
		if len(each.curves) == 0 {
			continue
		}
		panel, err := percentilePanel(each.title, each.curves, mark)
		if err != nil {
			return plot.Figure{}, false, fmt.Errorf("drawing %s: %w", title, err)
		}
		panels = append(panels, panel)
	}
	for i := range panels[:max(0, len(panels)-1)] {
		panels[i].X.Label = ""
	}
	note := "The axis ends at the slowest curve's p99.8; the greatest times are in the table. The paper's point (" + mark.Label + ") lies above the axis."
	if slices.ContainsFunc(panels, func(panel plot.Panel) bool { return panel.Y.To >= mark.Y/1e6 }) {
		note = "The axis ends at the slowest curve's p99.8; the greatest times are in the table. Ring: the paper's point."
	}
	figure, any := together(title, "The paper's "+of+": within what time the given share of messages made the round trip.", note, panels...)
	return figure, any, nil
}

// group is the curves of one panel.
type group struct {
	title  string
	curves []report.Curve
}

// curvesOf names each record's curve; records without times have none.
func curvesOf(records []Record, name func(Record) string) []report.Curve {
	var all []report.Curve
	for _, r := range records {
		if r.measured() {
			all = append(all, report.Curve{Name: name(r), Distribution: r.Times.RTT})
		}
	}
	return all
}

func byConnections(r Record) string { return format.Count(r.Counts.Connections) + " connections" }

// upTo are the fleets within the paper's range of connections.
func upTo(most int, records []Record) []Record {
	return slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Scenario.Generators > most })
}

// show draws a figure where it has anything; it reports whether it had.
func (p *page) show(file string, figure plot.Figure, any bool) (bool, error) {
	if !any {
		return false, nil
	}
	return true, p.picture(file, figure.Title, figure.SVG())
}

// roundUp is an axis' end: two digits, not below the value.
func roundUp(value float64) float64 {
	if value <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(value))) / 5
	return math.Ceil(value/step) * step
}
