package study

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"lifeline/loadgen/format"
)

// WriteChanges compares the points of two studies, by the folders of their pages: p50 and p99.8 of each point that both have.
func WriteChanges(out io.Writer, before, after string) error {
	old, err := readRecords(filepath.Join(before, DataFolder))
	if err != nil {
		return err
	}
	now, err := readRecords(filepath.Join(after, DataFolder))
	if err != nil {
		return err
	}
	compared := 0
	for _, id := range slices.Sorted(maps.Keys(now)) {
		a, b := old[id], now[id]
		if len(a.used()) == 0 || len(b.used()) == 0 {
			continue
		}
		compared++
		note := ""
		if !a.sameScenario(b.Scenario) {
			note = " (another scenario)"
		}
		for _, percent := range []float64{50, 99.8} {
			c := Compare(a, b, rtt(percent))
			fmt.Fprintf(out, "%s%s, p%g: %s, was %s: %s\n", id, note, percent, c.After.Text(format.Duration), c.Before.Text(format.Duration), c.Text())
		}
	}
	if compared == 0 {
		return fmt.Errorf("%s and %s have no point in common", before, after)
	}
	return nil
}
