package run

import (
	"testing"
	"time"

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
	r.plan.Workers = 2
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
		if goal := r.goal(objective); goal.Share != c.share || goal.Met != (c.share == 1) {
			t.Errorf("%s: %+v", name, goal)
		}
	}
}
