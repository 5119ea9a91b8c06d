package study

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/spread"
)

const (
	// EnoughRuns is how many undisturbed runs a point needs: with five a side the test can show a difference at p = 0.008, and the
	// range of five holds the median of all possible runs with 94 %.
	EnoughRuns = 5
	// slower is how many messages must be slower than a percentile for it to be more than the story of a few of them.
	slower = 10
)

// messagesFor is how many messages a run needs for a percentile: 5,000 for p99.8, 1,000 for p99, 20 for the median.
func messagesFor(percent float64) int64 {
	return int64(math.Ceil(slower/(1-percent/100) - 1e-6))
}

// rtt is a percentile of the round trips of a run, in ns.
func rtt(percent float64) func(Run) float64 {
	return func(r Run) float64 { return float64(r.Times.RTT.At(percent)) }
}

// mean and deviation are of the round trips of a run, in ns.
func mean(r Run) float64      { return r.Times.RTT.Mean }
func deviation(r Run) float64 { return r.Times.RTT.StdDev }

// Spread is a figure over the runs whose times count.
func (r Record) Spread(of func(Run) float64) spread.Spread { return spread.Of(r.figures(of)) }

func (r Record) figures(of func(Run) float64) []float64 {
	var all []float64
	for _, run := range r.used() {
		all = append(all, of(run))
	}
	return all
}

// Trusted reports whether a percentile of the point's times may be relied on, and what it needs if not.
func (r Record) Trusted(percent float64) (ok bool, needs string) {
	runs := r.used()
	if len(runs) == 0 {
		return r.refusal(), ending(r)
	}
	trusted, messages := 0, int64(math.MaxInt64)
	for _, run := range runs {
		if run.trusted() {
			trusted++
		}
		messages = min(messages, run.Times.RTT.Count)
	}
	switch {
	case trusted < EnoughRuns && trusted < len(runs):
		return false, fmt.Sprintf("needs %d valid runs, has %d", EnoughRuns, trusted)
	case trusted < EnoughRuns:
		return false, fmt.Sprintf("needs %d", EnoughRuns)
	case messages < messagesFor(percent):
		return false, fmt.Sprintf("p%g needs %s messages a run, has %s", percent, format.Count(messagesFor(percent)), format.Count(messages))
	}
	return true, ""
}

// Compare tests whether a figure of two points, or of one point in two studies, differs by more than noise.
func Compare(before, after Record, of func(Run) float64) spread.Change {
	return spread.Compare(before.figures(of), after.figures(of))
}

// millis is a figure in ns as a table's cell, in ms: "0.310 (0.280 to 0.360)".
func (r Record) millis(of func(Run) float64) string { return r.Spread(of).Text(format.Millis) }

// runs is a table's cell: how many runs of how many seconds, how often a generator published, and what their p99.8 lacks.
func (r Record) runs() string {
	used := len(r.used())
	if used == 0 {
		return ending(r)
	}
	text := fmt.Sprintf("%s of %s, every %s", format.Some(used, "run"), format.Span(r.Scenario.Duration.Duration.Round(time.Second)),
		r.Scenario.Interval)
	if _, needs := r.Trusted(99.8); needs != "" && r.Valid {
		text += "; " + needs
	}
	return text
}

// failedRuns are the runs of a point that did not get to their end.
func (r Record) failedRuns() []Run {
	return slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool { return !run.broke() })
}

// as is the point with other times in place of its round trips, for rows of those.
func (r Record) as(of func(Measured) result.Distribution) Record {
	r.Times.RTT = of(r.Measured)
	r.Runs = slices.Clone(r.Runs)
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Times.RTT = of(Measured{Result: result.Result{Times: run.Times}, Beside: run.Beside})
	}
	return r
}

// middle is the median of a figure over the runs whose times count.
func (r Record) middle(of func(Run) float64) float64 { return r.Spread(of).Median }

// calm is a percentile of the round trips of a run that no stall of the machine touched; of all where there was none.
func calm(percent float64) func(Run) float64 {
	return func(r Run) float64 {
		if r.Times.RTTWithoutStalls.Count == 0 {
			return rtt(percent)(r)
		}
		return float64(r.Times.RTTWithoutStalls.At(percent))
	}
}

// stalled reports whether the machine stood still in a run whose times count.
func (r Record) stalled() bool {
	return slices.ContainsFunc(r.used(), func(run Run) bool { return run.Times.RTTWithoutStalls.Count > 0 })
}
