package transports_test

import (
	"testing"
	"time"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transports"
)

func TestEveryScenarioThatComesWithTheProgramHasItsTransport(t *testing.T) {
	for _, name := range scenario.BuiltIn() {
		s, err := scenario.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		_, traits, err := transports.Open(transport.Settings{
			Servers: []string{"127.0.0.1:1"}, Dialer: dial.New(1, time.Second), Run: "test",
			Acknowledgement: string(s.Ack), Replicas: s.Broker.Replicas, Poll: s.Subscribers.Poll.Duration,
		}, &s)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case traits.Client == "" || traits.Descriptors < 1 || traits.ClientBytes < 1 || traits.BrokerBytes < 1:
			t.Errorf("%s: the preflight learns nothing from %+v", name, traits)
		case traits.Acknowledges != (s.Ack != "none"):
			t.Errorf("%s: acknowledgement %q, and the transport says %t", name, s.Ack, traits.Acknowledges)
		}
	}
}

func TestATransportThatIsNotThereIsAnError(t *testing.T) {
	settings := transport.Settings{Servers: []string{"127.0.0.1:1"}}
	for _, s := range []scenario.Scenario{{Transport: "udp", Client: "library"}, {Transport: "jetstream", Client: "minimal"}} {
		if _, _, err := transports.Open(settings, &s); err == nil {
			t.Errorf("there is a transport %s with client %s", s.Transport, s.Client)
		}
	}
}
