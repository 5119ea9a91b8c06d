package unharmed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifeline/tests/harness"
)

// Of two programs, one without the key: its batches are refused, and those of the other arrive.
func TestJobsThatHaveKeysTakeSignedBatchesAlone(t *testing.T) {
	harness.System(t)
	t.Parallel()
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			broker := harness.StartBroker(t, kind)
			broker.SetUp(t)
			key := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(key, []byte(strings.Repeat("5e", 32)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			settings := append(broker.Settings(), "LIFELINE_RING_DIR="+harness.MemoryDir(t))
			stranger := harness.StartSerialEmitter(t, settings, t.TempDir(), 1, 1000, 0)
			ours := harness.StartSerialEmitter(t, append(settings, "LIFELINE_SIGNING_KEY_FILE="+key), t.TempDir(), 0, 2000, 0)
			for _, emitter := range []*harness.SerialEmitter{stranger, ours} {
				if code := emitter.Wait(t, limit); code != 0 || emitter.Stderr() != "" {
					t.Fatalf("exit code %d, stderr %q", code, emitter.Stderr())
				}
			}
			broker.Env["LIFELINE_SIGNING_KEY_FILE"] = key
			jobs := harness.StartJobs(t, broker, "ledger")
			jobs.WaitForEvents(t, 2000)
			if runs := harness.Query(t, jobs.Archive, `SELECT DISTINCT run FROM "test.serial"`); len(runs) != 1 || runs[0]["run"] != "0" {
				t.Errorf("the archive holds runs %v", runs)
			}
		})
	}
}
