package worker

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transports"
)

// dialTimeout bounds the wait in a broker's accept queue.
const dialTimeout = 30 * time.Second

// closeTimeout is how long connections may take to flush; then they are cut.
const closeTimeout = 15 * time.Second

// worker is one process's state; one goroutine reports.
type worker struct {
	out *gob.Encoder
}

// Serve follows the orders from in and reports to out, until the job is done or in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	orders := make(chan Order)
	go func() {
		decoder := gob.NewDecoder(in)
		for {
			var order Order
			if err := decoder.Decode(&order); err != nil {
				cancel(fmt.Errorf("the coordinator is gone: %w", err))
				return
			}
			select {
			case orders <- order:
			case <-ctx.Done():
				return
			}
		}
	}()
	w := &worker{out: gob.NewEncoder(out)}
	first, err := next(ctx, orders)
	if err != nil {
		return err
	}
	if first.Job == nil {
		return errors.New("the first order was no job")
	}
	return w.work(ctx, *first.Job, orders)
}

func next(ctx context.Context, orders <-chan Order) (Order, error) {
	select {
	case order := <-orders:
		return order, nil
	case <-ctx.Done():
		return Order{}, context.Cause(ctx)
	}
}

func (w *worker) work(ctx context.Context, job Job, orders <-chan Order) error {
	clock.Follow(job.Ahead)
	fleet, err := open(job)
	if err != nil {
		return w.fail("opening the transport", err)
	}
	if err := fleet.Start(ctx); err != nil {
		return w.fail("subscribing", err)
	}
	if err := w.report(Report{Ready: true}); err != nil {
		return err
	}
	connecting, stopConnecting := context.WithCancel(ctx)
	defer stopConnecting()
	connected := make(chan error, 1)
	progress := time.NewTicker(time.Second)
	defer progress.Stop()
	var drained <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case order := <-orders:
			if order.Connect {
				go func() { connected <- fleet.Connect(connecting) }()
			}
			if order.Stalls != nil {
				fleet.Stalls(order.Stalls.Found, order.Stalls.Until)
			}
			if order.Measure != nil {
				fleet.Measure(order.Measure.Begin, order.Measure.End, order.Measure.Drain)
				if order.Measure.End <= clock.Now() {
					stopConnecting()
				}
				if drained == nil { // a running drain sees the new end
					drained = drain(ctx, fleet)
				}
			}
		case err := <-connected:
			if err != nil && connecting.Err() == nil {
				return w.fail("connecting", err)
			}
			if err := w.report(Report{Connected: true}); err != nil {
				return err
			}
		case <-progress.C:
			now := fleet.Progress()
			if err := w.report(Report{Progress: &now}); err != nil {
				return err
			}
		case <-drained:
			stopConnecting()
			return w.finish(ctx, fleet, orders)
		}
	}
}

func open(job Job) (*generator.Fleet, error) {
	dialer, err := dial.From(job.Addresses, job.Sources, dialTimeout)
	if err != nil {
		return nil, err
	}
	settings, err := job.Target.Settings(job.Share.Scenario, dialer)
	if err != nil {
		return nil, err
	}
	over, traits, err := transports.Open(settings, &job.Share.Scenario)
	if err != nil {
		return nil, err
	}
	return generator.New(job.Share, over, traits)
}

// drain returns a channel that is closed when no message is in flight after the fleet's end.
func drain(ctx context.Context, fleet *generator.Fleet) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fleet.Drain(ctx)
	}()
	return done
}

func (w *worker) finish(ctx context.Context, fleet *generator.Fleet, orders <-chan Order) error {
	last := fleet.Progress()
	closing, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	untidy := fleet.Close(closing)
	closed := clock.Now()
	if err := w.report(Report{Closed: closed}); err != nil {
		return err
	}
	for known := int64(0); known < closed; {
		order, err := next(ctx, orders)
		if err != nil {
			return err
		}
		if order.Stalls != nil {
			fleet.Stalls(order.Stalls.Found, order.Stalls.Until)
			known = order.Stalls.Until
		}
	}
	final := &Final{Totals: fleet.Totals(), Trouble: fleet.Trouble()}
	if untidy != nil {
		final.Untidy = untidy.Error()
	}
	return w.report(Report{Progress: &last, Final: final})
}

func (w *worker) fail(doing string, err error) error {
	return w.report(Report{Failure: asFailure(doing, err)})
}

func (w *worker) report(report Report) error {
	if err := w.out.Encode(report); err != nil {
		return fmt.Errorf("reporting to the coordinator: %w", err)
	}
	return nil
}
