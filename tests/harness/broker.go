package harness

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lostBytes is what a broker loses in a power failure.
const lostBytes = 30_000

// Brokers are the supported brokers.
var Brokers = []string{"nats", "kafka"}

// Broker is a private broker on a loopback port, with its data in a directory of the test.
type Broker struct {
	Kind string
	URL  string            // without credentials and without parameters
	Env  map[string]string // what scripts/broker wrote for its clients

	dir     string
	options []string
}

// StartBroker starts a broker with the options of scripts/broker, as --tls, --mtls and --auth.
func StartBroker(t T, kind string, options ...string) *Broker {
	t.Helper()
	broker := &Broker{Kind: kind, dir: t.TempDir(), options: options}
	broker.Restart(t)
	t.Cleanup(func() { Run(t, testTimeout, nil, Script("broker"), "stop", "--dir", broker.dir) })
	return broker
}

// Restart starts it again after Kill: same port, same data.
func (b *Broker) Restart(t T) {
	t.Helper()
	arguments := []string{"start", b.Kind, "--dir", b.dir, "--owner", strconv.Itoa(os.Getpid())}
	Run(t, testTimeout, nil, Script("broker"), append(arguments, b.options...)...)
	text, err := os.ReadFile(filepath.Join(b.dir, "broker.env"))
	if err != nil {
		t.Fatalf("scripts/broker left no broker.env: %v", err)
	}
	b.Env = map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if key, value, found := strings.Cut(line, "="); found {
			b.Env[key] = value
		}
	}
	b.URL = b.Env["LIFELINE_BROKER_URL"]
}

// Kill sends SIGKILL.
func (b *Broker) Kill(t T) {
	t.Helper()
	Run(t, testTimeout, nil, Script("broker"), "kill", "--dir", b.dir)
}

// LoseTail removes the last bytes of the newest file with batches from a broker that was killed, as a power failure does with
// what was not synced, and NATS's index, which would know that there were more: it writes that without a sync.
func (b *Broker) LoseTail(t T) {
	t.Helper()
	pattern := map[string]string{
		"nats":  "data/jetstream/$G/streams/LIFELINE/msgs/*.blk",
		"kafka": "data/lifeline.batches-*/*.log",
	}[b.Kind]
	files, _ := filepath.Glob(filepath.Join(b.dir, pattern))
	newest, size, changed := "", int64(0), time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 && info.ModTime().After(changed) {
			newest, size, changed = file, info.Size(), info.ModTime()
		}
	}
	if newest == "" {
		t.Fatalf("the broker has no file %s", pattern)
	}
	if err := os.Truncate(newest, size-min(size/2, lostBytes)); err != nil {
		t.Fatalf("cannot cut off the end of a broker's file: %v", err)
	}
	os.Remove(filepath.Join(filepath.Dir(newest), "index.db"))
}

// SetUp creates the streams and topics with lifeline-setup.
func (b *Broker) SetUp(t T) {
	t.Helper()
	Run(t, testTimeout, b.Settings(), Program(t, "lifeline-setup"), "--url", b.Env["LIFELINE_URL"])
}

// Settings are the environment variables that an emitter needs to reach this broker.
func (b *Broker) Settings() []string {
	var settings []string
	for _, key := range []string{"LIFELINE_URL", "LIFELINE_TLS_CA", "LIFELINE_TLS_CERT", "LIFELINE_TLS_KEY", "LIFELINE_USER",
		"LIFELINE_PASSWORD_FILE", "LIFELINE_NATS_CREDS"} {
		if value, found := b.Env[key]; found {
			settings = append(settings, key+"="+value)
		}
	}
	return settings
}

// EmitterSettings are those of the user with an emitter's minimal permissions, on a broker with --auth.
func (b *Broker) EmitterSettings() []string {
	return append(b.Settings(), "LIFELINE_USER="+b.Env["LIFELINE_EMITTER_USER"],
		"LIFELINE_PASSWORD_FILE="+b.Env["LIFELINE_EMITTER_PASSWORD_FILE"])
}
