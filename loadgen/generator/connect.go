package generator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// Connect connects all generators and sends each to its initial sleep. It returns when the subscriptions are in force, too.
func (f *Fleet) Connect(ctx context.Context) error {
	f.connecting.Lock()
	defer f.connecting.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const atOnce = 32 // of a server's queue of 4,096 connections that it has not accepted, for all workers
	turns := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	if f.startsTogether() {
		group.Go(func() {
			if err := f.subscribe(ctx); err != nil {
				cancel(err)
			}
		})
	}
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

// connect opens one connection and hands it to its generators: one, or every n-th generator of a pool.
func (f *Fleet) connect(ctx context.Context, wire int) error {
	before := clock.Now()
	connection, err := f.transport.Connect(ctx, f.node(wire))
	if err != nil {
		return fmt.Errorf("connection %d of %d: %w", wire+1, len(f.connections), err)
	}
	f.connections[wire] = connection
	now := clock.Now()
	f.stats.connected(now - before)
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

// node returns a connection's node: the fleet's connections are spread round robin over the nodes for publishers.
func (f *Fleet) node(wire int) int {
	nodes := len(f.share.Channels)
	if f.share.Scenario.Subscribers.Node == "apart" {
		nodes--
	}
	return (f.share.First + wire) % nodes
}

func (f *Fleet) enqueue(g *generator) {
	if f.agenda.add(g) {
		f.waiter.Wake()
	}
}

// closeConnections closes connections in parallel: each may have to flush.
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
		return fmt.Errorf("%d connections did not close cleanly, the first: %w", len(errs), errs[0])
	}
	return nil
}
