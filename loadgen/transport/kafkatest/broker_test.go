package kafkatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
)

// kafka is a private broker; the tests of a package share it, because it takes seconds to start.
type kafka struct {
	directory string
	settings  transport.Settings
	err       error
}

func (k *kafka) script(arguments ...string) error {
	command := exec.Command("../../../scripts/broker", append(arguments, "--dir", k.directory)...)
	command.Stderr = os.Stderr
	return command.Run()
}

func startKafka(options ...string) func() *kafka {
	return sync.OnceValue(func() *kafka {
		k := &kafka{}
		k.directory, k.err = os.MkdirTemp("", "lifeline-kafkatest-")
		if k.err == nil {
			started = append(started, k)
			k.err = k.script(append([]string{"start", "kafka", "--owner", strconv.Itoa(os.Getpid())}, options...)...)
		}
		if k.err == nil {
			k.settings, k.err = readSettings(k.directory)
		}
		return k
	})
}

// readSettings reads what scripts/broker wrote for clients.
func readSettings(directory string) (transport.Settings, error) {
	settings := transport.Settings{Run: "test", Replicas: 1, Dialer: dial.New(1, 10*time.Second)}
	text, err := os.ReadFile(filepath.Join(directory, "broker.env"))
	if err != nil {
		return settings, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, "=")
		var content []byte
		switch key {
		case "LIFELINE_BROKER_URL":
			settings.Servers = []string{strings.TrimPrefix(value, "kafka://")}
		case "LIFELINE_USER":
			settings.User = value
		case "LIFELINE_PASSWORD_FILE":
			content, err = os.ReadFile(value)
			settings.Password = strings.TrimSpace(string(content))
		case "LIFELINE_TLS_CA":
			content, err = os.ReadFile(value)
			settings.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
			settings.TLS.RootCAs.AppendCertsFromPEM(content)
		}
		if err != nil {
			return settings, err
		}
	}
	return settings, nil
}

var (
	started   []*kafka
	plain     = startKafka()
	protected = startKafka("--tls", "--auth")
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, k := range started {
		if err := k.script("stop"); err != nil {
			code = 1
		}
		os.RemoveAll(k.directory)
	}
	os.Exit(code)
}

// settingsOf starts the broker when it is the first to ask.
func settingsOf(t *testing.T, broker func() *kafka, acknowledgement string) transport.Settings {
	t.Helper()
	k := broker()
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
