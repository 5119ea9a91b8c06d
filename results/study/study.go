// Package study repeats the tests of a study of publish/subscribe systems with the fleet: a list of points, each a built-in
// scenario with changes, measured one after the other into a file each, and pages made of those files. The pages need nothing
// but the files, so a study may be done in pieces, and on several days.
package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// Runner measures one point.
type Runner func(ctx context.Context, s scenario.Scenario) (Measured, error)

// Measured is what a point found: a run, and for points that are more than a fleet what they timed beside it.
type Measured struct {
	result.Result
	Beside map[string]result.Distribution `json:"beside,omitempty"`
}

// Options of a study.
type Options struct {
	Out     string   // folder of the pages; the points' files are in its folder data
	Form    Form     // how long and how each point is measured
	Only    []string // points to measure, patterns as of path.Match; empty: all of the form
	Resume  bool     // keeps points that were measured in the same form within the last week
	Again   bool     // measures all that is asked for, even in place of what was measured for longer
	Repeats int      // of a point that other load on the machine made invalid
	Runners map[Kind]Runner
	Log     io.Writer // a line for each point, and how long the rest will take
}

// ErrInterrupted is returned by Measure when its context ends; points measured before are kept.
var ErrInterrupted = errors.New("interrupted")

// DataFolder is where the points' files are, in the folder of the pages.
const DataFolder = "data"

// Measure measures the points that are asked for. A point that fails is recorded as failed and the next one begins; when ctx
// ends, the point under way is given up, and what was measured before stays.
func Measure(ctx context.Context, options Options) error {
	chosen, err := choose(options)
	if err != nil {
		return err
	}
	var points []planned
	left := time.Duration(0)
	for _, p := range chosen {
		keep, why := standing(options, p)
		if why != "" {
			say(options, "%s: %s", p.ID, why)
		}
		if !keep {
			points = append(points, p)
			left += p.estimate()
		}
	}
	say(options, "%d points to measure, %d kept, about %s", len(points), len(chosen)-len(points), format.Clock(left))
	began := time.Now()
	mayRepeat := func(p planned) bool {
		return options.Form.Budget == 0 || time.Since(began)+p.estimate()+left < options.Form.Budget
	}
	for i, p := range points {
		left -= p.estimate()
		if spent := time.Since(began); options.Form.Budget > 0 && spent+p.estimate() > options.Form.Budget {
			say(options, "[%d/%d] %s: left out, %s are over", i+1, len(points), p.ID, format.Clock(spent))
			continue
		}
		say(options, "[%d/%d] %s: %s", i+1, len(points), p.ID, p.scenario.Summary())
		record := measurePoint(ctx, options, p, mayRepeat)
		if ctx.Err() != nil {
			return fmt.Errorf("%w at %s; --resume goes on from there", ErrInterrupted, p.ID)
		}
		if err := record.write(filepath.Join(options.Out, DataFolder)); err != nil {
			return err
		}
		say(options, "        %s; %s left", record.sentence(), format.Clock(left))
	}
	return nil
}

func say(options Options, form string, values ...any) {
	fmt.Fprintf(options.Log, form+"\n", values...)
}

// List prints the points that Measure would measure, with their commands.
func List(options Options) error {
	points, err := choose(options)
	if err != nil {
		return err
	}
	for _, p := range points {
		say(options, "%-32s %6s  %s", p.ID, format.Clock(p.estimate()), p.command())
	}
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

// measurePoint runs a point, again if the machine was not quiet and there is time, and never longer than it may take.
func measurePoint(ctx context.Context, options Options, p planned, mayRepeat func(planned) bool) Record {
	record := Record{Point: p.ID, Form: p.form, Command: p.command()}
	for {
		record.Attempts++
		record.Measured = runOnce(ctx, options.Runners[p.Kind], p)
		done := record.Valid || record.Broke() || ctx.Err() != nil
		if done || record.Attempts > options.Repeats || !mayRepeat(p) {
			return record
		}
		say(options, "        not valid (%s); once more", strings.Join(record.Invalid, "; "))
	}
}

func runOnce(ctx context.Context, run Runner, p planned) Measured {
	limit := 2*p.estimate() + time.Minute
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := run(ctx, p.scenario)
	found.Format, found.Scenario = result.Format, p.scenario
	var failure *result.Failure
	switch {
	case found.Failure != nil:
	case errors.As(err, &failure):
		found.Failure = failure
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		found.Failure = &result.Failure{Cause: result.TimeLimit, Message: fmt.Sprintf("the point took longer than %s", limit)}
	case err != nil:
		found.Failure = &result.Failure{Cause: result.SetUp, Message: err.Error()}
	}
	return found
}
