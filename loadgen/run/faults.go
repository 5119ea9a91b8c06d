package run

import (
	"context"
	"fmt"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/scenario"
)

// faults does the scenario's faults at their times, each in a goroutine of its own.
type faults struct {
	ctx     context.Context
	cancel  context.CancelFunc
	list    []scenario.Fault
	cluster broker.Cluster
	done    chan faultDone
}

type faultDone struct {
	happening
	err error
}

func (r *runner) faults() *faults {
	ctx, cancel := context.WithCancel(context.Background())
	return &faults{ctx, cancel, r.scenario.Faults, r.cluster, make(chan faultDone)}
}

// begin starts to count; at is the begin of the measured span.
func (f *faults) begin(at int64) {
	for _, fault := range f.list {
		go f.wait(fault, at+int64(fault.At.Duration))
	}
}

func (f *faults) wait(fault scenario.Fault, at int64) {
	if !f.sleep(time.Duration(at - clock.Now())) {
		return
	}
	happened := happening{fault, clock.Now()}
	err := f.act(fault)
	if f.ctx.Err() != nil {
		return
	}
	if err != nil {
		err = fmt.Errorf("the fault %q of node %d: %w", fault.Action, fault.Node, err)
	}
	select {
	case f.done <- faultDone{happened, err}:
	case <-f.ctx.Done():
	}
}

func (f *faults) act(fault scenario.Fault) error {
	switch fault.Action {
	case "stop":
		if err := f.cluster.Stop(fault.Node); err != nil {
			return err
		}
		f.sleep(fault.For.Duration)
		return f.cluster.Continue(fault.Node) // also when the run is over: a stopped process would not end
	case "restart":
		if err := f.cluster.Kill(fault.Node); err != nil {
			return err
		}
		if !f.sleep(fault.For.Duration) {
			return nil
		}
		return f.cluster.Start(f.ctx, fault.Node)
	default:
		return f.cluster.Kill(fault.Node)
	}
}

// sleep tells whether it slept to the end.
func (f *faults) sleep(span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
