package study

import (
	"fmt"
	"strings"
	"time"

	"lifeline/loadgen/scenario"
)

// Form is how a study is measured.
type Form struct {
	Name    string        // as the pages call it
	quick   bool          // fewer points, each of seconds
	paper   bool          // the study's own ramp and half an hour
	Measure time.Duration // of each point in the full form
	Budget  time.Duration // of the whole, within which points are repeated; 0: without end
}

// Quick is the form that takes at most 15 minutes in all.
func Quick() Form { return Form{Name: "quick", quick: true, Budget: 15 * time.Minute} }

// Full measures each point for so long; 5 minutes is what the scenarios say.
func Full(measure time.Duration) Form {
	return Form{Name: "full, " + scenario.Duration{Duration: measure}.String(), Measure: measure}
}

// PaperTiming is the study's own: a generator every half second, half an hour. Its points stand beside the others, under
// names of their own; without a choice it is one point.
func PaperTiming() Form { return Form{Name: "the study's timing", paper: true} }

const paperSuffix = "-paper-timing"

// planned is a point in a form.
type planned struct {
	Point
	form     string   // as the pages call it: a point that is as long as its scenario says has that length in its form's name
	changes  []string // of the built-in scenario
	scenario scenario.Scenario
}

// plan is the form's points with their scenarios.
func (f Form) plan() ([]planned, error) {
	var all []planned
	for _, p := range points() {
		if f.quick && p.Quick == nil {
			continue
		}
		if f.paper {
			p.ID += paperSuffix
		}
		changes := append([]string{}, p.Changes...)
		switch {
		case f.quick:
			changes = append(changes, p.Quick...)
		case f.paper:
			changes = append(changes, "ramp=500ms", "initial_sleep=[10s, 20s]", "duration=30m")
		case !p.Fixed:
			changes = append(changes, "duration="+scenario.Duration{Duration: f.Measure}.String())
		}
		s, err := scenario.Load(p.Scenario, changes...)
		if err != nil {
			return nil, fmt.Errorf("point %s: %w", p.ID, err)
		}
		s.Name = p.ID
		form := f.Name
		if p.Fixed && f.Measure > 0 {
			form = Full(s.Duration.Duration).Name
		}
		all = append(all, planned{Point: p, form: form, changes: changes, scenario: s})
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

// estimate is how long a point takes on two cores, the brokers' start and end included.
func (p planned) estimate() time.Duration {
	if p.Refused {
		return time.Second
	}
	s := p.scenario
	const tidying = 2 * time.Second
	start, perSecond := 3*time.Second, 3000
	if s.Transport == "kafka" {
		start, perSecond = time.Duration(6+3*s.Broker.Nodes)*time.Second, 1200
	}
	if p.Kind == Derived {
		start += 8 * time.Second // the jobs' JVM
	}
	connect := max(time.Duration(s.Generators)*time.Second/time.Duration(perSecond), s.Ramp.Duration*time.Duration(s.Generators))
	return start + connect + s.InitialSleep.To.Duration + s.Span() + tidying
}
