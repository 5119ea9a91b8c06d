package transports_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/kind"
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

func TestTheReadmeNamesEveryTransportWithItsAcknowledgements(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "| `transport`, ")
	row, _, _ := strings.Cut(rest, "\n")
	for _, k := range kind.All() {
		if !strings.Contains(row, "`"+k.Name+"`") {
			t.Errorf("the table of keys lacks %s", k.Name)
		}
		for _, offered := range k.Acknowledgements {
			if len(k.Acknowledgements) > 1 && !strings.Contains(row, "`"+offered+"`") {
				t.Errorf("the table of keys lacks %s of %s", offered, k.Name)
			}
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
