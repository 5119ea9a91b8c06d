package spread

import (
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"lifeline/loadgen/format"
)

// Level is the probability below which a difference is not taken for chance, and one less the confidence of a Change's interval.
const Level = 0.05

// Change is how a figure of some runs compares with that of others.
type Change struct {
	Before, After Spread
	P             float64 // of a difference at least this large if there were none: Mann-Whitney U test, both sides
	LeastP        float64 // what P would be if all runs of one side were above all of the other
	Ratio         float64 // after / before: median of all pairs (Hodges and Lehmann)
	Least, Most   float64 // of the ratio, with 95 % confidence; 0 and +Inf where so few runs bound it on neither side
}

// Compare tests whether two sides differ. The test is exact for up to 25 runs a side with equal values among them, and 50 without.
// Ratios need values above 0: others give NaN.
func Compare(before, after []float64) Change {
	c := Change{Before: Of(before), After: Of(after), P: 1, LeastP: 1, Ratio: math.NaN(), Most: math.Inf(1)}
	if len(before) == 0 || len(after) == 0 {
		return c
	}
	// The error says that the test has nothing to compare: all values are equal.
	if test, err := stats.MannWhitneyUTest(before, after, stats.LocationDiffers); err == nil {
		c.P = min(1, test.P)
	}
	chance := stats.UDist{N1: len(before), N2: len(after)}
	c.LeastP = min(1, 2*chance.CDF(0))
	ratios := pairs(before, after)
	if ratios[0] <= 0 || math.IsNaN(ratios[0]) {
		return c
	}
	c.Ratio = median(ratios)
	// Of the sorted ratios the interval leaves out on each side as many as U may be and still be significant.
	out := 0
	for 2*chance.CDF(float64(out)) <= Level {
		out++
	}
	if out > 0 {
		c.Least, c.Most = ratios[out-1], ratios[len(ratios)-out]
	}
	return c
}

// pairs are the ratios of each value after to each before, sorted.
func pairs(before, after []float64) []float64 {
	ratios := make([]float64, 0, len(before)*len(after))
	for _, a := range after {
		for _, b := range before {
			ratios = append(ratios, a/b)
		}
	}
	slices.Sort(ratios)
	return ratios
}

// Clear reports whether the runs show a difference.
func (c Change) Clear() bool { return c.P < Level }

// Text is the verdict with its figures: "1.21 times (1.14 to 1.33 with 95 % confidence), p 0.008".
func (c Change) Text() string {
	switch {
	case c.Clear() && math.IsNaN(c.Ratio):
		return "changed, p " + format.Number(c.P)
	case c.Clear():
		return fmt.Sprintf("%s times (%s to %s with 95 %% confidence), p %s", format.Number(c.Ratio), format.Number(c.Least),
			format.Number(c.Most), format.Number(c.P))
	case c.LeastP >= Level:
		return fmt.Sprintf("too few runs to tell: p is at least %s", format.Number(c.LeastP))
	}
	return fmt.Sprintf("no change that %s and %s show, p %s", format.Some(c.Before.Runs, "run"), format.Some(c.After.Runs, "run"), format.Number(c.P))
}

// Doubt is what a sentence that names both figures has to add where the runs show no difference; empty where they do.
func (c Change) Doubt() string {
	switch {
	case c.Clear():
		return ""
	case c.LeastP >= Level:
		return "too few runs to tell"
	}
	return fmt.Sprintf("no difference that %s show", format.Some(min(c.Before.Runs, c.After.Runs), "run"))
}
