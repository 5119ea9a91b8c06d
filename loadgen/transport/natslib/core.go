package natslib

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/interest"
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

// Missed implements transport.Interrupted.
func (s *subscription) Missed(sent int64) transport.Presence { return s.absent.Missed(sent) }

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
	return &subscription{link: l, stop: func() { _ = s.Unsubscribe() }}, nil
}

// awaitInterest returns when every node knows what l has subscribed to.
func (t *Transport) awaitInterest(ctx context.Context, l *link, node int) error {
	if len(t.settings.Servers) > 1 {
		inbox, arrived := interest.Channel(), make(chan string, 1)
		s, err := l.Conn.Subscribe(t.subject(inbox), func(message *nats.Msg) { interest.Offer(arrived, message.Data) })
		if err != nil {
			return err
		}
		defer func() { _ = s.Unsubscribe() }()
		if err := l.heard(ctx); err != nil {
			return err
		}
		return interest.Await(ctx, t, len(t.settings.Servers), node, inbox, arrived)
	}
	return l.heard(ctx)
}

// heard returns when the server has accepted or refused the subscriptions so far.
func (l *link) heard(ctx context.Context) error {
	if err := flush(ctx, l.Conn); err != nil {
		return err
	}
	// The error handler runs in its own goroutine, and may be late.
	if err := l.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	return nil
}
