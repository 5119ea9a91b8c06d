package scenario

import (
	"time"

	"lifeline/loadgen/transport/kind"
)

// Default is the scenario of an empty file, before Complete.
func Default() Scenario {
	return Scenario{
		Name:        "fleet",
		Seed:        1,
		Generators:  800,
		Interval:    Seconds(10),
		Duration:    Duration{2 * time.Minute},
		Drain:       Seconds(30),
		Message:     Message{Kind: "raw", Multiple: 1, Events: 1},
		Client:      "library",
		Broker:      Broker{Nodes: 1},
		Subscribers: Subscribers{Count: 1, Node: "same", Poll: notGiven},

		// Negative: not given, so what they become depends on others.
		InitialSleep: Range{notGiven, notGiven},
		WarmUp:       notGiven,
	}
}

var notGiven = Duration{-1}

// complete fills in the defaults that depend on other values.
func (s *Scenario) complete() {
	if s.InitialSleep.From == notGiven {
		s.InitialSleep = Range{To: s.Interval}
	}
	if s.Transport == "" {
		s.Transport = s.Broker.transport()
	}
	k := s.Kind()
	if s.WarmUp == notGiven {
		s.WarmUp = Duration{k.WarmUp}
	}
	if s.Subscribers.Poll == notGiven {
		s.Subscribers.Poll = Duration{k.Poll}
	}
	if s.Ack == "" && len(k.Acknowledgements) > 0 {
		s.Ack = Acknowledgement(k.Acknowledgements[0])
	}
	if s.Broker.Replicas == 0 {
		s.Broker.Replicas = 1
		if k.Stores && s.Broker.Nodes >= 3 {
			s.Broker.Replicas = 3
		}
	}
}

// Kind is what is known of the scenario's transport.
func (s *Scenario) Kind() kind.Kind { return kind.Of(s.Transport) }

// Span is how long a run's messages are published: warm-up and duration.
func (s *Scenario) Span() time.Duration { return s.WarmUp.Duration + s.Duration.Duration }
