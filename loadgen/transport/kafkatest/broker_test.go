package kafkatest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/login"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/worker"
)

// testTimeout bounds every wait: four JVMs on two loaded cores are slow.
const testTimeout = 3 * time.Minute

// kafka is what tests share, because it takes seconds to start.
type kafka struct {
	settings transport.Settings
	cluster  broker.Cluster
	access   scenario.Broker // as an external broker
	err      error
}

// stops are run when all tests have.
var stops []func() error

var (
	three     = sync.OnceValue(startThree)
	protected = sync.OnceValue(startProtected)
)

// startThree starts the embedded three nodes of a fleet.
func startThree() *kafka {
	if err := systemtest.InstallKafka(); err != nil {
		return &kafka{err: err}
	}
	folder, err := os.MkdirTemp("", "lifeline-kafkatest-")
	if err != nil {
		return &kafka{err: err}
	}
	stops = append(stops, func() error { return os.RemoveAll(folder) })
	s := scenario.Default()
	s.Transport, s.Generators, s.Broker = "kafka", 100, scenario.Broker{Nodes: 3, Replicas: 3}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	cluster, err := broker.Start(ctx, s, folder)
	if err != nil {
		return &kafka{err: err}
	}
	stops = append(stops, func() error { return cluster.Close(context.Background()) })
	return &kafka{cluster: cluster, settings: transport.Settings{Servers: cluster.Servers(), Replicas: 3, Run: "test", Dialer: dialer()}}
}

func dialer() transport.Dialer { return dial.New(1, 10*time.Second) }

// startProtected starts a broker that wants passwords, over TLS.
func startProtected() *kafka {
	folder, err := os.MkdirTemp("", "lifeline-kafkatest-")
	if err != nil {
		return &kafka{err: err}
	}
	stops = append(stops, func() error { return os.RemoveAll(folder) })
	if err := script("start", "kafka", "--dir", folder, "--tls", "--auth", "--owner", strconv.Itoa(os.Getpid())); err != nil {
		return &kafka{err: err}
	}
	stops = append(stops, func() error { return script("stop", "--dir", folder) })
	access, err := readAccess(folder)
	if err != nil {
		return &kafka{err: err}
	}
	// From here on it is an external broker.
	s := scenario.Default()
	s.Transport, s.Broker = "kafka", access
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	cluster, err := broker.Start(ctx, s, folder)
	if err != nil {
		return &kafka{err: err}
	}
	who, err := login.Of(access)
	if err != nil {
		return &kafka{err: err}
	}
	target := worker.Target{Servers: cluster.Servers(), TLS: cluster.TLS(), Login: who, Replicas: 1, Run: "test"}
	settings, err := target.Settings(s, dialer())
	return &kafka{cluster: cluster, access: access, settings: settings, err: err}
}

func script(arguments ...string) error {
	command := exec.Command("../../../scripts/broker", arguments...)
	command.Stderr = os.Stderr
	return command.Run()
}

// readAccess reads what scripts/broker wrote for clients.
func readAccess(directory string) (scenario.Broker, error) {
	var access scenario.Broker
	text, err := os.ReadFile(filepath.Join(directory, "broker.env"))
	if err != nil {
		return access, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		switch key, value, _ := strings.Cut(line, "="); key {
		case "LIFELINE_URL":
			access.URL = value
		case "LIFELINE_USER":
			access.User = value
		case "LIFELINE_PASSWORD_FILE":
			access.PasswordFile = value
		case "LIFELINE_TLS_CA":
			access.CAFile = value
		}
	}
	return access, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range slices.Backward(stops) {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// settingsOf starts the broker when it is the first to ask.
func settingsOf(t *testing.T, start func() *kafka, acknowledgement string) transport.Settings {
	t.Helper()
	k := start()
	if k.err != nil {
		t.Fatalf("Kafka could not be started: %v", k.err)
	}
	settings := k.settings
	settings.Acknowledgement = acknowledgement
	return settings
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}
