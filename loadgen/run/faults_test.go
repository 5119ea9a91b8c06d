package run

import (
	"testing"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/scenario"
)

// halting is a broker whose nodes can be stopped.
type halting struct {
	broker.Cluster
	continued chan int
}

func (h halting) Stop(int) error { return nil }
func (h halting) Continue(node int) error {
	h.continued <- node
	return nil
}

func TestAFaultThatOutlastsTheRunIsToldAndEnded(t *testing.T) {
	cluster := halting{continued: make(chan int, 1)}
	fault := scenario.Fault{Action: "stop", Node: 2, For: scenario.Seconds(3600)}
	r := &runner{scenario: scenario.Scenario{Faults: []scenario.Fault{fault}}, cluster: cluster}
	faults := r.faults()
	begin := clock.Now()
	faults.begin(begin)
	if got := <-faults.begun; got.fault != fault || got.at < begin || got.at > clock.Now() {
		t.Errorf("got %+v, begun at %d", got, begin)
	}
	faults.cancel() // the end of the run
	select {
	case node := <-cluster.continued:
		if node != 2 {
			t.Errorf("node %d goes on, and not node 2", node)
		}
	case err := <-faults.failed:
		t.Error(err)
	case <-time.After(30 * time.Second):
		t.Error("the node is still stopped")
	}
}
