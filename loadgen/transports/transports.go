// Package transports is the one place that knows every transport: each is a row of its table.
package transports

import (
	"fmt"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kafkalib"
	"lifeline/loadgen/transport/kafkawire"
	"lifeline/loadgen/transport/kind"
	"lifeline/loadgen/transport/mqtt"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/natswire"
	"lifeline/loadgen/transport/postgres"
)

// rows are in the order in which people see them; a URL's scheme means the first transport that takes it.
var rows = []row{
	{natslib.NATS, client(natslib.NewCore), client(natswire.New)},
	{natslib.NATSOverTLS, client(natslib.NewCore), client(natswire.New)},
	{natslib.NATSOverWebSocket, client(natslib.NewWebSocket), nil},
	{natslib.JetStream, client(natslib.NewJetStream), nil},
	{mqtt.MQTT, client(mqtt.New), nil},
	{kafkalib.Kafka, client(kafkalib.New), client(kafkawire.New)},
	{postgres.PostgreSQL, client(postgres.New), nil},
}

// row is a transport with its ordinary client and, unless it is nil, one of our own, which does less and weighs less.
type row struct {
	kind.Kind
	library, minimal open
}

// open makes a transport; nothing is connected yet.
type open func(transport.Settings) (transport.Transport, transport.Traits, error)

func init() {
	for _, r := range rows {
		kind.Register(r.Kind)
	}
}

// Open makes the scenario's transport; nothing is connected yet.
func Open(settings transport.Settings, s *scenario.Scenario) (transport.Transport, transport.Traits, error) {
	for _, r := range rows {
		if r.Name != s.Transport {
			continue
		}
		switch {
		case s.Client != "minimal":
			return r.library(settings)
		case r.minimal != nil:
			return r.minimal(settings)
		}
		return nil, transport.Traits{}, fmt.Errorf("there is no minimal client for transport %q; use client: library", s.Transport)
	}
	return nil, transport.Traits{}, fmt.Errorf("there is no transport %q", s.Transport)
}

// client is a constructor in the form that rows hold.
func client[T interface {
	transport.Transport
	Traits() transport.Traits
}](construct func(transport.Settings) (T, error)) open {
	return func(settings transport.Settings) (transport.Transport, transport.Traits, error) {
		made, err := construct(settings)
		if err != nil {
			return nil, transport.Traits{}, err
		}
		return made, made.Traits(), nil
	}
}
