package generator

import (
	"runtime"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
)

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
		g.free = clock.Now()
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

func (f *Fleet) isStopped() bool {
	select {
	case <-f.stopped:
		return true
	default:
		return false
	}
}
