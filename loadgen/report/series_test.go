package report

import (
	"encoding/json"
	"strings"
	"testing"

	"lifeline/loadgen/result"
)

// five runs of the sample with these round trips at p50, in ms.
func five(ms ...int64) []result.Result {
	var runs []result.Result
	for _, each := range ms {
		r := sample("mine", 800, 1)
		r.Valid, r.Invalid, r.Failure = true, nil, nil
		r.Times.RTT.Percentiles = []result.Percentile{{Percent: 50, Value: each * 1e6}}
		runs = append(runs, r)
	}
	return runs
}

func TestSeveralRunsAreComparedByMedianAndTest(t *testing.T) {
	s, err := CompareSeries(five(10, 11, 12, 13, 14), five(21, 22, 23, 24, 25))
	if err != nil {
		t.Fatal(err)
	}
	text := s.Text()
	for _, want := range []string{"RTT, p50", "12.0 ms (10.0 ms to 14.0 ms)", "23.0 ms (21.0 ms to 25.0 ms)", "times (", "p 0.008",
		"no change that 5 runs and 5 runs show"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	changed := 0
	for _, c := range s.Changes {
		if c.Changed {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d quantities changed\n%s", changed, text)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func TestRunsThatAreNotValidAreLeftOut(t *testing.T) {
	before, after := five(10, 11, 99), five(10, 11)
	before[2].Valid = false
	s, err := CompareSeries(before, after)
	if err != nil || !strings.Contains(s.Text(), "Of 3 runs before, 1 left out: not valid.") || strings.Contains(s.Text(), "99.0 ms") ||
		!strings.Contains(s.Text(), "too few runs to tell: p is at least 0.333") {
		t.Errorf("%v\n%s", err, s.Text())
	}
	if text := Spreads(before); !strings.Contains(text, "3 runs, 2 valid") || !strings.Contains(text, "10.5 ms (10.0 ms to 11.0 ms)") {
		t.Error(text)
	}
	if _, err := CompareSeries(before[2:], after); err == nil {
		t.Error("a side without valid runs is compared")
	}
}
