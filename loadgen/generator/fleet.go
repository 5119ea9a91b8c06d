// Package generator is the part of a fleet that one worker process runs: generators that publish on a schedule, the subscribers
// of exactly those generators, and the counters of both. Sender and receiver of a message share a process, so its times
// need no protocol: they are remembered until the message arrives or times out.
package generator

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// Share is what one worker of a fleet has to do.
type Share struct {
	Scenario    scenario.Scenario
	Run         uint32
	First       int           // number of the share's first generator
	Generators  int           // how many it has; see Fleet.node for which one a generator uses
	Channels    []string      // one for each broker node
	RampOffset  time.Duration // before the share's first generator connects
	RampStep    time.Duration // between two of the share's generators; 0: as fast as the broker accepts
	Connections int           // of the share; 0: one for each generator
}

// Fleet is one worker's generators and subscribers.
type Fleet struct {
	share     Share
	transport transport.Transport
	traits    transport.Traits
	selector  message.Selector
	stats     *stats
	calm      undisturbed

	generators    []generator
	connecting    sync.Mutex // Connect holds it
	connections   []transport.Connection
	subscriptions []transport.Subscription // nil until they are in force
	inForce       []atomic.Int64           // since when each is, CLOCK_MONOTONIC; 0: not yet

	agenda agenda
	waiter *clock.Waiter  // the pacer's
	alarm  *clock.Alarm   // rings when the pacer may need to be replaced
	pacers atomic.Int32   // the pacer, and those that it has replaced whose calls have not returned
	pacing sync.WaitGroup // pacers, and goroutines that publish

	longest        atomic.Int64 // nanoseconds of draining
	begin, end     atomic.Int64 // of the measured span; messages meant for end or later are not sent
	unfinished     atomic.Int64 // generators that may have a message to send before the end
	outstanding    atomic.Int64 // copies that may still arrive
	unacknowledged atomic.Int64

	complaint sync.Once
	trouble   atomic.Pointer[string]
}

// New makes the share's generators, not yet connected.
func New(share Share, over transport.Transport, traits transport.Traits) (*Fleet, error) {
	selector, err := message.ParseSelector(share.Scenario.Subscribers.Selector)
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		share: share, transport: over, traits: traits, selector: selector, stats: newStats(),
		generators: make([]generator, share.Generators),
	}
	f.begin.Store(math.MaxInt64)
	f.end.Store(math.MaxInt64)
	subscribers := share.Scenario.Subscribers.Count
	each := flightsFor(int64(share.Scenario.Interval.Duration))
	rings := make(flights, each*share.Generators)
	newest := make([]uint32, subscribers*share.Generators)
	for i := range f.generators {
		f.generators[i] = generator{
			number:  uint32(share.First + i),
			flights: rings[i*each : (i+1)*each : (i+1)*each], newest: newest[i*subscribers : (i+1)*subscribers],
		}
	}
	f.subscriptions = make([]transport.Subscription, subscribers*len(share.Channels))
	f.inForce = make([]atomic.Int64, len(f.subscriptions))
	return f, nil
}

// Start subscribes, unless Connect does, and begins to pace; generators publish from the moment on when Connect has connected
// them.
func (f *Fleet) Start(ctx context.Context) error {
	if !f.startsTogether() {
		if err := f.subscribe(ctx); err != nil {
			return err
		}
	}
	var err error
	if f.waiter, err = clock.NewWaiter(); err != nil {
		return err
	}
	if f.alarm, err = clock.NewAlarm(); err != nil {
		return err
	}
	f.startPacer(nil)
	f.pacing.Go(f.relieve)
	return nil
}

// Measure sets the span whose times count, in readings of clock.Now, and with its end the end of all publishing; drain is the
// longest wait after it.
func (f *Fleet) Measure(begin, end int64, drain time.Duration) {
	f.longest.Store(int64(drain))
	f.begin.Store(begin)
	f.end.Store(end)
	f.waiter.Wake()
}

func (f *Fleet) measures(intended int64) bool { return intended >= f.begin.Load() }

// underWay counts the copies of one message that subscribers wait for.
func (f *Fleet) underWay(g *generator, messages int) {
	if f.selector.Selects(g.number) {
		f.outstanding.Add(int64(messages * f.share.Scenario.Subscribers.Count))
	}
}

// Progress is what has happened so far; its round trips are those since the last call.
func (f *Fleet) Progress() Progress { return f.stats.progress() }

// Drain waits for the end that Measure has set, and then until nothing is under way any more.
func (f *Fleet) Drain(ctx context.Context) {
	const look = 10 * time.Millisecond
	for sleepUntil(ctx, time.Now().Add(look)) {
		past := clock.Now() - f.end.Load()
		settled := f.unfinished.Load() <= 0 && f.outstanding.Load() <= 0 && f.unacknowledged.Load() <= 0
		if past >= 0 && (settled || past > f.longest.Load()) {
			return
		}
	}
}

// Close stops publishing, closes all connections and subscriptions, and settles every message. It waits for a Connect under way,
// which its own context ends: a connection that is made at this moment is closed too.
func (f *Fleet) Close(ctx context.Context) error {
	f.connecting.Lock()
	defer f.connecting.Unlock()
	f.agenda.end()
	if f.alarm != nil {
		f.waiter.Wake()
		f.alarm.Set(0, 0)
	}
	errs := []error{f.closeConnections(ctx)}
	f.pacing.Wait() // a closed connection ends its calls
	f.skipRest()
	for _, subscription := range f.subscriptions {
		if subscription != nil {
			errs = append(errs, subscription.Close(ctx))
		}
	}
	for i := range f.generators {
		f.generators[i].settle(f)
	}
	return errors.Join(errs...)
}

// Totals are all counters and times so far, those without stalls as far as Stalls has reported them.
func (f *Fleet) Totals() Totals {
	t := f.stats.totals()
	f.calm.mu.Lock()
	defer f.calm.mu.Unlock()
	t.Times.RTTWithoutStalls.Merge(&f.calm.rtt)
	t.Times.ServiceTimeWithoutStalls.Merge(&f.calm.serviceTime)
	return t
}

// skipRest counts the messages whose time came and that were never handed to the client, because it held earlier ones.
func (f *Fleet) skipRest() {
	end := min(f.end.Load(), clock.Now())
	f.agenda.empty(func(g *generator) {
		for due := g.due; due < end; due += int64(f.share.Scenario.Interval.Duration) {
			f.stats.count(func(c *result.Counts) *uint64 { return &c.Skipped })
		}
	})
}

// complain keeps the first error of a client, as an example for the report.
func (f *Fleet) complain(err error) {
	f.complaint.Do(func() {
		text := err.Error()
		f.trouble.Store(&text)
	})
}

// Trouble is the first error that a client returned, empty where there was none.
func (f *Fleet) Trouble() string {
	if text := f.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// sleepUntil reports whether the time was reached before ctx ended.
func sleepUntil(ctx context.Context, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
