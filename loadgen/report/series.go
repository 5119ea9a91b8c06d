package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/spread"
)

// Series compares several runs of one scenario with several of another, or of the same one before a change.
type Series struct {
	Warnings []string  `json:"warnings"` // which runs were left out, and what weakens the comparison
	Changes  []Changed `json:"changes"`
}

// Changed is one quantity of both sides.
type Changed struct {
	Name    string        `json:"name"`
	Unit    string        `json:"unit"` // as of Measured
	Before  spread.Spread `json:"before"`
	After   spread.Spread `json:"after"`
	P       float64       `json:"p"`                // of such a difference by chance: Mann-Whitney U test
	Changed bool          `json:"changed"`          // p is below 0.05
	Ratio   *float64      `json:"ratio,omitempty"`  // after / before
	Within  []float64     `json:"within,omitempty"` // of the ratio, with 95 % confidence

	verdict string
}

// CompareSeries tests each quantity. Runs that are not valid are left out.
func CompareSeries(before, after []result.Result) (Series, error) {
	s := Series{Warnings: []string{}} // a list in JSON even where empty
	sides := [][]result.Result{before, after}
	for i, name := range []string{"before", "after"} {
		valid := validRuns(sides[i])
		if out := len(sides[i]) - len(valid); out > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("Of %s %s, %d left out: not valid.", format.Some(len(sides[i]), "run"), name, out))
		}
		if sides[i] = valid; len(valid) == 0 {
			return s, fmt.Errorf("no valid run %s", name)
		}
	}
	before, after = sides[0], sides[1]
	for _, r := range slices.Concat(before, after) {
		if r.Machine != before[0].Machine {
			s.Warnings = append(s.Warnings, "Not all runs are of the same machine: their times do not compare.")
			break
		}
	}
	for _, setting := range differing([]result.Result{before[0], after[0]}) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s was %s, and is %s.", setting.Key, setting.Values[0], setting.Values[1]))
	}
	for _, m := range comparands {
		was, is := values(m, before), values(m, after)
		c := spread.Compare(was, is)
		if c.Before.Most == 0 && c.After.Most == 0 && !m.always {
			continue
		}
		changed := Changed{Name: m.name, Unit: m.unit, Before: c.Before, After: c.After, P: c.P, Changed: c.Clear(), verdict: c.Text()}
		if !math.IsNaN(c.Ratio) {
			changed.Ratio = &c.Ratio
			if !math.IsInf(c.Most, 1) {
				changed.Within = []float64{c.Least, c.Most}
			}
		}
		s.Changes = append(s.Changes, changed)
	}
	return s, nil
}

func validRuns(all []result.Result) []result.Result {
	var valid []result.Result
	for _, r := range all {
		if r.Valid && !r.Broke() && !r.Partial && r.Times.RTT.Count > 0 {
			valid = append(valid, r)
		}
	}
	return valid
}

func values(m comparand, runs []result.Result) []float64 {
	var all []float64
	for i := range runs {
		all = append(all, m.of(&runs[i]))
	}
	return all
}

// Text is for a terminal.
func (s Series) Text() string {
	var out strings.Builder
	for _, warning := range s.Warnings {
		out.WriteString(format.OneLine(warning) + "\n")
	}
	t := table{head: []string{"", "before", "after", "change"}, words: 1}
	for _, c := range s.Changes {
		number := func(value float64) string { return cell(value, c.Unit) }
		t.add(c.Name, c.Before.Text(number), c.After.Text(number), c.verdict)
	}
	t.text(&out)
	return out.String()
}

// Spreads is the medians and ranges of some runs of one scenario, for a terminal; runs that are not valid are left out.
func Spreads(runs []result.Result) string {
	valid := validRuns(runs)
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d valid: median and range\n", format.Some(len(runs), "run"), len(valid))
	t := table{head: []string{"", "median (range)"}}
	for _, m := range comparands {
		found := spread.Of(values(m, valid))
		if found.Most > 0 || m.always && found.Runs > 0 {
			t.add(m.name, found.Text(func(value float64) string { return cell(value, m.unit) }))
		}
	}
	t.text(&out)
	return out.String()
}
