package agent_test

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/agent"
	"lifeline/loadgen/certificates"
	"lifeline/loadgen/child"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/worker"
)

// TestMain lets an agent start this program as its workers.
func TestMain(m *testing.M) {
	child.Play()
	os.Exit(m.Run())
}

const name = "127.0.0.1"

// serve runs an agent until the test ends.
func serve(t *testing.T) (address, credentials string) {
	t.Helper()
	folder := t.TempDir()
	if _, err := certificates.Write(folder, name, "localhost"); err != nil {
		t.Fatal(err)
	}
	return serveWith(t, mutual(t, folder, name), log.New(t.Output(), "", 0)), folder
}

func serveWith(t *testing.T, config *tls.Config, log *log.Logger) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(name, "0"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- agent.Serve(ctx, listener, agent.Options{TLS: config, Dir: t.TempDir(), Log: log}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func mutual(t *testing.T, folder ...string) *tls.Config {
	t.Helper()
	config, err := certificates.Mutual(filepath.Join(folder...))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestOnlyACoordinatorOfTheSameCAIsServed(t *testing.T) {
	systemtest.Mark(t)
	folder, stranger := t.TempDir(), t.TempDir()
	for _, folder := range []string{folder, stranger} {
		if _, err := certificates.Write(folder, name, "localhost"); err != nil {
			t.Fatal(err)
		}
	}
	lines := make(lines, 100)
	address := serveWith(t, mutual(t, folder, name), log.New(lines, "", 0))
	coordinator := mutual(t, folder, certificates.Coordinator)
	nobody := &tls.Config{RootCAs: coordinator.RootCAs}
	impostor := mutual(t, stranger, certificates.Coordinator)
	impostor.RootCAs = coordinator.RootCAs // it trusts the agent
	old := coordinator.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for _, c := range []struct {
		who    string
		config *tls.Config
		says   string // the agent
	}{
		{"without a certificate", nobody, "client didn't provide a certificate"},
		{"with another CA's", impostor, "certificate signed by unknown authority"},
		{"with an agent's certificate", mutual(t, folder, name), "incompatible key usage"},
		{"that does not know the agent", mutual(t, stranger, certificates.Coordinator), "bad certificate"},
		{"with an old TLS", old, "unsupported versions"},
	} {
		if client, err := agent.Dial(t.Context(), address, c.config); err == nil {
			client.Dismiss()
			t.Errorf("a coordinator %s is served", c.who)
		} else if !strings.Contains(err.Error(), address) {
			t.Errorf("a coordinator %s: %v", c.who, err)
		}
		lines.await(t, c.says)
	}
	other := serveWith(t, mutual(t, folder, "localhost"), log.New(t.Output(), "", 0))
	if _, err := agent.Dial(t.Context(), other, coordinator); err == nil || !strings.Contains(err.Error(), "cannot validate certificate for "+name) {
		t.Errorf("an agent with another host's certificate: %v", err)
	}
	client, err := agent.Dial(t.Context(), address, coordinator)
	if err != nil {
		t.Fatal(err)
	}
	client.Dismiss()
}

// lines are what a logger writes.
type lines chan string

// await reads up to a line with the text: a client may have tried more than once.
func (l lines) await(t *testing.T, text string) {
	t.Helper()
	for patience := time.After(time.Minute); ; {
		select {
		case line := <-l:
			if strings.Contains(line, text) {
				return
			}
		case <-patience:
			t.Fatalf("no line has %q", text)
		}
	}
}

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestOneCoordinatorAtATimeIsServed(t *testing.T) {
	systemtest.Mark(t)
	address, folder := serve(t)
	config := mutual(t, folder, certificates.Coordinator)
	first, err := agent.Dial(t.Context(), address, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Dial(t.Context(), address, config); err == nil || !strings.Contains(err.Error(), "serves another coordinator") {
		t.Errorf("a second coordinator: %v", err)
	}
	first.Dismiss()
	second, err := agent.Dial(t.Context(), address, config)
	if err != nil {
		t.Fatal(err)
	}
	second.Dismiss()
}

func TestTheSameMachinesClockIsNotAhead(t *testing.T) {
	systemtest.Mark(t)
	address, folder := serve(t)
	client, err := agent.Dial(t.Context(), address, mutual(t, folder, certificates.Coordinator))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Dismiss()
	for range 20 {
		offset, err := client.Offset(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if max(offset.Nanos, -offset.Nanos) > offset.Error || offset.Error > int64(10*time.Second) {
			t.Errorf("%+v", offset)
		}
	}
}

func TestAWorkersEndIsReportedWithItsLog(t *testing.T) {
	systemtest.Mark(t)
	address, folder := serve(t)
	client, err := agent.Dial(t.Context(), address, mutual(t, folder, certificates.Coordinator))
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan crew.Said, 10)
	if err := client.Hire(2, func(s crew.Said) { said <- s }); err != nil {
		t.Fatal(err)
	}
	if err := client.Order(1, worker.Order{Connect: true}); err != nil { // which is no job
		t.Fatal(err)
	}
	if got := <-said; got.Member != 1 || got.Err == nil || !strings.Contains(got.Log, "the first order was no job") {
		t.Errorf("%+v", got)
	}
	client.Dismiss()
	if got := <-said; got.Member != 0 || got.Err == nil {
		t.Errorf("%+v", got)
	}
}

func TestAnAddressOfAnotherMachineIsRefused(t *testing.T) {
	if err := agent.CheckSources([]string{"127.0.0.1", "127.0.0.2"}); err != nil {
		t.Error(err)
	}
	for _, source := range []string{"192.0.2.1", "host.example"} {
		if err := agent.CheckSources([]string{source}); err == nil || !strings.Contains(err.Error(), source) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
