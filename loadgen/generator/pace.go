package generator

import (
	"bytes"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
)

// pacer sends what is due. A client's call may hold it up, even one that should return at once: then another pacer replaces it,
// so that one generator's call delays no other generator.
type pacer struct{ builder message.Builder }

const (
	// patience is how long a due message waits for a call to return, or up to twice as long. Ordinary calls take some ten microseconds.
	patience = int64(time.Millisecond)
	// look is the longest time between two looks at a pacer in a call, since a generator that connects meanwhile may come first.
	look = int64(10 * time.Millisecond)
)

// startPacer starts a pacer in place of another one, nil for the first, unless that one is no longer in its place.
func (f *Fleet) startPacer(instead *pacer) {
	p := &pacer{f.builder()}
	if f.agenda.replace(instead, p) {
		f.pacers.Add(1)
		f.pacing.Go(func() { f.pace(p) })
	}
}

// relieve replaces a pacer that a call holds up while another message is due, until pacing ends. A pacer puts its alarm off with every
// message, so in the ordinary case it does not ring.
func (f *Fleet) relieve() {
	for {
		f.alarm.Wait()
		p, since, calling := f.agenda.waiting()
		now := clock.Now()
		next := since + patience
		switch {
		case p == nil:
			return
		case calling && next <= now:
			f.startPacer(p)
		case calling || next <= now: // it may be without a core
			again := min(max(next, now+patience), now+look)
			f.alarm.Set(again, again)
		}
	}
}

// pace sends what is due until p is replaced or pacing ends. While it waits it builds the next message, so that building takes
// nothing from the time between intended and actual sending.
func (f *Fleet) pace(p *pacer) {
	defer f.pacers.Add(-1)
	const nothing = int64(time.Second)
	var built []byte
	var builtFor entry
	for {
		next, mine := f.agenda.first(p)
		switch {
		case !mine:
			f.waiter.Wake() // it may have been its successor's
			return
		case next.generator == nil:
			f.waiter.WaitUntil(clock.Now() + nothing)
			continue
		case next.due >= f.end.Load():
			f.retire(p, next) // it has sent all that it should
			continue
		}
		if builtFor != next {
			held := max(next.due, clock.Now()) + patience
			f.alarm.Set(held, held+patience)
			var err error
			if built, err = p.builder.Build(f.identity(next)); err != nil {
				f.complain(err)
				f.retire(p, next)
				continue
			}
			builtFor = next
		}
		if next.due > clock.Now() {
			f.waiter.WaitUntil(next.due)
			continue // an earlier one may have come
		}
		if f.agenda.take(p, next) {
			f.send(next.generator, built)
		}
	}
}

func (f *Fleet) retire(p *pacer, last entry) {
	if f.agenda.take(p, last) {
		f.unfinished.Add(-1)
	}
}

// send hands a message to the client, on a goroutine of its own where the call will block, or where another call does now.
func (f *Fleet) send(g *generator, built []byte) {
	if !f.traits.Blocks && f.pacers.Load() == 1 {
		g.publish(f, built)
		f.again(g)
		return
	}
	own := bytes.Clone(built)
	f.pacing.Go(func() {
		g.publish(f, own)
		f.again(g)
	})
}

// again puts the generator back for its next message, which may be overdue already.
func (f *Fleet) again(g *generator) {
	g.due += int64(f.share.Scenario.Interval.Duration)
	f.enqueue(g)
}

func (f *Fleet) identity(next entry) message.Identity {
	return message.Identity{Run: f.share.Run, Generator: next.generator.number, Sequence: next.sequence, Intended: next.due}
}

func (f *Fleet) builder() message.Builder {
	seed := f.share.Scenario.Seed + uint64(f.share.First)
	if f.share.Scenario.Message.Kind == "batch" {
		return message.NewBatch(f.share.Scenario.Message.Events, seed)
	}
	return message.NewRaw(f.share.Scenario.Message.Multiple, seed)
}
