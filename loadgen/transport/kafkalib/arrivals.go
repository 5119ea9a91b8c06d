package kafkalib

import (
	"context"
	"net"
	"sync"

	"lifeline/loadgen/transport"
)

// arrivals remembers a client's connections, to tell when bytes last came in on any of them; nil remembers nothing.
type arrivals struct {
	mutex sync.Mutex
	open  []transport.Arrival
}

func (a *arrivals) add(arrival transport.Arrival) {
	if a != nil && arrival != nil {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.open = append(a.open, arrival)
	}
}

// last is CLOCK_MONOTONIC nanoseconds.
func (a *arrivals) last() int64 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var last int64
	for _, arrival := range a.open {
		last = max(last, arrival.LastRead())
	}
	return last
}

// dialer opens connections that arrivals observes.
func (t *Transport) dialer(arrivals *arrivals) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		connection, arrival, err := t.settings.Dial(ctx, address)
		arrivals.add(arrival)
		return connection, err
	}
}
