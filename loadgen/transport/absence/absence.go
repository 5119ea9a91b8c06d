// Package absence records when a subscription was not in force, because its connection had broken. Core NATS and MQTT deliver to
// those who are there: what is published meanwhile is lost, by the subscriber's fault and not by the broker's.
package absence

import (
	"sync"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// underWay is how long before a connection's last sign of life a message may have been sent that its end destroyed, and how long
// the nodes of a cluster take at most to learn that the subscription is in force again.
const underWay = int64(time.Second)

// PublishersWait is how much later than subscriptions connections that publish begin to reconnect: thousands of them would keep the
// few subscriptions waiting in the broker's accept queue, and lose what they publish.
const PublishersWait = 100 * time.Millisecond

// Log is the record of one subscription. Its methods may be called from any goroutine; those of a nil Log, of a subscription that
// is never absent, do nothing.
type Log struct {
	mu         sync.Mutex
	generation int // of the connection
	spans      []span
}

// span is an absence, in nanoseconds of CLOCK_MONOTONIC.
type span struct {
	heard int64 // the last bytes before it
	from  int64 // the broken connection was noticed
	until int64 // the broker confirmed the subscription; 0 while the absence lasts
}

// Begin notes that the connection has broken; heard is when it last delivered bytes.
func (l *Log) Begin(heard int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	if last := len(l.spans) - 1; last < 0 || l.spans[last].until != 0 {
		l.spans = append(l.spans, span{heard: heard, from: clock.Now()})
	}
}

// Generation numbers the connection in use, for End.
func (l *Log) Generation() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.generation
}

// End notes that the broker has confirmed the subscription over the connection of that generation. It does nothing if that one has
// broken since.
func (l *Log) End(generation int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.spans) - 1; last >= 0 && l.spans[last].until == 0 && l.generation == generation {
		l.spans[last].until = clock.Now()
	}
}

// Missed implements transport.Interrupted.
func (l *Log) Missed(sent int64) transport.Presence {
	if l == nil {
		return transport.Present
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	presence := transport.Present
	for _, s := range l.spans {
		switch lasts := s.until == 0; {
		case sent >= s.from && (lasts || sent <= s.until):
			return transport.Away
		case sent >= s.heard-underWay && (lasts || sent <= s.until+underWay):
			presence = transport.Unclear
		}
	}
	return presence
}
