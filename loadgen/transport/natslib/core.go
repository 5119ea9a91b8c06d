package natslib

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/transport"
)

// publisher is a connection of core NATS: at most once, nothing is acknowledged.
type publisher struct {
	*link
	transport *Transport
}

// Publish returns after nats.go has copied the message into its buffer; a goroutine of its own writes that to the socket.
func (p *publisher) Publish(channel string, message []byte, _ transport.Acknowledged) error {
	if err := p.usable(); err != nil {
		return err
	}
	return p.link.Publish(p.transport.subject(channel), message)
}

func (p *publisher) Close(ctx context.Context) error { return p.flushAndClose(ctx) }

func (l *link) flushAndClose(ctx context.Context) error {
	defer l.Conn.Close()
	if err := flush(ctx, l.Conn); err != nil {
		return fmt.Errorf("flush before closing: %w", err)
	}
	return nil
}

// flush waits until the server has seen all that was sent; nats.go insists on a deadline.
func flush(ctx context.Context, connection *nats.Conn) error {
	if _, set := ctx.Deadline(); !set {
		bounded, cancel := context.WithTimeout(ctx, handshakeTimeout)
		defer cancel()
		ctx = bounded
	}
	return connection.FlushWithContext(ctx)
}

// subscription is a link that delivers until it is closed.
type subscription struct {
	*link
	stop func()
}

func (s *subscription) Close(context.Context) error {
	s.stop()
	s.Conn.Close()
	return nil
}

func (t *Transport) subscribeCore(ctx context.Context, l *link, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	s, err := l.Conn.Subscribe(t.subject(channel), func(message *nats.Msg) { deliver(message.Data, l.dialer.lastRead()) })
	if err != nil {
		return nil, err
	}
	// The harness measures loss: none may be its own.
	if err := s.SetPendingLimits(-1, -1); err != nil {
		return nil, err
	}
	if err := t.awaitInterest(ctx, l, node); err != nil {
		return nil, err
	}
	if err := l.usable(); err != nil {
		return nil, err
	}
	return &subscription{link: l, stop: func() { _ = s.Unsubscribe() }}, nil
}

// awaitInterest returns when a message that is published on any other node comes through to l. Servers tell each other of
// subscriptions in their order, so that what was subscribed to before is known everywhere by then.
func (t *Transport) awaitInterest(ctx context.Context, l *link, node int) error {
	if len(t.settings.Servers) == 1 {
		return flush(ctx, l.Conn)
	}
	probe := t.subject("interest." + nuid.Next())
	arrived := make(chan *nats.Msg, 64)
	s, err := l.ChanSubscribe(probe, arrived)
	if err != nil {
		return err
	}
	defer func() { _ = s.Unsubscribe() }()
	if err := flush(ctx, l.Conn); err != nil {
		return err
	}
	for other := range t.settings.Servers {
		if other == node {
			continue
		}
		if err := t.probeFrom(ctx, other, probe, arrived); err != nil {
			return fmt.Errorf("await that node %d knows of the subscription: %w", other, err)
		}
	}
	return nil
}

func (t *Transport) probeFrom(ctx context.Context, node int, probe string, arrived <-chan *nats.Msg) error {
	from, err := t.connect(ctx, node)
	if err != nil {
		return err
	}
	defer from.Conn.Close()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	id := nuid.Next()
	for {
		if err := from.Conn.Publish(probe, []byte(id)); err != nil {
			return err
		}
		for waiting := true; waiting; {
			select {
			case message := <-arrived:
				if string(message.Data) == id {
					return nil
				}
			case <-again.C:
				waiting = false
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}
