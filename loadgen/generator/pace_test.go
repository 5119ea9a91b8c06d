package generator

import (
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/message"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

func TestACallThatBlocksDelaysNoOtherGenerator(t *testing.T) {
	systemtest.Mark(t)
	const generators, each = 12, 10
	for name, blocking := range map[string]uint32{"one generator": 1, "most generators": generators - 2} {
		t.Run(name, func(t *testing.T) {
			released := make(chan struct{})
			var mu sync.Mutex
			blocked, free := blocking, 0 // calls that have yet to block; messages of the others since all of those do
			plan := func(generator, sequence uint32) treatment {
				mu.Lock()
				hold := generator < 100+blocking && sequence == 1
				switch {
				case hold:
					blocked--
				case blocked == 0 && free >= 0 && generator >= 100+blocking:
					if free++; free == each*int(generators-blocking) {
						close(released)
					}
				}
				mu.Unlock()
				if hold {
					select {
					case <-released:
					case <-time.After(time.Minute):
						t.Error("the others have not published while the calls were blocked")
					}
				}
				return treatment{}
			}
			totals := conduct(t, generators, 2*each, 1, "", transport.Traits{}, plan)
			select {
			case <-released:
			default:
				t.Fatal("the calls were not released by the others' messages")
			}
			c := totals.Counts
			if c.Lost != 0 || c.Failed != 0 || c.Received != c.Sent || c.Sent+c.Skipped < generators*2*each {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestAPacerThatWasReplacedTakesNothing(t *testing.T) {
	var a agenda
	first, second := &pacer{builder: message.NewRaw(1, 1)}, &pacer{builder: message.NewRaw(1, 2)}
	a.replace(nil, first)
	g := &generator{due: 5}
	a.add(g)
	next, mine := a.first(first)
	if !mine || next.due != 5 || !a.replace(first, second) || a.replace(first, second) {
		t.Fatalf("%+v, %t", next, mine)
	}
	if a.take(first, next) {
		t.Error("a pacer that was replaced took a message")
	}
	if next, mine := a.first(second); !mine || !a.take(second, next) {
		t.Error("its successor could not take it")
	}
	if p, since, calling := a.waiting(); p != second || since != never || !calling {
		t.Errorf("of an empty queue: %d, %t", since, calling)
	}
	if a.end(); a.take(second, next) {
		t.Error("a message was taken after the end")
	}
}
