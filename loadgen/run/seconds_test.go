package run

import (
	"testing"

	"lifeline/loadgen/measure"
)

func TestEverySecondKeepsItsFiguresAndFewKeepTheirRecorders(t *testing.T) {
	s := newSeconds()
	const count = 100
	report := func(second, ns int64) {
		var report measure.Recorder
		report.Record(ns)
		s.add(second, &report)
	}
	for second := range int64(count) {
		report(1000+second, second+1) // one worker
		report(1000+second, 1_000_000_000+second)
	}
	if recorders := len(s.open) + len(s.spare); recorders > secondsOpen+1 {
		t.Errorf("%d recorders are kept", recorders)
	}
	report(1000, 2_000_000_000) // far too late
	seen := 0
	s.each(func(second int64, got trips) {
		seen++
		longest := 1_000_000_000 + second - 1000
		if second == 1000+count-secondsOpen {
			longest = 2_000_000_000
		}
		if got.longest != longest || got.p50 <= 0 {
			t.Errorf("second %d: %+v, want %d", second, got, longest)
		}
	})
	if seen != count {
		t.Errorf("%d seconds of %d", seen, count)
	}
}
