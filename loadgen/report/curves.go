package report

import (
	"fmt"
	"math"

	"lifeline/loadgen/format"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/result"
)

// Curve is one line over percentiles.
type Curve struct {
	Name         string
	Distribution result.Distribution
	Dashed       bool
}

// Percentiles draws RTT over the percentiles from 95 to 100.
func Percentiles(title, subtitle string, curves []Curve) (plot.Figure, error) {
	panel := plot.Panel{
		X:      plot.Axis{Label: "percentage of messages", From: 95, To: 100, Ticks: []float64{95, 96, 97, 98, 99, 100}, Text: percent},
		Y:      timeAxis(),
		Height: 320,
	}
	var at []float64
	for hundredth := 9500; hundredth <= 10_000; hundredth += 10 {
		at = append(at, float64(hundredth)/100)
	}
	series, err := lines(curves, at)
	panel.Series = series
	return plot.Figure{Title: title, Subtitle: subtitle, Panels: []plot.Panel{panel}}, err
}

// Distribution draws RTT over all percentiles; each further nine takes the same room.
func Distribution(title, subtitle string, curves []Curve) (plot.Figure, error) {
	var most int64
	for _, curve := range curves {
		most = max(most, curve.Distribution.Count)
	}
	// The last message of n stands at 1 - 1/(2n): nothing is known beyond it.
	last := 100 - 50/math.Max(1, float64(most))
	var at []float64
	for step := 0.0; ; step += 0.02 {
		percentage := 100 - 100*math.Pow(10, -step)
		if percentage >= last {
			break
		}
		at = append(at, percentage)
	}
	series, err := lines(curves, append(at, last))
	return plot.Figure{Title: title, Subtitle: subtitle, Panels: []plot.Panel{{
		X:      plot.Axis{Label: "percentage of messages, each nine as wide as the one before", Scale: plot.Nines, From: 0, To: last},
		Y:      timeAxis(),
		Series: series,
		Height: 300,
	}}}, err
}

// lines are cut where a curve has no more messages: its last point is its greatest value.
func lines(curves []Curve, percentages []float64) ([]plot.Series, error) {
	var all []plot.Series
	for i, curve := range curves {
		if curve.Distribution.Count == 0 {
			continue
		}
		recorder, err := measure.Restore(curve.Distribution)
		if err != nil {
			return nil, fmt.Errorf("drawing %s: %w", curve.Name, err)
		}
		series := plot.Series{Name: curve.Name, Colour: i, Dashed: curve.Dashed}
		last := 100 - 50/float64(recorder.Count())
		for _, percentage := range percentages {
			if percentage > last && percentage < 100 && len(series.Points) > 0 && series.Points[len(series.Points)-1].Y == float64(recorder.Percentile(100)) {
				break
			}
			series.Points = append(series.Points, plot.Point{X: percentage, Y: float64(recorder.Percentile(percentage))})
		}
		all = append(all, series)
	}
	return all, nil
}

func timeAxis() plot.Axis { return plot.Axis{Scale: plot.Log, Text: format.Tick} }

func percent(value float64) string { return fmt.Sprintf("%g %%", value) }
