package broker_test

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/transporttest"
)

func TestTheAccountsOwnFiguresAreReadWhereTheMonitorIsOutOfReach(t *testing.T) {
	systemtest.Mark(t)
	theirs := start(t, scenario.Scenario{Transport: "nats-tls"})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, theirs.TLS().CA, 0o600); err != nil {
		t.Fatal(err)
	}
	url := "tls://" + theirs.Servers()[0]
	ours := start(t, scenario.Scenario{Transport: "nats-tls", Broker: scenario.Broker{URL: url, CAFile: ca}})
	before := count(t, ours)
	const messages = 100
	exchange(t, url, url, messages, nats.RootCAs(ca))
	after := count(t, ours)
	if in, out := after.In-before.In, after.Out-before.Out; in != messages || out != messages {
		t.Errorf("the broker reports %d messages in and %d out, want %d each", in, out, messages)
	}
	if !strings.HasPrefix(after.Name, "NATS 2.") {
		t.Errorf("the broker is %q, want NATS", after.Name)
	}
	awaitConnections(t, ours, 2)
}

// awaitConnections counts again: a busy server notices late that the connection of an earlier count was closed.
func awaitConnections(t *testing.T, cluster broker.Cluster, want int64) {
	t.Helper()
	var found int64
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if found = count(t, cluster).Connections; found == want {
			return
		}
	}
	t.Errorf("the broker reports %d connections, want %d", found, want)
}

func TestSomebodyElsesBrokerIsLeftAlone(t *testing.T) {
	systemtest.Mark(t)
	theirs := start(t, scenario.Scenario{Transport: "nats"})
	ours := start(t, scenario.Scenario{Transport: "nats", Broker: scenario.Broker{URL: "nats://" + theirs.Servers()[0]}})
	for what, err := range map[string]error{
		"kill": ours.Kill(0), "stop": ours.Stop(0), "continue": ours.Continue(0), "start": ours.Start(t.Context(), 0),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := ours.Close(t.Context()); err != nil {
		t.Error(err)
	}
	connect(t, "nats://"+theirs.Servers()[0])
}

func TestABrokerThatDoesNotAnswerIsNamedAtOnce(t *testing.T) {
	systemtest.Mark(t)
	theirs := start(t, scenario.Scenario{Transport: "nats"})
	server := theirs.Servers()[0]
	if err := theirs.Kill(0); err != nil {
		t.Fatal(err)
	}
	_, err := broker.Start(t.Context(), scenario.Scenario{Broker: scenario.Broker{URL: "nats://" + server}}, t.TempDir())
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.Refused || !strings.Contains(failure.Message, server) {
		t.Errorf("the error is %v", err)
	}
}

func TestABrokerThatWantsACertificateIsShownOne(t *testing.T) {
	systemtest.Mark(t)
	certificates := transporttest.NewCertificates(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, options *server.Options) {
		options.TLSConfig = certificates.Server
		options.TLSConfig.ClientAuth, options.TLSConfig.ClientCAs = tls.RequireAndVerifyClientCert, certificates.Client.RootCAs
	})
	access := scenario.Broker{URL: "tls://" + transporttest.Addresses(servers)[0], CAFile: certificates.Certificate}
	if name := count(t, start(t, scenario.Scenario{Transport: "nats-tls", Broker: access})).Name; name != "NATS" {
		t.Errorf("a fleet without a certificate was told that the broker is %q", name)
	}
	access.CertificateFile, access.KeyFile = certificates.Certificate, certificates.Key
	if name := count(t, start(t, scenario.Scenario{Transport: "nats-tls", Broker: access})).Name; !strings.HasPrefix(name, "NATS 2.") {
		t.Errorf("with a certificate the broker is %q", name)
	}
}

func TestConnectionsOfAnAccountAreCountedOnAllServersOfACluster(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 3, nil))
	ours := start(t, scenario.Scenario{Transport: "nats", Broker: scenario.Broker{URL: "nats://" + strings.Join(servers, ",")}})
	for _, server := range servers {
		connect(t, "nats://"+server)
	}
	awaitConnections(t, ours, 3)
}

func TestWhatTheRunsStreamHoldsIsToldWithoutAMonitor(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, options *server.Options) { options.JetStream = true })
	url := "nats://" + transporttest.Addresses(servers)[0]
	stream, err := jetstream.New(connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	const messages = 5
	for _, name := range []string{"fleet-test", "fleet-another", "others"} {
		if _, err := stream.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
			t.Fatal(err)
		}
		for range messages {
			if _, err := stream.Publish(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := start(t, scenario.Scenario{Transport: "jetstream", Broker: scenario.Broker{URL: url}})
	if stored := count(t, ours).Stored; stored != messages {
		t.Errorf("%d messages are stored, want %d", stored, messages)
	}
}
