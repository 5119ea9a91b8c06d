package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lifeline/loadgen/scenario"
)

// Form is which points are measured, and how often.
type Form struct {
	Budget time.Duration // of all runs that count, those of earlier days too; 0: as long as the rounds take
	Runs   int           // of each point, before time goes where the spread is largest
	quick  bool          // fewer points
	paper  bool          // the paper's own ramp and half an hour
}

// Within measures each point five times in short runs, then those with the largest spread again until the budget is spent; with a
// budget of 0 only the five times.
func Within(budget time.Duration) Form { return Form{Budget: budget, Runs: EnoughRuns} }

// Quick is the same runs of fewer points, in 15 minutes.
func Quick() Form { return Form{Budget: 15 * time.Minute, Runs: EnoughRuns, quick: true} }

// PaperTiming is the paper's own: a generator every half second, half an hour. Its points stand beside the others, under
// names of their own; without a choice it is one point.
func PaperTiming() Form { return Form{Runs: 1, paper: true} }

const paperSuffix = "-paper-timing"

// planned is a point in a form.
type planned struct {
	Point
	changes  []string // of the built-in scenario
	scenario scenario.Scenario
}

// plan is the form's points with their scenarios.
func (f Form) plan() ([]planned, error) {
	var all []planned
	for _, p := range points() {
		if f.quick && !p.Quick {
			continue
		}
		changes := slices.Concat(p.Changes, p.Short)
		if f.paper {
			p.ID += paperSuffix
			changes = slices.Concat(p.Changes, []string{"ramp=500ms", "initial_sleep=[10s, 20s]", "duration=30m"})
		}
		s, err := scenario.Load(p.Scenario, changes...)
		if err != nil {
			return nil, fmt.Errorf("point %s: %w", p.ID, err)
		}
		s.Name = p.ID
		all = append(all, planned{Point: p, changes: changes, scenario: s})
	}
	return all, nil
}

// command is how to measure this point alone.
func (p planned) command() string {
	if p.Kind != Fleet {
		return "fleet-study --out FOLDER --only " + p.ID
	}
	command := "fleet run " + p.Scenario
	for _, change := range p.changes {
		if strings.ContainsAny(change, " [{") {
			change = "'" + change + "'"
		}
		command += " --set " + change
	}
	return command
}

// estimate is how long a run takes on two cores, the brokers' start and end included; the constants are of runs that were measured.
func (p planned) estimate() time.Duration {
	if p.Refused {
		return time.Second
	}
	s := p.scenario
	nodes, generators := time.Duration(s.Broker.Nodes), time.Duration(s.Generators)
	start, perSecond := 100*time.Millisecond*(2*nodes+1), time.Duration(4000)
	if s.Transport == "kafka" {
		start, perSecond = 5*time.Second*nodes, 6000
	}
	if p.Kind == Derived {
		start += 4 * time.Second // the jobs' JVM
	}
	// Each further connection takes longer: 19,800 were open in 4 s, 100,000 in 62 s.
	connect := time.Second * generators / perSecond
	connect += connect * generators * 3 / 200_000
	connect = max(connect, s.Ramp.Duration*generators)
	return start + connect + s.InitialSleep.To.Duration + s.Span()
}
