package unharmed

import (
	"os"
	"path/filepath"
	"testing"

	"lifeline/tests/harness"
)

func TestWithANATSServerThatAsksForSignedCredentials(t *testing.T) {
	harness.System(t)
	broker := harness.StartNATSWithAccounts(t)
	broker.SetUp(t)

	t.Run("a program without them runs on", func(t *testing.T) {
		expectUnharmed(t, "(?i)auth|credentials", "LIFELINE_URL="+broker.URL)
	})
	t.Run("a program with a file that holds none runs on", func(t *testing.T) {
		empty := filepath.Join(t.TempDir(), "user.creds")
		if err := os.WriteFile(empty, []byte("nothing\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		expectUnharmed(t, "(?i)credentials", "LIFELINE_URL="+broker.URL, "LIFELINE_NATS_CREDS="+empty)
	})
	t.Run("events of a program with them reach the archive", func(t *testing.T) {
		jobs := harness.StartJobs(t, broker, "summarise", "ledger")
		settings := append(broker.Settings(), "LIFELINE_RING_DIR="+harness.MemoryDir(t))
		emitter := harness.StartSerialEmitter(t, settings, t.TempDir(), 0, 1000, 0)
		if code := emitter.Wait(t, limit); code != 0 || emitter.Stderr() != "" {
			t.Fatalf("exit code %d, stderr %q", code, emitter.Stderr())
		}
		jobs.WaitForEvents(t, 1000)
	})
}
