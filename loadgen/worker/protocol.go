// Package worker is a process that runs a share of a fleet. The coordinator starts it as the same program again and speaks gob
// with it over standard input and output: orders in, reports out. A worker exits when its coordinator does.
package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/child"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// Role is the worker's, of package child.
const Role = "worker"

func init() {
	child.Register(Role, func(ctx context.Context, _ []string) error { return Serve(ctx, os.Stdin, os.Stdout) })
}

// Target is the serializable form of transport.Settings.
type Target struct {
	Servers  []string
	TLS      *broker.TLS
	Login    login.Login
	Replicas int
	Run      string
}

// Settings are the target's for one process, whose connections the dialer opens.
func (t Target) Settings(s scenario.Scenario, dialer transport.Dialer) (transport.Settings, error) {
	config, err := t.TLS.Config()
	if err != nil {
		return transport.Settings{}, err
	}
	return transport.Settings{
		Servers: t.Servers, TLS: config, Login: t.Login, Path: s.Broker.Address().Path,
		Acknowledgement: string(s.Ack), Replicas: t.Replicas, Poll: s.Subscribers.Poll.Duration, Confirm: s.Subscribers.Acknowledge == "each",
		Dialer: dialer, Run: t.Run,
	}, nil
}

// Order is the coordinator's next command: a Job, then Connect, then Measure once or more; a later Measure moves the span,
// which cuts a run short. Meanwhile come Stalls, each second and after each Closed.
type Order struct {
	Job     *Job
	Connect bool
	Measure *Span
	Stalls  *Stalls
}

// Job is a worker's whole task.
type Job struct {
	Share     generator.Share
	Target    Target
	Sources   int      // how many loopback addresses, or of Addresses, its connections come from
	Addresses []string // of its machine, for brokers elsewhere; empty: the kernel chooses
	Ahead     int64    // by how many nanoseconds its machine's CLOCK_MONOTONIC is ahead of the coordinator's
}

// Span is measured.
type Span struct {
	Begin, End int64         // readings of the coordinator's CLOCK_MONOTONIC, which a worker's clock follows
	Drain      time.Duration // longest wait after End for messages in flight
}

// Stalls are the times, found since the last order, in which the machine stood still. None is missing that began before Until.
type Stalls struct {
	Found []clock.Interval
	Until int64 // CLOCK_MONOTONIC
}

// Report is a worker's message: Ready when its subscribers wait, Connected when its generators are, Progress each second,
// Closed when nothing arrives any more and the Stalls up to now are needed, finally Final or Failure.
type Report struct {
	Ready, Connected bool
	Progress         *generator.Progress
	Closed           int64 // CLOCK_MONOTONIC; 0: not yet
	Final            *Final
	Failure          *result.Failure
}

// Final is a worker's result.
type Final struct {
	Totals  generator.Totals
	Trouble string // the first error of a client, as an example
	Untidy  string // what did not close cleanly
}

// asFailure returns the typed cause of an error; by default, a refusal by the broker.
func asFailure(doing string, err error) *result.Failure {
	var failure *result.Failure
	if errors.As(err, &failure) {
		return &result.Failure{Cause: failure.Cause, Message: fmt.Sprintf("%s: %v", doing, err)}
	}
	return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("%s: %v", doing, err)}
}
