// Package absence records when a subscription was not in force, because its connection had broken. Core NATS and MQTT deliver to
// those who are there: what is published meanwhile is lost, by the subscriber's fault and not by the broker's.
package absence

import (
	"context"
	"sync"
	"time"

	"lifeline/loadgen/clock"
)

// underWay is how long before a subscription's last sign of life a message may have been sent that its end destroyed, and how
// long the nodes of a cluster take at most to learn that it is in force again. A broker's own loss in these seconds beside an
// absence is taken for the absence's.
const underWay = int64(time.Second)

// publishersWait is the longest time for which publishers let a transport's subscriptions reconnect first.
const publishersWait = 2 * time.Second

// Absences are those of one transport's subscriptions. The zero value is ready; methods may be called from any goroutine.
type Absences struct {
	mu       sync.Mutex
	absent   int
	returned chan struct{} // closed when none is absent; nil while none is
}

// Log is the record of one subscription; nil, that of one that is never absent.
type Log struct {
	all *Absences

	mu    sync.Mutex
	spans []span
}

// span is in nanoseconds of CLOCK_MONOTONIC; until is 0 while it lasts.
type span struct{ since, until int64 }

// New returns the record of a subscription that is in force.
func (a *Absences) New() *Log { return &Log{all: a} }

// Await returns when no subscription is absent, or after two seconds, or when ctx ends. A connection that publishes calls it
// before it reconnects: thousands of them would keep the few subscriptions waiting in the broker's accept queue, and lose what
// they publish.
func (a *Absences) Await(ctx context.Context) {
	a.mu.Lock()
	returned := a.returned
	a.mu.Unlock()
	if returned == nil {
		return
	}
	select {
	case <-returned:
	case <-ctx.Done():
	case <-time.After(publishersWait):
	}
}

func (a *Absences) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.absent++; a.absent == 1 {
		a.returned = make(chan struct{})
	}
}

func (a *Absences) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.absent--; a.absent == 0 {
		close(a.returned)
		a.returned = nil
	}
}

// Begin notes that the connection has broken; since is when it last delivered bytes. It does nothing during an absence.
func (l *Log) Begin(since int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.spans) - 1; last >= 0 && l.spans[last].until == 0 {
		return
	}
	l.spans = append(l.spans, span{since: since})
	l.all.begin()
}

// End notes that the subscription is in force again, as the broker has confirmed, or closed. It does nothing outside an absence.
func (l *Log) End() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.spans) - 1; last >= 0 && l.spans[last].until == 0 {
		l.spans[last].until = clock.Now()
		l.all.end()
	}
}

// Missed implements transport.Interrupted.
func (l *Log) Missed(sent int64) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.spans {
		if sent >= s.since-underWay && (s.until == 0 || sent <= s.until+underWay) {
			return true
		}
	}
	return false
}
