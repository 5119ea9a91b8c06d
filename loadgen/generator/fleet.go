// Package generator is the part of a fleet that one worker process runs: generators that publish on a schedule, the subscribers
// of exactly those generators, and the books over both. Because sender and receiver of a message meet in one process, its
// times need no protocol: they are remembered until the message arrives or is out of patience.
package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
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
	Generators  int           // how many it has; generator n publishes on node n modulo the number of channels
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
	books     *books

	generators    []generator
	connections   []transport.Connection
	subscriptions []transport.Subscription

	agenda agenda
	waiter *clock.Waiter // the pacer's

	longest        atomic.Int64 // nanoseconds of draining
	begin, end     atomic.Int64 // of the measured span; messages meant for end or later are not sent
	unfinished     atomic.Int64 // generators that may have a message to send before the end
	outstanding    atomic.Int64 // copies that may still arrive
	unacknowledged atomic.Int64
	publishing     sync.WaitGroup // goroutines of a transport that blocks
	stopped        chan struct{}
	paced          chan struct{}

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
		share: share, transport: over, traits: traits, selector: selector, books: newBooks(),
		generators: make([]generator, share.Generators), stopped: make(chan struct{}), paced: make(chan struct{}),
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
	return f, nil
}

// Start subscribes and begins to pace; generators publish from the moment on when Connect has connected them.
func (f *Fleet) Start(ctx context.Context) error {
	if err := f.subscribe(ctx); err != nil {
		return err
	}
	started := make(chan error)
	go f.pace(started)
	return <-started
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

// Connect connects all generators and sends each to its initial sleep.
func (f *Fleet) Connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const atOnce = 32 // of a server's queue of 4,096 connections that it has not accepted, for all workers
	turns := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	begin := time.Now().Add(f.share.RampOffset)
	f.connections = make([]transport.Connection, f.wires())
	for wire := range f.connections {
		if !sleepUntil(ctx, begin.Add(time.Duration(wire)*f.share.RampStep)) {
			break
		}
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if err := f.connect(ctx, wire); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (f *Fleet) wires() int {
	if f.share.Connections > 0 {
		return min(f.share.Connections, len(f.generators))
	}
	return len(f.generators)
}

// connect opens one connection and hands it to its generators: one, or of a pool every so-manieth.
func (f *Fleet) connect(ctx context.Context, wire int) error {
	before := clock.Now()
	connection, err := f.transport.Connect(ctx, f.node(wire))
	if err != nil {
		return fmt.Errorf("connection %d of %d: %w", wire+1, len(f.connections), err)
	}
	f.connections[wire] = connection
	now := clock.Now()
	f.books.connected(now - before)
	s := f.share.Scenario
	for i := wire; i < len(f.generators); i += len(f.connections) {
		g := &f.generators[i]
		g.connection = connection
		g.channel = f.share.Channels[f.node(wire)]
		g.due = now + g.sleep(s.Seed, int64(s.InitialSleep.From.Duration), int64(s.InitialSleep.To.Duration))
		f.unfinished.Add(1)
		f.enqueue(g)
	}
	return nil
}

// node is where a connection of this share goes: connections of the whole fleet take turns over the nodes.
func (f *Fleet) node(wire int) int { return (f.share.First + wire) % len(f.share.Channels) }

func (f *Fleet) enqueue(g *generator) {
	if f.agenda.add(g) {
		f.waiter.Wake()
	}
}

// pace sends what is due, on a thread of its own, until the fleet is stopped. While it waits it builds the next message, so
// that building takes nothing from the time between intended and actual sending.
func (f *Fleet) pace(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(f.paced)
	waiter, err := clock.NewWaiter()
	f.waiter = waiter
	started <- err
	if err != nil {
		return
	}
	const nothing = int64(time.Second)
	builder := f.builder()
	var built []byte
	var builtFor *generator
	for !f.isStopped() {
		g := f.agenda.first()
		if g == nil {
			waiter.WaitUntil(clock.Now() + nothing)
			continue
		}
		if g.due >= f.end.Load() {
			f.retire(g) // it has sent all that it should
			continue
		}
		if builtFor != g {
			if built, err = builder.Build(f.identity(g)); err != nil {
				f.complain(err)
				f.retire(g)
				continue
			}
			builtFor = g
		}
		if g.due > clock.Now() {
			waiter.WaitUntil(g.due)
			continue // an earlier one may have come
		}
		f.agenda.take(g)
		f.send(g, built)
		builtFor = nil
	}
}

func (f *Fleet) retire(g *generator) {
	f.agenda.take(g)
	f.unfinished.Add(-1)
}

func (f *Fleet) send(g *generator, built []byte) {
	if !f.traits.Blocks {
		g.publish(f, built)
		f.again(g)
		return
	}
	own := append([]byte(nil), built...)
	f.publishing.Go(func() {
		g.publish(f, own)
		f.again(g)
	})
}

// again puts the generator back for its next message, which may be overdue already.
func (f *Fleet) again(g *generator) {
	g.due += int64(f.share.Scenario.Interval.Duration)
	f.enqueue(g)
}

func (f *Fleet) identity(g *generator) message.Identity {
	return message.Identity{Run: f.share.Run, Generator: g.number, Sequence: g.next, Intended: g.due}
}

func (f *Fleet) builder() message.Builder {
	seed := f.share.Scenario.Seed + uint64(f.share.First)
	if f.share.Scenario.Message.Kind == "batch" {
		return message.NewBatch(f.share.Scenario.Message.Events, seed)
	}
	return message.NewRaw(f.share.Scenario.Message.Multiple, seed)
}

func (f *Fleet) parser() message.Parser {
	if f.share.Scenario.Message.Kind == "batch" {
		return &message.BatchParser{}
	}
	return message.RawParser{}
}

// underWay counts the copies of one message that subscribers wait for.
func (f *Fleet) underWay(g *generator, messages int) {
	if f.selector.Selects(g.number) {
		f.outstanding.Add(int64(messages * f.share.Scenario.Subscribers.Count))
	}
}

// settle gives up a message: what has not arrived is lost. The caller holds its generator's lock.
func (f *Fleet) settle(flight *flight) {
	subscribers := f.share.Scenario.Subscribers.Count
	if missing := flight.missing(subscribers); missing > 0 {
		f.outstanding.Add(-int64(missing))
	}
	f.books.settle(flight, subscribers)
}

func (f *Fleet) subscribe(ctx context.Context) error {
	for subscriber := range f.share.Scenario.Subscribers.Count {
		for node, channel := range f.share.Channels {
			began := clock.Now()
			var first sync.Once
			parser := f.parser()
			deliver := func(received []byte, before int64) {
				f.receive(subscriber, parser, received, before)
				first.Do(func() { f.books.subscribed(clock.Now() - began) })
			}
			subscription, err := f.transport.Subscribe(ctx, f.subscribersNode(node), channel, deliver)
			if err != nil {
				return fmt.Errorf("subscriber %d of %s: %w", subscriber+1, channel, err)
			}
			f.subscriptions = append(f.subscriptions, subscription)
		}
	}
	return nil
}

// subscribersNode is where the subscriber of a node's channel is connected.
func (f *Fleet) subscribersNode(publishers int) int {
	switch where := f.share.Scenario.Subscribers.Node; where {
	case "", "same":
		return publishers
	case "other":
		return (publishers + 1) % len(f.share.Channels)
	default:
		node, err := strconv.Atoi(where)
		if err != nil || node < 0 {
			return publishers
		}
		return node % len(f.share.Channels)
	}
}

func (f *Fleet) receive(subscriber int, parser message.Parser, received []byte, before int64) {
	identity, err := parser.Parse(received)
	taken := clock.Now()
	local := int64(identity.Generator) - int64(f.share.First)
	if err != nil || identity.Run != f.share.Run || local < 0 || local >= int64(len(f.generators)) {
		f.books.count(func(c *result.Counts) *uint64 { return &c.Foreign })
		return
	}
	if !f.selector.Selects(identity.Generator) {
		f.books.count(func(c *result.Counts) *uint64 { return &c.Unselected })
		return
	}
	f.generators[local].receive(f, subscriber, identity.Sequence, identity.Intended, before, taken)
}

// Progress is what has happened so far; its round trips are those since the last call.
func (f *Fleet) Progress() Progress { return f.books.progress() }

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

// Close stops publishing, closes all connections and subscriptions, and settles every message.
func (f *Fleet) Close(ctx context.Context) (Totals, error) {
	close(f.stopped)
	if f.waiter != nil {
		f.waiter.Wake()
		<-f.paced
	}
	errs := []error{f.closeConnections(ctx)}
	f.publishing.Wait() // a closed connection ends its calls
	f.skipRest()
	for _, subscription := range f.subscriptions {
		errs = append(errs, subscription.Close(ctx))
	}
	for i := range f.generators {
		f.generators[i].settle(f)
	}
	return f.books.totals(), errors.Join(errs...)
}

// closeConnections closes many at a time: each may have to wait for what it still holds.
func (f *Fleet) closeConnections(ctx context.Context) error {
	const atOnce = 64
	turns := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, connection := range f.connections {
		if connection == nil {
			continue
		}
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if err := connection.Close(ctx); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(errs) > 0 {
		return fmt.Errorf("%d connections did not close in good order, the first: %w", len(errs), errs[0])
	}
	return nil
}

// skipRest counts the messages whose time came and that were never handed to the client, because it held earlier ones.
func (f *Fleet) skipRest() {
	end := min(f.end.Load(), clock.Now())
	f.agenda.empty(func(g *generator) {
		for due := g.due; due < end; due += int64(f.share.Scenario.Interval.Duration) {
			f.books.count(func(c *result.Counts) *uint64 { return &c.Skipped })
		}
	})
}

func (f *Fleet) isStopped() bool {
	select {
	case <-f.stopped:
		return true
	default:
		return false
	}
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

// sleepUntil tells whether the time was reached before ctx ended.
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
