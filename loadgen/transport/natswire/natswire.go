// Package natswire speaks just enough of the NATS protocol to publish and to subscribe, for fleets of tens of thousands of
// connections in one process: an idle connection costs no goroutine and no buffer. It is core NATS only. What it does not do:
// keep messages while it is disconnected (publishing fails meanwhile), headers, requests.
package natswire

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"lifeline/loadgen/transport"
)

const (
	// handshakeTimeout applies where the caller's context has no earlier end.
	handshakeTimeout = 30 * time.Second
	// reconnecting is how many connections dial at the same time after a server's death: more would only wait in the next
	// server's queue, which the kernel keeps short.
	reconnecting = 64
)

// Transport implements transport.Transport.
type Transport struct {
	settings transport.Settings
	watch    watch
	redial   chan struct{} // a token for each connection that dials anew
	largest  atomic.Int64  // payload, as the servers say
}

// New connects to nothing yet.
func New(settings transport.Settings) (*Transport, error) {
	if len(settings.Servers) == 0 {
		return nil, errors.New("nats: no server to connect to")
	}
	if settings.Poll > 0 {
		return nil, errors.New("nats: core NATS keeps nothing that could be polled; use transport jetstream")
	}
	return &Transport{settings: settings, redial: make(chan struct{}, reconnecting)}, nil
}

// Traits of this client.
func (t *Transport) Traits() transport.Traits {
	traits := transport.Traits{Client: "minimal NATS client", Descriptors: 1, ClientBytes: 2 << 10, BrokerBytes: 45 << 10}
	if t.settings.TLS != nil {
		traits.ClientBytes += 24 << 10 // crypto/tls, and a goroutine that waits in it
	}
	return traits
}

// Prepare does nothing: subjects of core NATS come into being by their use.
func (t *Transport) Prepare(context.Context, []string) error { return nil }

// Remove does nothing.
func (t *Transport) Remove(context.Context) error { return nil }

// Connect returns when the server has answered to the handshake.
func (t *Transport) Connect(ctx context.Context, node int) (transport.Connection, error) {
	s, err := t.handshake(ctx, node)
	if err != nil {
		return nil, err
	}
	p := &publisher{transport: t}
	if err := p.attach(s, node); err != nil {
		s.Close()
		return nil, fmt.Errorf("connect to %s: %w", t.settings.Servers[node], err)
	}
	return p, nil
}

// Subscribe returns when every node of the cluster knows the subscription.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	s, err := t.handshake(ctx, node)
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, t, s, node, channel, deliver)
}
