// Package study repeats the tests of a study of publish/subscribe systems with the fleet: a list of points, each a built-in
// scenario with changes, measured in several runs into a file each, and pages made of those files. The pages need nothing
// but the files, so a study may be done in pieces, and on several days.
package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"time"

	"lifeline/loadgen/format"
	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// Runner makes one run of a point.
type Runner func(ctx context.Context, s scenario.Scenario) (Measured, error)

// Measured is what a run found: its result, and for points that are more than a fleet what they timed beside it.
type Measured struct {
	result.Result
	Beside map[string]result.Distribution `json:"beside,omitempty"`
}

// Options of a study.
type Options struct {
	Out     string   // folder of the pages; the points' files are in its folder data
	Form    Form     // which points are measured, and how often
	Only    []string // points to measure, patterns as of path.Match; empty: all of the form
	Again   bool     // measures all that is asked for anew
	Seed    uint64   // of the order within rounds; recorded with each run
	Runners map[Kind]Runner
	Log     io.Writer // a line for each run, and how much time is left
}

// ErrInterrupted is returned by Measure when its context ends; runs made before are kept.
var ErrInterrupted = errors.New("interrupted")

// DataFolder is where the points' files are, in the folder of the pages.
const DataFolder = "data"

// Measure measures the points that are asked for, round by round. A run that fails is recorded as failed; when ctx ends, the run under
// way is given up. What was measured before stays, and counts when the study goes on.
func Measure(ctx context.Context, options Options) error {
	s, err := options.schedule()
	if err != nil {
		return err
	}
	say(options, "%s; %d rounds take about %s more", options.progress(s), s.rounds, format.Clock(s.roundsLeft()))
	for c := s.next(options.left(s)); c != nil; c = s.next(options.left(s)) {
		say(options, "%s, run %d: %s", c.ID, c.tries()+1, c.scenario.Summary())
		found := runOnce(ctx, options.Runners[c.Kind], c)
		if ctx.Err() != nil {
			return fmt.Errorf("%w at %s: the next call goes on with it", ErrInterrupted, c.ID)
		}
		if err := c.record.add(found, options.Seed); err != nil {
			return err
		}
		if err := c.record.write(filepath.Join(options.Out, DataFolder)); err != nil {
			return err
		}
		say(options, "        %s; %s", found.sentence(), options.progress(s))
	}
	for _, c := range s.courses {
		if c.tries() < s.rounds && !c.settled() {
			say(options, "%s: %d of %d runs, one more takes %s: more time is needed", c.ID, c.tries(), s.rounds, format.Clock(c.estimate()))
		}
	}
	return nil
}

// schedule is the points with what they have so far.
func (o Options) schedule() (*schedule, error) {
	chosen, err := choose(o)
	if err != nil {
		return nil, err
	}
	s := &schedule{rounds: o.Form.Runs, beyond: o.Form.Budget > 0, seed: o.Seed}
	for _, p := range chosen {
		c := &course{planned: p, record: Record{Point: p.ID, Command: p.command()}}
		if old, err := readRecord(filepath.Join(o.Out, DataFolder, p.ID+".json")); err == nil && !o.Again && old.goesOn(p) {
			c.record = old
		}
		s.courses = append(s.courses, c)
	}
	return s, nil
}

// left is how much of the budget is left.
func (o Options) left(s *schedule) time.Duration {
	if o.Form.Budget == 0 {
		return math.MaxInt64
	}
	return o.Form.Budget - s.spent()
}

func (o Options) progress(s *schedule) string {
	runs := 0
	for _, c := range s.courses {
		runs += c.tries()
	}
	text := fmt.Sprintf("%s of %s, %s spent", format.Some(runs, "run"), format.Some(len(s.courses), "point"), format.Clock(s.spent()))
	if o.Form.Budget > 0 {
		text += fmt.Sprintf(", %s left", format.Clock(o.left(s)))
	}
	return text
}

func say(options Options, form string, values ...any) {
	fmt.Fprintf(options.Log, form+"\n", values...)
}

// List prints the points that Measure would measure, how long a run takes, and its command.
func List(options Options) error {
	points, err := choose(options)
	if err != nil {
		return err
	}
	round := time.Duration(0)
	for _, p := range points {
		round += p.estimate()
		say(options, "%-32s %6s  %s", p.ID, format.Clock(p.estimate()), p.command())
	}
	total := fmt.Sprintf("%s, %s a round, %s for %d", format.Some(len(points), "point"), format.Clock(round),
		format.Clock(round*time.Duration(options.Form.Runs)), options.Form.Runs)
	if options.Form.Budget > 0 {
		total += fmt.Sprintf("; of %s", format.Clock(options.Form.Budget))
	}
	say(options, "%s", total)
	return nil
}

// choose lists the form's points that the patterns name; a pattern that names none is a mistake.
func choose(options Options) ([]planned, error) {
	all, err := options.Form.plan()
	if err != nil {
		return nil, err
	}
	only := options.Only
	if len(only) == 0 {
		if !options.Form.paper {
			return all, nil
		}
		only = []string{"table2-nats" + paperSuffix}
	}
	var chosen []planned
	for _, pattern := range only {
		before := len(chosen)
		for _, p := range all {
			matches, err := path.Match(pattern, p.ID)
			if err != nil {
				return nil, fmt.Errorf("--only %s: %w", pattern, err)
			}
			if matches && !slices.ContainsFunc(chosen, func(other planned) bool { return other.ID == p.ID }) {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("--only %s: no such point; --list names them all", pattern)
		}
	}
	return chosen, nil
}

// runOnce makes one run, which ends when it has taken far longer than it should.
func runOnce(ctx context.Context, run Runner, c *course) Measured {
	limit := 2*c.estimate() + time.Minute
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	found, err := run(ctx, c.scenario)
	found.Format, found.Scenario = result.Format, c.scenario
	found.Elapsed = max(found.Elapsed, time.Since(began))
	if found.Started.IsZero() {
		found.Started, found.Machine = began, host.Machine()
	}
	var failure *result.Failure
	switch {
	case found.Failure != nil:
	case errors.As(err, &failure):
		found.Failure = failure
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		found.Failure = &result.Failure{Cause: result.TimeLimit, Message: fmt.Sprintf("the run took longer than %s", limit)}
	case err != nil:
		found.Failure = &result.Failure{Cause: result.SetUp, Message: err.Error()}
	}
	return found
}
