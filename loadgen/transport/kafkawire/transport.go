// Package kafkawire is a minimal Kafka producer, for fleets of tens of thousands: a connection is one socket to the leader of
// one partition, one goroutine and a few kilobytes. It has at most one request under way, so that a retry cannot overtake
// a later message, and what is published meanwhile goes with the next one as one batch.
//
// It is not idempotent: a request that is repeated, because its answer got lost or was that too few replicas had it in time, may
// store messages twice. Topics are made, and subscriptions served, by package kafkalib, once per process.
package kafkawire

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/kafkalib"
)

const (
	// handshakeTimeout applies where the caller's context has no earlier end: kernels accept connections for brokers that have stopped.
	handshakeTimeout = 30 * time.Second
	// A message is tried for as long as a fleet's histograms reach.
	deliverWithin = 120 * time.Second
	// The broker's own limit for "all": replicas that are too slow are dropped by then.
	brokerTimeout = 30 * time.Second
	// An answer that takes longer makes the client ask whether the partition has another leader by now.
	requestTimeout = 2 * time.Second
	// A connection is reopened if the leader, still being the leader, does not answer this long.
	silence = brokerTimeout + 10*time.Second
)

// Transport makes minimal connections.
type Transport struct {
	*kafkalib.Transport
	settings transport.Settings
	acks     int16
	process  string // makes keys unique among a run's processes
	made     atomic.Uint32
	leaders  leaders
}

var acks = map[string]int16{"none": 0, "leader": 1, "all": -1}

// New checks the settings; it opens no connection.
func New(settings transport.Settings) (*Transport, error) {
	number, known := acks[settings.Acknowledgement]
	if !known {
		return nil, fmt.Errorf("the minimal Kafka client knows no acknowledgement %q: none, leader or all, or take client: library",
			settings.Acknowledgement)
	}
	library, err := kafkalib.New(settings)
	if err != nil {
		return nil, err
	}
	t := &Transport{Transport: library, settings: settings, acks: number, process: kafkalib.ProcessName()}
	t.leaders.ask = library.Leaders
	return t, nil
}

// Traits are those of one connection without TLS; TLS takes some 20 KB more on either side.
func (t *Transport) Traits() transport.Traits {
	return transport.Traits{
		Client:       "minimal Kafka producer (Produce 7, not idempotent), subscribers " + t.Transport.Traits().Client,
		Acknowledges: t.acks != 0,
		Durable:      t.acks < 0 && t.settings.Replicas > 1,
		Descriptors:  1,
		ClientBytes:  8 << 10,
		BrokerBytes:  25 << 10,
	}
}

// Subscribe also learns the channel's leaders, so that no first publish has to wait for them.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error) {
	if _, err := t.leaders.known(channel); err != nil {
		return nil, err
	}
	return t.Transport.Subscribe(ctx, node, channel, deliver)
}

// Connect opens a connection to the given node. Where it leads partitions of the channel that is published to first, the
// connection takes one of these; otherwise it moves to another node.
func (t *Transport) Connect(ctx context.Context, node int) (transport.Connection, error) {
	if node < 0 || node >= len(t.settings.Servers) {
		return nil, fmt.Errorf("there is no Kafka node %d: %d servers are known", node, len(t.settings.Servers))
	}
	link, err := t.open(ctx, t.settings.Servers[node])
	if err != nil {
		return nil, err
	}
	c := newConnection(t, node, t.made.Add(1)-1, link)
	go c.run(link)
	return c, nil
}

// open returns a connection that a Kafka broker has answered on. Its errors are those of dial.Classify.
func (t *Transport) open(ctx context.Context, address string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	l, err := t.greeted(ctx, address)
	if err != nil {
		return nil, dial.Classify(address, err)
	}
	return l, nil
}

func (t *Transport) greeted(ctx context.Context, address string) (*link, error) {
	socket, _, err := t.settings.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { socket.SetDeadline(time.Unix(1, 0)) })
	l := newLink(socket, address)
	err = l.handshake(ctx, t.settings.Login.SASL())
	if !stop() {
		err = ctx.Err() // the deadline that cut the handshake says nothing of why
	}
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("greeting Kafka: %w", err)
	}
	return l, nil
}
