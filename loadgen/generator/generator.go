package generator

import (
	"math/rand/v2"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
)

// generator is one of the study's power generators: it owns a place in the schedule, a connection (perhaps shared) and the
// flights of its messages.
type generator struct {
	number     uint32 // in the whole fleet
	channel    string
	connection transport.Connection

	due   int64 // when its next message is meant to be sent; while in the agenda, the agenda's
	free  int64 // when the client returned from the message before
	place int   // in the agenda

	mu      sync.Mutex
	next    uint32   // sequence of its next message
	began   int64    // CLOCK_MONOTONIC at its first publish
	flights flights  // of its last messages
	newest  []uint32 // of each subscriber: one more than the highest sequence that it has
}

// sleep is the generator's initial sleep, the same in every run of a seed.
func (g *generator) sleep(seed uint64, from, to int64) int64 {
	if to <= from {
		return from
	}
	return from + rand.New(rand.NewPCG(seed, uint64(g.number))).Int64N(to-from)
}

// take gives the next message a flight, from now on remembered, and settles the one whose slot it takes.
func (g *generator) take(f *Fleet) (sequence uint32, before int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sequence = g.next
	g.next++
	slot := g.flights.slot(sequence)
	f.settle(g, slot)
	*slot = flight{sequence: sequence, before: clock.Now()}
	if sequence == 0 {
		g.began = slot.before
	}
	if f.selector.Selects(g.number) {
		slot.state = wanted
	}
	return sequence, slot.before
}

// publish sends the message that was built for g.
func (g *generator) publish(f *Fleet, built []byte) {
	intended := g.due
	warmUp := !f.measures(intended)
	f.underWay(g, +1)
	sequence, before := g.take(f)
	var onAck transport.Acknowledged
	if f.traits.Acknowledges {
		f.unacknowledged.Add(1)
		onAck = func(at int64, err error) { g.acknowledge(f, sequence, before, at, warmUp, err) }
	}
	err := g.connection.Publish(g.channel, built, onAck)
	after := clock.Now()
	could := max(intended, g.free)
	g.free = after
	if err != nil {
		if f.traits.Acknowledges {
			f.unacknowledged.Add(-1)
		}
		f.underWay(g, -1)
		g.mark(sequence, failed)
		f.stats.failed(before)
		f.complain(err)
		return
	}
	f.stats.sent(sending{length: len(built), could: could, before: before, after: after, warmUp: warmUp})
	if received := g.returned(sequence, after); received != 0 && !warmUp {
		f.stats.processed(received - after)
	}
}

// returned notes when the publishing call returned, and tells when the message was received, if that was earlier.
func (g *generator) returned(sequence uint32, after int64) (received int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	flight := g.flights.at(sequence)
	if flight == nil {
		return 0
	}
	flight.after = after
	return flight.received
}

func (g *generator) mark(sequence uint32, state flightState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if flight := g.flights.at(sequence); flight != nil {
		flight.state |= state
	}
}

func (g *generator) acknowledge(f *Fleet, sequence uint32, before, at int64, warmUp bool, err error) {
	f.unacknowledged.Add(-1)
	if err != nil {
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Refused })
		f.complain(err)
		return
	}
	g.mark(sequence, acknowledged)
	f.stats.acknowledged(before, at, warmUp)
}

// receive takes a copy of a message; received and taken are before and after receiving.
func (g *generator) receive(f *Fleet, subscriber int, sequence uint32, intended, received, taken int64) {
	copyBit := uint64(1) << subscriber
	a := arrival{
		generator: g.number, sequence: sequence, intended: intended, received: received, taken: taken, warmUp: !f.measures(intended),
	}
	var after int64

	g.mu.Lock()
	flight := g.flights.at(sequence)
	known, repeated, late, reordered := flight != nil, false, false, false
	switch {
	case !known:
		late = sequence < g.next
	case flight.copies&copyBit != 0:
		repeated = true
	default:
		late = taken-flight.before > arrivalTimeout
		reordered = sequence < g.newest[subscriber]
	}
	if known && !repeated && !late {
		flight.copies |= copyBit
		if flight.received == 0 {
			flight.received, after = received, flight.after
		}
		a.before = flight.before
		if g.newest[subscriber] == 0 {
			a.began = g.began
		}
		g.newest[subscriber] = max(g.newest[subscriber], sequence+1)
	}
	g.mu.Unlock()

	switch {
	case late:
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Late })
	case !known:
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Foreign })
	case repeated:
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Duplicated })
	default:
		if reordered {
			f.stats.count(func(c *result.Counts) *uint64 { return &c.Reordered })
		}
		f.stats.arrived(a)
		if after != 0 && !a.warmUp {
			f.stats.processed(received - after)
		}
		f.outstanding.Add(-1)
	}
}

// settle gives up all that has not arrived.
func (g *generator) settle(f *Fleet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.flights {
		f.settle(g, &g.flights[i])
		g.flights[i] = flight{}
	}
}
