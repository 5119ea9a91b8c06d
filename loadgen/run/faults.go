package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/scenario"
)

// faults injects the scenario's faults at their times, each in its own goroutine.
type faults struct {
	ctx     context.Context
	cancel  context.CancelFunc
	list    []scenario.Fault
	cluster broker.Cluster
	begun   chan happening // has room for all
	failed  chan error
	group   sync.WaitGroup
}

func (r *runner) faults() *faults {
	ctx, cancel := context.WithCancel(context.Background())
	list := r.scenario.Faults
	return &faults{ctx: ctx, cancel: cancel, list: list, cluster: r.cluster, begun: make(chan happening, len(list)), failed: make(chan error)}
}

// begin starts to count; at is the begin of the measured span.
func (f *faults) begin(at int64) {
	for _, fault := range f.list {
		f.group.Go(func() { f.wait(fault, at+int64(fault.At.Duration)) })
	}
}

// end cancels pending faults. A node restarted after the cluster's Close would be left running.
func (f *faults) end() {
	f.cancel()
	f.group.Wait()
}

func (f *faults) wait(fault scenario.Fault, at int64) {
	if !f.sleep(time.Duration(at - clock.Now())) {
		return
	}
	f.begun <- happening{fault, clock.Now()} // and not when it is over: the run may end while the node is still away
	if err := f.act(fault); err != nil && f.ctx.Err() == nil {
		select {
		case f.failed <- fmt.Errorf("the fault %q of node %d: %w", fault.Action, fault.Node, err):
		case <-f.ctx.Done():
		}
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

// sleep reports whether it slept to the end.
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
