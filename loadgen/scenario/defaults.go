package scenario

import "time"

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
		Subscribers: Subscribers{Count: 1, Node: "same"},

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
	if s.WarmUp == notGiven {
		s.WarmUp = Duration{}
		if s.Transport == "kafka" { // a JVM that was just started is a hundred times slower than later
			s.WarmUp = Seconds(30)
		}
	}
	if s.Ack == "" {
		switch s.Transport {
		case "jetstream":
			s.Ack = "stream"
		case "kafka":
			s.Ack = "all"
		default:
			s.Ack = "none"
		}
	}
	if s.Broker.Replicas == 0 {
		s.Broker.Replicas = 1
		if s.Durable() && s.Broker.Nodes >= 3 {
			s.Broker.Replicas = 3
		}
	}
}

// Durable reports whether the broker keeps messages, in a stream or a topic.
func (s *Scenario) Durable() bool { return s.Transport == "jetstream" || s.Transport == "kafka" }

// Span is how long a run's messages are published: warm-up and duration.
func (s *Scenario) Span() time.Duration { return s.WarmUp.Duration + s.Duration.Duration }
