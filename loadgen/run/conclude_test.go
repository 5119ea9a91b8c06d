package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestARunThatWasEndedBeforeItMeasuredHasMissedNothing(t *testing.T) {
	within := scenario.Objective{Within: scenario.Seconds(5), Share: 0.995}
	r := &runner{scenario: scenario.Scenario{Objectives: []scenario.Objective{within}}}
	if goals := r.goals(); len(goals) != 1 || goals[0].Met {
		t.Errorf("a run to its end without a message: %+v", goals)
	}
	r.result.Partial = true
	if goals := r.goals(); missed(goals) != nil {
		t.Errorf("ended early: %+v", goals)
	}
	r.totals.RTT.Record(int64(6 * time.Second))
	if goals := r.goals(); missed(goals) == nil {
		t.Error("ended early, after what it measured was too slow")
	}
}

func TestARunWhoseWorkerDiedHasMetNothing(t *testing.T) {
	r := &runner{scenario: scenario.Scenario{Objectives: []scenario.Objective{{MaxLost: new(uint64)}}}, finals: 1}
	r.workers = 2
	if goals := r.goals(); goals != nil {
		t.Errorf("one of two workers has reported its losses: %+v", goals)
	}
	r.finals = 2
	if goals := r.goals(); len(goals) != 1 || !goals[0].Met {
		t.Errorf("none was lost: %+v", goals)
	}
}

func TestAMessageThatWasNeverPublishedMissesItsObjective(t *testing.T) {
	objective := scenario.Objective{Within: scenario.Seconds(5), Share: 0.995}
	for name, c := range map[string]struct {
		counts result.Counts
		share  float64
	}{
		"all there":     {result.Counts{}, 1},
		"some lost":     {result.Counts{Lost: 25}, 0.8},
		"some refused":  {result.Counts{Failed: 25}, 0.8},
		"some too late": {result.Counts{Skipped: 20, Failed: 5}, 0.8},
	} {
		r := &runner{scenario: scenario.Default(), result: result.Result{Counts: c.counts}}
		for range 100 {
			r.totals.RTT.Record(int64(time.Millisecond))
		}
		if goal := goal(objective, r.scenario.Subscribers.Count, c.counts, &r.totals.RTT); goal.Share != c.share || goal.Met != (c.share == 1) {
			t.Errorf("%s: %+v", name, goal)
		}
	}
}

func TestTimesAreInvalidWithoutTheMessagesThatCouldNotBePublished(t *testing.T) {
	for name, c := range map[string]struct {
		counts result.Counts
		valid  bool
	}{
		"all published":       {result.Counts{Sent: 10_000}, true},
		"too few to matter":   {result.Counts{Sent: 9_990, Failed: 4, Skipped: 6}, true},
		"most failed":         {result.Counts{Sent: 2_578, Failed: 7_496}, false},
		"one in 500 too late": {result.Counts{Sent: 9_980, Skipped: 20}, false},
		"none was ever due":   {result.Counts{}, true},
		"none could be":       {result.Counts{Failed: 1}, false},
	} {
		if reasons := unsent(c.counts); (len(reasons) == 0) != c.valid {
			t.Errorf("%s: %q", name, reasons)
		}
	}
}

func TestOnlyWhatNoPlanExplainsIsDisputed(t *testing.T) {
	for name, c := range map[string]struct {
		counts   result.Counts
		faults   []scenario.Fault
		disputed bool
	}{
		"complete":                       {result.Counts{Sent: 1000, Received: 1000}, nil, false},
		"most could not be published":    {result.Counts{Sent: 100, Failed: 900}, nil, true},
		"the broker refused many":        {result.Counts{Sent: 1000, Refused: 10}, nil, true},
		"a planned fault kept many back": {result.Counts{Sent: 100, Failed: 900}, []scenario.Fault{{Action: "kill"}}, false},
	} {
		r := &runner{cluster: uncounted{}, result: result.Result{Counts: c.counts, Scenario: scenario.Scenario{Faults: c.faults}}, history: history{},
			seconds: newSeconds()}
		r.conclude()
		incomplete := slices.ContainsFunc(r.result.Invalid, func(why string) bool { return strings.Contains(why, "could not be published") })
		if got := len(r.result.Disputed) > 0; got != c.disputed || r.result.Valid || incomplete != (name != "complete") {
			t.Errorf("%s: disputed %q, invalid %q", name, r.result.Disputed, r.result.Invalid)
		}
	}
}

// uncounted is a broker that does not tell its counters.
type uncounted struct{ broker.Cluster }

func (uncounted) Counters(context.Context, string) (result.Counters, error) {
	return result.Counters{}, errors.New("not to be read")
}
