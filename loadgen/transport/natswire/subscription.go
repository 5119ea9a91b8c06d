package natswire

import (
	"context"
	"fmt"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/absence"
	"lifeline/loadgen/transport/interest"
	"lifeline/loadgen/transport/natsproto"
)

// Ids of the two subscriptions that a connection makes.
const (
	messages = "1"
	probes   = "2"
)

// subscription is a connection that receives, with a goroutine that reads it.
type subscription struct {
	transport      *Transport
	channel, inbox string
	deliver        transport.Deliver
	*absence.Log
	ready  chan error  // the server's answer to SUB
	probed chan string // what came over inbox
	ctx    context.Context
	stop   context.CancelFunc // by Close
	ended  chan struct{}

	socket socket // of run
	node   int    // of run
}

func subscribe(ctx context.Context, t *Transport, first socket, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	s := &subscription{
		transport: t, channel: channel, inbox: interest.Channel(), deliver: deliver, Log: &absence.Log{}, socket: first, node: node,
		ready: make(chan error, 1), probed: make(chan string, 1), ended: make(chan struct{}),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.run()
	if err := s.awaitInterest(ctx, node); err != nil {
		_ = s.Close(ctx)
		return nil, fmt.Errorf("subscribe to %s: %w", s.subject(channel), err)
	}
	return s, nil
}

func (s *subscription) subject(channel string) string {
	return "fleet." + s.transport.settings.Run + "." + channel
}

// run reads until Close, over as many connections as that takes.
func (s *subscription) run() {
	defer close(s.ended)
	for {
		err := s.read()
		if s.ctx.Err() == nil {
			s.Begin(s.socket.arrival.LastRead())
		}
		s.socket.Close()
		s.tell(err)
		err = s.transport.dialAnew(s.ctx, s.node, subscribersWait, s.transport.handshake, func(made socket, node int) error {
			s.socket, s.node = made, node
			return nil
		})
		if err != nil {
			return
		}
	}
}

// read subscribes on the socket and delivers until that ends.
func (s *subscription) read() error {
	stop := context.AfterFunc(s.ctx, func() { s.socket.Close() })
	defer stop()
	if _, err := fmt.Fprintf(s.socket, "SUB %s %s\r\nSUB %s %s\r\nPING\r\n",
		s.subject(s.channel), messages, s.subject(s.inbox), probes); err != nil {
		return err
	}
	frames := natsproto.NewReader(s.socket, s.socket.rest, nil)
	for {
		frame, err := frames.Next()
		if err != nil {
			return err
		}
		if err := s.take(frame); err != nil {
			return err
		}
	}
}

func (s *subscription) take(frame natsproto.Frame) error {
	switch frame.Verb {
	case "MSG":
		fields := frame.Fields()
		switch {
		case len(fields) < 3:
			return fmt.Errorf("nats: MSG with %d arguments", len(fields))
		case string(fields[1]) == messages:
			s.deliver(frame.Payload, s.socket.arrival.LastRead())
		default:
			interest.Offer(s.probed, frame.Payload)
		}
	case "PING":
		_, err := s.socket.Write([]byte("PONG\r\n"))
		return err
	case "PONG":
		s.End(s.Generation())
		s.tell(nil)
	case "-ERR":
		s.tell(refusal(frame.Arguments))
	}
	return nil
}

// tell completes the subscription's wait, once.
func (s *subscription) tell(err error) {
	select {
	case s.ready <- err:
	default:
	}
}

// awaitInterest returns when the subscription is known to every node.
func (s *subscription) awaitInterest(ctx context.Context, home int) error {
	select {
	case err := <-s.ready:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return interest.Await(ctx, s.transport, len(s.transport.settings.Servers), home, s.inbox, s.probed)
}

// Close returns when nothing will be delivered any more.
func (s *subscription) Close(ctx context.Context) error {
	s.stop()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
