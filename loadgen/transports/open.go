// Package transports chooses the transport that a scenario names. It is the one place that knows all of them.
package transports

import (
	"fmt"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kafkalib"
	"lifeline/loadgen/transport/kafkawire"
	"lifeline/loadgen/transport/natslib"
)

// Open makes the scenario's transport; nothing is connected yet.
func Open(settings transport.Settings, s *scenario.Scenario) (transport.Transport, transport.Traits, error) {
	switch s.Transport {
	case "nats", "nats-tls":
		return opened(natslib.New(settings, natslib.Options{Poll: s.Subscribers.Poll.Duration}))
	case "nats-websocket":
		return opened(natslib.New(settings, natslib.Options{WebSocket: true, Poll: s.Subscribers.Poll.Duration}))
	case "kafka":
		if s.Client == "minimal" {
			return opened(kafkawire.New(settings))
		}
		return opened(kafkalib.New(settings))
	}
	return nil, transport.Traits{}, fmt.Errorf("there is no transport %q with client %q", s.Transport, s.Client)
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
