package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lifeline/loadgen/transport/kind"
)

// Rules that tie several values together; what one value may be is in schema.json.

type report func(path, format string, arguments ...any)

func (s *Scenario) check(report report) {
	s.checkTimes(report)
	s.Message.check(report)
	s.checkClient(report)
	if s.Broker.URL == "" {
		s.checkEmbedded(report)
	} else {
		s.checkExternal(report)
	}
	s.checkSubscribers(report)
	for i, objective := range s.Objectives {
		objective.check(report, fmt.Sprintf("objectives[%d]", i))
	}
	for i := range s.Faults {
		s.checkFault(report, i)
	}
}

func (s *Scenario) checkTimes(report report) {
	if s.Interval.Duration < time.Millisecond {
		report("interval", "%s is too short for a generator; write at least 1ms, and more generators for a higher rate", s.Interval)
	}
	if s.Duration.Duration < time.Second {
		report("duration", "%s is too short; write at least 1s", s.Duration)
	}
	if s.InitialSleep.From.Duration > s.InitialSleep.To.Duration {
		report("initial_sleep", "ends before it begins; write [%s, %s]", s.InitialSleep.To, s.InitialSleep.From)
	}
	if s.Drain.Duration > 2*time.Minute {
		report("drain", "%s is longer than 2m, after which a message counts as lost anyway", s.Drain)
	}
}

func (m Message) check(report report) {
	if m.Kind == "raw" && m.Events > 1 {
		report("message.events", "only a batch has events; write kind: batch, or multiple for a larger raw message")
	}
	if m.Kind == "batch" && m.Multiple > 1 {
		report("message.multiple", "only a raw message has a multiple; write kind: raw, or events for a larger batch")
	}
}

func (s *Scenario) checkClient(report report) {
	k := s.Kind()
	if !slices.Contains(k.Acknowledgements, string(s.Ack)) {
		report("acknowledgement", "%s does not offer %s; write %s", k.Name, s.Ack, kind.Either(k.Acknowledgements))
	}
	switch {
	case s.Client != "minimal":
	case k.Minimal == nil:
		small := kind.Names(func(k kind.Kind) bool { return k.Minimal != nil })
		report("client", "there is a minimal client for %s only; write library for %s", kind.Either(small), k.Name)
	case !slices.Contains(k.Minimal, string(s.Ack)):
		report("client", "the minimal client does not offer %s; write library", s.Ack)
	}
}

func (s *Scenario) checkEmbedded(report report) {
	nodes, k := s.Broker.Nodes, s.Kind()
	switch {
	case k.Broker == nil:
		report("broker.url", "the fleet does not start a broker for %s; write the URL of your own", k.Name)
	case !slices.Contains(k.Nodes, nodes):
		report("broker.nodes", "an embedded broker for %s has %s nodes, not %d", k.Name, sizes(k.Nodes), nodes)
	}
	if len(s.Faults) > 0 && k.Broker != nil && !k.Broker.Faults {
		report("faults", "are not supported with an embedded %s; leave them out", k.Broker.Name)
	}
	if s.Broker.Replicas > nodes {
		report("broker.replicas", "%d replicas need as many nodes; write broker.nodes: %d", s.Broker.Replicas, s.Broker.Replicas)
	}
	b := s.Broker
	for _, access := range []struct{ path, value string }{
		{"user", b.User}, {"password_file", b.PasswordFile}, {"sasl", b.SASL}, {"credentials_file", b.CredentialsFile},
		{"ca_file", b.CAFile}, {"certificate_file", b.CertificateFile}, {"key_file", b.KeyFile},
	} {
		if access.value != "" {
			report("broker."+access.path, "is for a broker of your own: add broker.url, or leave it out")
		}
	}
}

func (s *Scenario) checkExternal(report report) {
	address := s.Broker.Address()
	if strings.Contains(s.Broker.URL, "@") {
		report("broker.url", "a URL with a password in it would end in reports; write user and password_file")
	}
	if k := s.Kind(); !k.Takes(address.Scheme) {
		report("transport", "%s does not go with broker.url: %s://; write a URL with %s", k.Name, address.Scheme, prefixes(k.Schemes))
	}
	s.checkAccess(report, address.TLS)
	if len(s.Faults) > 0 {
		report("faults", "only nodes of an embedded broker can be killed; leave broker.url out")
	}
}

func (s *Scenario) checkAccess(report report, secure bool) {
	b, k := s.Broker, s.Kind()
	switch {
	case b.User != "" && b.PasswordFile == "", b.User == "" && b.PasswordFile != "" && !k.Credentials:
		report("broker.user", "user and password_file go together; give both or none")
	case b.CredentialsFile != "" && !k.Credentials:
		report("broker.credentials_file", "is for NATS; %s takes user and password_file", s.Transport)
	case b.CredentialsFile != "" && b.PasswordFile != "":
		report("broker.credentials_file", "says who the fleet is, and so does password_file; give one of them")
	}
	if b.SASL != "" && (!k.SASL || b.User == "") {
		report("broker.sasl", "is for a Kafka with user and password_file; leave it out")
	}
	if (b.CertificateFile == "") != (b.KeyFile == "") {
		report("broker.certificate_file", "certificate_file and key_file go together; give both or none")
	}
	for _, file := range []struct{ path, value string }{{"ca_file", b.CAFile}, {"certificate_file", b.CertificateFile}} {
		if file.value != "" && !secure {
			report("broker."+file.path, "is of no use without TLS; write a URL with %s", secured())
		}
	}
}

func (s *Scenario) checkSubscribers(report report) {
	if s.Subscribers.Poll.Duration > 0 && !s.Kind().Stores {
		storing := kind.Names(func(k kind.Kind) bool { return k.Stores })
		report("subscribers.poll", "%s only pushes; write 0s, or transport %s", s.Transport, kind.Either(storing))
	}
	if s.Subscribers.Acknowledge != "" && !s.Kind().Confirms {
		confirming := kind.Names(func(k kind.Kind) bool { return k.Confirms })
		report("subscribers.acknowledge", "subscribers of %s cannot; leave it out, or write transport %s", s.Transport, kind.Either(confirming))
	}
	nodes := s.Broker.Nodes
	if s.Broker.URL != "" {
		nodes = len(s.Broker.Address().Hosts)
	}
	if where := s.Subscribers.Node; where != "same" && nodes < 2 {
		report("subscribers.node", "%s needs a second node; write broker.nodes: 2, or same", where)
	}
}

func (o Objective) check(report report, path string) {
	timed := o.Within.Duration > 0
	switch {
	case timed != (o.Share > 0):
		report(path, "within and share go together: {within: 5s, share: 0.995}")
	case !timed && o.MaxLost == nil:
		report(path, "is empty; write {within: 5s, share: 0.995} or {max_lost: 0}")
	}
}

func (s *Scenario) checkFault(report report, i int) {
	fault, path := s.Faults[i], fmt.Sprintf("faults[%d]", i)
	for j, other := range s.Faults[:i] {
		if fault.Node == other.Node && fault.At.Duration <= other.end() && other.At.Duration <= fault.end() {
			report(path, "happens to node %d while faults[%d] does; let the one end before the other begins", fault.Node, j)
		}
	}
	if fault.Node >= s.Broker.Nodes {
		report(path+".node", "there is no node %d; nodes are counted from 0, and broker.nodes is %d", fault.Node, s.Broker.Nodes)
	}
	if fault.At.Duration >= s.Duration.Duration {
		report(path+".at", "%s is after the run's end at %s", fault.At, s.Duration)
	}
	if killed := fault.Action == "kill"; killed != (fault.For.Duration == 0) {
		if killed {
			report(path+".for", "a killed node stays away; leave `for` out, or write action: restart")
		} else {
			report(path+".for", "%s needs a time; write for: 10s", fault.Action)
		}
	}
}

// end is when the fault has passed: never for a node that stays away.
func (f Fault) end() time.Duration {
	if f.Action == "kill" {
		return math.MaxInt64
	}
	return f.At.Duration + f.For.Duration
}
