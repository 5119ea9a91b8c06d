package host

import (
	"strings"
	"testing"

	"lifeline/loadgen/result"
)

// quiet is within every limit.
var quiet = result.Noise{HiccupP998: 300_000, HiccupMax: 900_000_000, Others: 0.1, Steal: 0.001, RunQueueWait: 12_000}

func lateness(p99, p998 int64) result.Distribution {
	return result.Distribution{Count: 1000, Percentiles: []result.Percentile{{Percent: 99, Value: p99}, {Percent: 99.8, Value: p998}}}
}

func TestEachGaugeBeyondItsLimitGivesASentence(t *testing.T) {
	if got := Judge(quiet, lateness(200_000, 4_000_000)); got != nil {
		t.Errorf("a quiet run is invalid: %q", got)
	}
	loud := result.Noise{
		HiccupP998: 8_000_000, Others: 0.5, Steal: 0.2, RunQueueWait: 450_000,
		Busiest: []result.Process{{Name: "postgres", ID: 12, Cores: 0.31}, {Name: "java", ID: 77, Cores: 0.12}},
	}
	got := Judge(loud, lateness(200_000, 20_000_000))
	for i, words := range []string{"other processes used 0.50 cores (limit 0.15", "hypervisor", "woke 8ms late in 2 of 1,000 cases on the worst core",
		"waited 450µs for a core", "20ms late in 2 of 1,000"} {
		if i >= len(got) || !strings.Contains(got[i], words) {
			t.Errorf("no sentence says %q: %q", words, got)
		}
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "postgres") || strings.Contains(all, "process 12") {
		t.Errorf("a reason, which is published, names a process: %s", all)
	}
}

func TestAGaugeThatWasNotReadIsAReason(t *testing.T) {
	unread := quiet
	unread.Unseen = []string{"could not read a gauge: nobody knows whether"}
	if got := Judge(unread, lateness(1, 1)); len(got) != 1 || got[0] != unread.Unseen[0] {
		t.Errorf("%q", got)
	}
	if got := Judge(quiet, result.Distribution{}); len(got) != 1 || !strings.Contains(got[0], "lateness was not measured") {
		t.Errorf("%q", got)
	}
}
