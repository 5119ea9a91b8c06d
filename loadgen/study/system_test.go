package study

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lifeline/loadgen/child"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

func TestMain(m *testing.M) {
	child.Play() // workers and broker nodes are this program again
	os.Exit(m.Run())
}

func TestARealPointIsMeasuredTwiceAndTakenTogether(t *testing.T) {
	systemtest.Mark(t)
	out := t.TempDir()
	const generators = 20
	options := Options{Out: out, Form: Form{Runs: 2}, Only: []string{"table2-nats"}, Log: io.Discard,
		Runners: only(func(ctx context.Context, s scenario.Scenario) (Measured, error) {
			s.Generators, s.Interval.Duration, s.InitialSleep.To.Duration, s.Duration.Duration = generators, 100*time.Millisecond, 0, time.Second
			found, err := run.Run(ctx, s, run.Options{})
			return Measured{Result: found}, err
		})}
	if err := Measure(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(filepath.Join(out, DataFolder, "table2-nats.json"))
	if err != nil || len(r.Runs) != 2 || r.Broke() {
		t.Fatalf("%v, %d runs, %v", err, len(r.Runs), r.Failure)
	}
	sent, timed := uint64(0), int64(0)
	for _, each := range r.used() {
		timed += each.Times.RTT.Count
	}
	for _, each := range r.Runs {
		sent += each.Counts.Sent
	}
	if r.Counts.Sent != sent || sent < 2*generators || r.Counts.Received != sent || r.Times.RTT.Count != timed || r.Broker.After.In < int64(sent) {
		t.Errorf("%d sent in the runs; together %+v, %d times, broker %+v", sent, r.Counts, r.Times.RTT.Count, r.Broker.After)
	}
	if err := WritePages(out); err != nil {
		t.Error(err)
	}
}
