package run

import (
	"testing"
	"time"

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
