package natswire

import (
	"context"
	"math/rand/v2"
	"time"

	"lifeline/loadgen/transport/absence"
)

// What lies, at least, between two rounds over all servers.
const (
	subscribersWait = 10 * time.Millisecond
	publishersWait  = absence.PublishersWait
)

// dialAnew tries the servers in their order, beginning behind the one that was lost, as nats.go does. It ends when use has
// accepted a socket, or with ctx.
func (t *Transport) dialAnew(ctx context.Context, lost int, between time.Duration, dial dialling, use func(s socket, node int) error) error {
	for attempt := 1; ; attempt++ {
		node := (lost + attempt) % len(t.settings.Servers)
		if s, err := dial(ctx, node); err == nil {
			if use(s, node) == nil {
				return nil
			}
			s.Close()
		}
		if attempt%len(t.settings.Servers) == 0 {
			// Spread out, or a fleet would come back all at once each time.
			select {
			case <-ctx.Done():
			case <-time.After(between + rand.N(between)):
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// dialling makes a connection to a node.
type dialling func(ctx context.Context, node int) (socket, error)

// dialInTurn is how publishers dial: not too many at once.
func (t *Transport) dialInTurn(ctx context.Context, node int) (socket, error) {
	select {
	case t.redial <- struct{}{}:
		defer func() { <-t.redial }()
	case <-ctx.Done():
		return socket{}, ctx.Err()
	}
	return t.handshake(ctx, node)
}
