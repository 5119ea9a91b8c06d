package unharmed

import (
	"os"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

func TestAProgramThatIsSwitchedOffEmitsNothingAndSaysNothing(t *testing.T) {
	for name, settings := range map[string][]string{
		"without a URL": nil,
		"LIFELINE=off":  {"LIFELINE=off", "LIFELINE_URL=nats://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			rings := harness.RingDir(t)
			server := harness.StartCopyServer(t, "remote-copy-plain", nil)
			file := harness.RandomFile(t, 1<<20)
			sender := harness.Start(t, append(settings, "LIFELINE_RING_DIR="+rings), harness.Program(t, "remote-copy"),
				"send", "--to", server.Address, "--json", file)
			if code := sender.Wait(t, time.Minute); code != 0 || sender.Stderr() != "" {
				t.Errorf("exit code %d, stderr %q", code, sender.Stderr())
			}
			if !strings.Contains(sender.Stdout(), `"events_emitted":0}`) {
				t.Errorf("events were emitted: %s", sender.Stdout())
			}
			if left, err := os.ReadDir(rings); err != nil || len(left) != 0 {
				t.Errorf("ring files appeared: %v, %v", left, err)
			}
			server.Has(t, file)
		})
	}
}

func TestEventsReachTheArchiveThroughABrokerWithTLSAndPasswords(t *testing.T) {
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			broker := harness.StartBroker(t, kind, "--tls", "--auth")
			broker.SetUp(t)
			jobs := harness.StartJobs(t, broker)
			settings := append(broker.Settings(), "LIFELINE_RING_DIR="+harness.RingDir(t))
			emitter := harness.StartSerialEmitter(t, settings, t.TempDir(), 0, 1000, 0)
			if code := emitter.Wait(t, time.Minute); code != 0 || emitter.Stderr() != "" {
				t.Fatalf("exit code %d, stderr %q", code, emitter.Stderr())
			}
			jobs.WaitForEvents(t, 1000)
		})
	}
}
