package report

import (
	"fmt"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// Name is how a run is called beside others: its scenario's name, or what it was.
func Name(r result.Result) string {
	if r.Scenario.Name != "" {
		return r.Scenario.Name
	}
	return transportName(r.Scenario)
}

func transportName(s scenario.Scenario) string {
	name := s.Kind().Title
	if s.Ack != "" && s.Ack != "none" {
		name += fmt.Sprintf(", acknowledgement %s", s.Ack)
	}
	return name
}

// setting is the scenario in a sentence.
func setting(r result.Result) string {
	s := r.Scenario
	connections := "a connection each"
	if s.Connections.Pool > 0 {
		connections = format.Some(s.Connections.Pool, "connection") + " between them"
	}
	broker := fmt.Sprintf("an embedded broker of %d nodes", s.Broker.Nodes)
	switch {
	case s.Broker.URL != "":
		broker = "the broker at " + s.Broker.URL
	case s.Broker.Nodes <= 1:
		broker = "one embedded broker"
	}
	if r.Broker.After.Name != "" {
		broker += " (" + r.Broker.After.Name + ")"
	}
	text := fmt.Sprintf("%s with %s: %s every %s over %s to %s, for %s",
		format.Some(s.Generators, "generator"), connections, message(s.Message, r.Bytes), format.Span(s.Interval.Duration), transportName(s), broker, format.Span(s.Duration.Duration))
	if r.Client != "" {
		text += "; client: " + r.Client
	}
	return text + "."
}

func message(m scenario.Message, b result.Bytes) string {
	size := ""
	if b.PerMessage > 0 {
		size = fmt.Sprintf(" of %s bytes", format.Number(b.PerMessage))
	}
	if m.Kind == "batch" {
		return fmt.Sprintf("a batch of %s%s", format.Some(m.Events, "event"), size)
	}
	if m.Multiple > 1 {
		return fmt.Sprintf("%d times the study's message%s", m.Multiple, size)
	}
	return "the study's message" + size
}

// machine is the place in a sentence.
func machine(r result.Result) string {
	m := r.Machine
	var parts []string
	if count := len(r.Hosts); count > 0 {
		parts = append(parts, format.Some(count, "host")+" together")
	}
	if m.CPU != "" {
		parts = append(parts, m.CPU)
	}
	parts = append(parts, fmt.Sprintf("%d cores", m.Cores), format.Bytes(float64(m.Memory)), m.Kernel)
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return strings.Join(parts, ", ")
}
