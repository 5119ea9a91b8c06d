// Package natslib speaks to NATS with nats.go, the client that programs use: core NATS over TCP, TLS or WebSocket, and
// JetStream with acknowledged publishing.
package natslib

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/absence"
)

// Options select NATS features.
type Options struct {
	WebSocket bool
	JetStream bool // publishes are acknowledged by a stream, subscriptions read the stream
}

// Transport implements transport.Transport. Every connection and every subscription has a nats.Conn of its own.
type Transport struct {
	settings transport.Settings
	options  Options
	created  bool // the stream, by Prepare
}

// NewCore is New for core NATS over TCP or TLS.
func NewCore(settings transport.Settings) (*Transport, error) { return New(settings, Options{}) }

// NewWebSocket is New for core NATS over WebSocket.
func NewWebSocket(settings transport.Settings) (*Transport, error) {
	return New(settings, Options{WebSocket: true})
}

// NewJetStream is New for JetStream.
func NewJetStream(settings transport.Settings) (*Transport, error) {
	return New(settings, Options{JetStream: true})
}

// New connects to nothing yet.
func New(settings transport.Settings, options Options) (*Transport, error) {
	if len(settings.Servers) == 0 {
		return nil, errors.New("nats: no server to connect to")
	}
	if settings.Poll > 0 && !options.JetStream {
		return nil, errors.New("nats: core NATS keeps nothing that could be polled; use transport jetstream")
	}
	return &Transport{settings: settings, options: options}, nil
}

// Traits of this client.
func (t *Transport) Traits() transport.Traits {
	traits := transport.Traits{
		Client:      "nats.go " + nats.Version,
		Descriptors: 1,
		ClientBytes: 46 << 10,
		BrokerBytes: 55 << 10,
	}
	if t.options.JetStream {
		traits.Acknowledges, traits.Durable = true, t.settings.Replicas > 1
		traits.ClientBytes, traits.BrokerBytes = 64<<10, 90<<10
	}
	return traits
}

// Prepare makes the stream of the run. Core NATS needs nothing.
func (t *Transport) Prepare(ctx context.Context, _ []string) error {
	if !t.options.JetStream {
		return nil
	}
	return t.createStream(ctx)
}

// Connect returns when the server has answered to the handshake.
func (t *Transport) Connect(ctx context.Context, node int) (transport.Connection, error) {
	link, err := t.connect(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	if t.options.JetStream {
		return newStreamPublisher(t, link)
	}
	return &publisher{link: link, transport: t}, nil
}

// Subscribe returns when every node of the cluster knows the subscription.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	subscribe, absent := t.subscribeCore, &absence.Log{}
	if t.options.JetStream {
		subscribe, absent = t.subscribeStream, nil // the stream keeps what comes meanwhile
	}
	link, err := t.connect(ctx, node, absent)
	if err != nil {
		return nil, err
	}
	subscription, err := subscribe(ctx, link, node, channel, deliver)
	if err != nil {
		link.Close()
		return nil, fmt.Errorf("subscribe to %s: %w", t.subject(channel), err)
	}
	return subscription, nil
}

// Remove deletes the stream of the run, if Prepare has made one.
func (t *Transport) Remove(ctx context.Context) error {
	if !t.created {
		return nil
	}
	return t.deleteStream(ctx)
}

func (t *Transport) subject(channel string) string { return "fleet." + t.settings.Run + "." + channel }
