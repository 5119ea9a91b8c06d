// Package spread sums up a figure that was measured several times, and tells a change of it from noise. Nothing is assumed about how
// the runs are distributed: figures of a machine have outliers on one side.
package spread

import (
	"fmt"
	"slices"
)

// Spread is the median and the range of a figure over some runs. The range of n runs holds the median of all possible runs with a
// probability of 1 - 1/2^(n-1): 94 % of five runs.
type Spread struct {
	Median, Least, Most float64
	Runs                int
}

// Of sums values up; zero where there are none. The values stay as they are.
func Of(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Spread{Median: median(sorted), Least: sorted[0], Most: sorted[len(sorted)-1], Runs: len(sorted)}
}

// median of sorted values.
func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Relative is the range over the median; 0 where the median is 0.
func (s Spread) Relative() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Most - s.Least) / s.Median
}

// Text is the median with the range, "0.310 (0.280 to 0.360)"; of a single run the figure alone.
func (s Spread) Text(number func(float64) string) string {
	switch s.Runs {
	case 0:
		return ""
	case 1:
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.Least), number(s.Most))
}
