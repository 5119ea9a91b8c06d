package unharmed

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// One broker with TLS and passwords, on which one thing after the other is wrong, and in the end nothing.
func TestWithABrokerThatAsksForTLSAndPasswords(t *testing.T) {
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			broker := harness.StartBroker(t, kind, "--tls", "--auth")
			with := func(settings ...string) []string { return append(broker.Settings(), settings...) }

			t.Run("a program whose stream does not exist runs on", func(t *testing.T) {
				expectUnharmed(t, "lifeline-setup", with("LIFELINE_FLUSH_TIMEOUT_MS=5000")...)
			})
			broker.SetUp(t)
			t.Run("a program with the wrong password runs on", func(t *testing.T) {
				wrong := filepath.Join(t.TempDir(), "password")
				if err := os.WriteFile(wrong, []byte(secret+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				expectUnharmed(t, "(?i)auth|credentials", with("LIFELINE_PASSWORD_FILE="+wrong)...)
			})
			t.Run("a program that does not trust the broker runs on", func(t *testing.T) {
				expectUnharmed(t, "(?i)certificate", with("LIFELINE_TLS_CA=/etc/ssl/certs/ca-certificates.crt")...)
			})
			t.Run("events of a program with the right settings reach the archive", func(t *testing.T) {
				jobs := harness.StartJobs(t, broker)
				settings := with("LIFELINE_RING_DIR=" + harness.RingDir(t))
				emitter := harness.StartSerialEmitter(t, settings, t.TempDir(), 0, 1000, 0)
				if code := emitter.Wait(t, time.Minute); code != 0 || emitter.Stderr() != "" {
					t.Fatalf("exit code %d, stderr %q", code, emitter.Stderr())
				}
				jobs.WaitForEvents(t, 1000)
			})
		})
	}
}
