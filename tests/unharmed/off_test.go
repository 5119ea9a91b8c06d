package unharmed

import (
	"os"
	"strings"
	"testing"

	"lifeline/tests/harness"
)

func TestAProgramThatIsSwitchedOffEmitsNothingAndSaysNothing(t *testing.T) {
	harness.System(t)
	for name, settings := range map[string][]string{
		"without a URL": nil,
		"LIFELINE=off":  {"LIFELINE=off", "LIFELINE_URL=nats://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			rings := harness.MemoryDir(t)
			server := harness.StartCopyServer(t, "remote-copy-plain", nil)
			file := harness.RandomFile(t, 1<<20)
			sender := harness.Start(t, append(settings, "LIFELINE_RING_DIR="+rings), harness.Program(t, "remote-copy"),
				"send", "--to", server.Address, "--json", file)
			if code := sender.Wait(t, limit); code != 0 || sender.Stderr() != "" {
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
