// Package transports chooses the transport that a scenario names. It is the one place that knows all of them.
package transports

import (
	"fmt"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kafkalib"
	"lifeline/loadgen/transport/kafkawire"
	"lifeline/loadgen/transport/mqtt"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/natswire"
)

// Open makes the scenario's transport; nothing is connected yet.
func Open(settings transport.Settings, s *scenario.Scenario) (transport.Transport, transport.Traits, error) {
	if s.Client == "minimal" {
		return openMinimal(settings, s)
	}
	switch s.Transport {
	case "nats", "nats-tls":
		return opened(natslib.New(settings, natslib.Options{}))
	case "nats-websocket":
		return opened(natslib.New(settings, natslib.Options{WebSocket: true}))
	case "jetstream":
		return opened(natslib.New(settings, natslib.Options{JetStream: true}))
	case "mqtt":
		return opened(mqtt.New(settings))
	case "kafka":
		return opened(kafkalib.New(settings))
	}
	return nil, transport.Traits{}, fmt.Errorf("there is no transport %q", s.Transport)
}

// openMinimal makes a transport by one of our own clients, which do less and weigh less than the ordinary ones.
func openMinimal(settings transport.Settings, s *scenario.Scenario) (transport.Transport, transport.Traits, error) {
	switch s.Transport {
	case "nats", "nats-tls":
		return opened(natswire.New(settings))
	case "kafka":
		return opened(kafkawire.New(settings))
	}
	return nil, transport.Traits{}, fmt.Errorf("there is no minimal client for transport %q; use client: library", s.Transport)
}

// opened hands on what a constructor returned, with the traits of what it made.
func opened[T interface {
	transport.Transport
	Traits() transport.Traits
}](made T, err error) (transport.Transport, transport.Traits, error) {
	if err != nil {
		return nil, transport.Traits{}, err
	}
	return made, made.Traits(), nil
}
