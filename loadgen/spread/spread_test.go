package spread

import (
	"math"
	"strings"
	"testing"

	"lifeline/loadgen/format"
)

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

func TestASpreadIsMedianAndRange(t *testing.T) {
	for _, c := range []struct {
		values   []float64
		want     Spread
		relative float64
		text     string
	}{
		{nil, Spread{}, 0, ""},
		{[]float64{4}, Spread{4, 4, 4, 1}, 0, "4.00"},
		{[]float64{3, 1}, Spread{2, 1, 3, 2}, 1, "2.00 (1.00 to 3.00)"},
		{[]float64{0.36, 0.3, 0.28, 0.31, 0.33}, Spread{0.31, 0.28, 0.36, 5}, 0.08 / 0.31, "0.310 (0.280 to 0.360)"},
	} {
		got := Of(c.values)
		if got != c.want || !near(got.Relative(), c.relative) || got.Text(format.Number) != c.text {
			t.Errorf("%v: %+v, relative %v, %q", c.values, got, got.Relative(), got.Text(format.Number))
		}
	}
}

// series are n values from first on, step apart.
func series(first, step float64, n int) []float64 {
	var all []float64
	for i := range n {
		all = append(all, first+step*float64(i))
	}
	return all
}

// The least probabilities are 2 / (n1+n2 over n1). Critical values of U at 0.05, both sides, are those of the published tables
// (Mann and Whitney 1947; Siegel 1956, table K): 0 at 4 and 4, 2 at 5 and 5, 5 at 6 and 6, 8 at 7 and 7, 13 at 8 and 8, 23 at 10 and 10.
func TestTheTestGivesThePublishedCriticalValues(t *testing.T) {
	for _, c := range []struct{ n1, n2, critical int }{{4, 4, 0}, {5, 5, 2}, {5, 6, 3}, {6, 6, 5}, {5, 8, 6}, {7, 7, 8}, {8, 8, 13}, {10, 10, 23}} {
		for u, clear := range map[int]bool{c.critical: true, c.critical + 1: false} {
			got := Compare(withU(c.n1, c.n2, u))
			if got.Clear() != clear {
				t.Errorf("%d and %d runs, U = %d: p = %v", c.n1, c.n2, u, got.P)
			}
			// Test and interval say the same: it holds 1 where there is no difference.
			if holds := got.Least <= 1 && 1 <= got.Most; holds == clear {
				t.Errorf("%d and %d runs, U = %d: ratio %v (%v to %v), p = %v", c.n1, c.n2, u, got.Ratio, got.Least, got.Most, got.P)
			}
		}
	}
	if got := Compare(withU(5, 5, 0)); !near(got.P, 2.0/252) || !near(got.LeastP, 2.0/252) {
		t.Errorf("five runs above five others: p = %v, least %v", got.P, got.LeastP)
	}
	if got := Compare(withU(3, 3, 0)); !near(got.P, 0.1) || got.Clear() || got.Least != 0 || !math.IsInf(got.Most, 1) {
		t.Errorf("three runs above three others: %+v", got)
	}
}

// withU makes samples without ties in which u of the pairs have the value before above the one after.
func withU(n1, n2, u int) (before, after []float64) {
	after = series(100, 1, n2)
	for i := range n1 {
		above := min(u, n2)
		u -= above
		before = append(before, 99.5+float64(above)+float64(i)/100)
	}
	return before, after
}

func TestTheRatioIsTheMedianOfAllPairs(t *testing.T) {
	got := Compare([]float64{1, 2, 4}, []float64{2, 4, 8}) // ratios: 0.5, 1, 1, 2, 2, 2, 4, 4, 8
	if got.Ratio != 2 {
		t.Errorf("%+v", got)
	}
	five := series(100, 1, 5)
	twice := []float64{200, 202, 204, 206, 208}
	got = Compare(five, twice)
	if !got.Clear() || !near(got.Ratio, 2) || got.Least >= 2 || got.Most <= 2 || got.Least < 200.0/104 || got.Most > 208.0/100 {
		t.Errorf("%+v", got)
	}
	if text := got.Text(); !strings.HasPrefix(text, "2.00 times (1.9") || !strings.HasSuffix(text, "p 0.008") {
		t.Error(text)
	}
}

func TestWhatCannotBeComparedIsNoChange(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []float64
		says          string
	}{
		"nothing":    {nil, []float64{1}, "too few runs to tell"},
		"one run":    {[]float64{1}, []float64{2}, "too few runs to tell: p is at least 1.00"},
		"all equal":  {series(1, 0, 5), series(1, 0, 5), "no change that 5 runs and 5 runs show, p 1.00"},
		"some zeros": {series(0, 0, 5), []float64{0, 0, 0, 0, 1}, "no change"},
	} {
		if got := Compare(c.before, c.after); got.Clear() || got.Doubt() == "" || !strings.Contains(got.Text(), c.says) {
			t.Errorf("%s: %+v, %s", name, got, got.Text())
		}
	}
}
