package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/report"
	"lifeline/loadgen/systemtest"
)

func TestRunsMadeApartAreMergedIntoOne(t *testing.T) {
	systemtest.Mark(t)
	n := newNetwork(t, map[string][]string{"broker": {"10.77.0.1"}, "one": {"10.77.0.3"}, "other": {"10.77.0.4"}})
	n.start("broker", 0, natsRole).await(t, "ready")
	folder := t.TempDir()
	// A busy machine is late; then both begin later.
	for ahead := 10 * time.Second; !runBoth(n, folder, time.Now().Add(ahead)); ahead *= 3 {
		if ahead > 5*time.Minute {
			t.Fatal("both are always late")
		}
	}
	out := filepath.Join(folder, "both")
	paths := []string{filepath.Join(folder, "one"), filepath.Join(folder, "other")}
	if code, text := printed(t, append([]string{"merge", "--out", out}, paths...)...); code != 0 || !strings.Contains(text, "connections=22 ") {
		t.Errorf("exit code %d: %s", code, text)
	}
	merged, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	var sent, trips uint64
	for _, path := range paths {
		r, err := report.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		sent, trips = sent+r.Counts.Sent, trips+uint64(r.Times.RTT.Count)
		for _, trip := range r.Slowest {
			if int(trip.Generator) < r.First || int(trip.Generator) >= r.First+r.Scenario.Generators {
				t.Errorf("%s has a generator %d", path, trip.Generator)
			}
		}
		// what is sent before the span is warm-up: both have nearly the span's messages
		if expected := int64(4 * r.Scenario.Generators); r.Times.RTT.Count < expected-int64(r.Scenario.Generators) || r.Times.RTT.Count > expected+int64(r.Scenario.Generators) {
			t.Errorf("%s measured %d round trips, not about %d", path, r.Times.RTT.Count, expected)
		}
	}
	if c := merged.Counts; c.Sent != sent || uint64(merged.Times.RTT.Count) != trips || c.Received != sent || len(merged.Hosts) != 2 {
		t.Errorf("%+v of %d sent, %d round trips of %d", c, sent, merged.Times.RTT.Count, trips)
	}
	if code, text := printed(t, "merge", "--out", out, paths[0], paths[0]); code != 1 || !strings.Contains(text, "generator 0") {
		t.Errorf("a run with itself: exit code %d, %s", code, text)
	}
}

// runBoth makes two runs apart whose measured spans begin at the given time; false where one of them is late.
func runBoth(n network, folder string, at time.Time) bool {
	n.t.Helper()
	options := []string{"run", "--url", "nats://10.77.0.1", "--interval", "500ms", "--set", "initial_sleep=[0s, 500ms]", "--duration", "2s",
		"--repeat", "0", "--start-at", at.Format(time.RFC3339)}
	one := n.start("one", 0, append(slices.Clone(options), "--generators", "10", "--out", filepath.Join(folder, "one"))...)
	other := n.start("other", 7_000, append(slices.Clone(options), "--generators", "12", "--first", "10", "--out", filepath.Join(folder, "other"))...)
	defer func() { _, _ = one.process.Kill(), other.process.Kill() }() // the one that is not late
	for _, run := range []*program{one, other} {
		if code := run.exitCode(); strings.Contains(run.said(), "the measured span cannot begin") {
			return false
		} else if code != 0 {
			n.t.Fatalf("exit code %d: %s", code, run.said())
		}
	}
	return true
}

func TestRunsOfDifferentScenariosAreNotMerged(t *testing.T) {
	systemtest.Mark(t)
	folder := t.TempDir()
	for name, interval := range map[string]string{"one": "1s", "other": "2s"} {
		code, text := ran(t, "run", "--generators", "2", "--interval", interval, "--set", "initial_sleep=[0s, 0s]", "--duration", "2s",
			"--out", filepath.Join(folder, name), "--repeat", "0")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, text)
		}
	}
	code, text := printed(t, "merge", "--out", filepath.Join(folder, "both"), filepath.Join(folder, "one"), filepath.Join(folder, "other"))
	if code != 1 || !strings.Contains(text, "interval is 1s, 2s") || strings.Contains(text, "generators") {
		t.Errorf("exit code %d: %s", code, text)
	}
}

func TestASpanThatCannotBeginInTimeIsRefused(t *testing.T) {
	systemtest.Mark(t)
	code, text := ran(t, "run", "--generators", "2", "--set", "initial_sleep=[0s, 0s]", "--duration", "1s", "--out", t.TempDir(),
		"--start-at", "2026-11-21T18:30:00Z")
	if code != 1 || !strings.Contains(text, "the measured span cannot begin at 2026-11-21T18:30:00Z") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if code, text := printed(t, "run", "demo", "--start-at", "noon"); code != 2 || !strings.Contains(text, "write 18:30:00") {
		t.Errorf("exit code %d: %s", code, text)
	}
}

// ran is printed for what starts processes.
func ran(t *testing.T, arguments ...string) (code int, text string) {
	t.Helper()
	command := (&fleet{temp: t.TempDir()}).program(arguments...)
	output, _ := command.CombinedOutput()
	return command.ProcessState.ExitCode(), string(output)
}
