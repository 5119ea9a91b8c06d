package harness

import (
	"encoding/json"
	"strings"
)

// Recovered is what one lifeline-recover says that it did.
type Recovered struct {
	Files         int64 `json:"files"`
	BatchesResent int64 `json:"batches_resent"`
	EventsResent  int64 `json:"events_resent"`
	EventsNew     int64 `json:"events_new"`
}

// StartRecover starts a lifeline-recover of the given build on a ring directory, and on a spool if there is one.
func StartRecover(t T, program string, settings []string, rings, spool string) *Process {
	t.Helper()
	arguments := []string{"--ring-dir", rings, "--json"}
	if spool != "" {
		arguments = append(arguments, "--spool", spool)
	}
	return Start(t, settings, program, arguments...)
}

// RecoveredBy waits for a lifeline-recover, and returns its totals and exit code. One that was killed has none.
func RecoveredBy(t T, recovery *Process) (Recovered, int) {
	t.Helper()
	code := recovery.Wait(t, testTimeout)
	var totals Recovered
	lines := strings.Split(strings.TrimSpace(recovery.Stdout()), "\n")
	if code <= 1 {
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &totals); err != nil {
			t.Fatalf("lifeline-recover's last line is %q: %v", lines[len(lines)-1], err)
		}
	}
	return totals, code
}
