package run

import (
	"errors"
	"testing"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/result"
)

// ended is a broker whose process is seen to have ended a moment after its connections broke.
type ended struct {
	broker.Cluster
	exited chan struct{}
}

// Exited has the process end when somebody looks.
func (e ended) Exited() <-chan struct{} {
	if e.exited != nil {
		close(e.exited)
	}
	return e.exited
}
func (e ended) Err() error { return errors.New("node-0 has ended: signal: killed") }

func TestAConnectionThatBrokeBecauseTheBrokerEndedIsTheBrokersEnd(t *testing.T) {
	refusal := &result.Failure{Cause: result.Refused, Message: "connection 7 of 9: broken pipe"}
	cluster := ended{exited: make(chan struct{})}
	r := &runner{cluster: cluster}
	if got := r.deeper(refusal); got.Cause != result.BrokerExit || got.Message != "node-0 has ended: signal: killed; connection 7 of 9: broken pipe" {
		t.Errorf("%+v", got)
	}
	r.cluster = ended{} // lives on
	if got := r.deeper(refusal); got != refusal {
		t.Errorf("%+v", got)
	}
}
