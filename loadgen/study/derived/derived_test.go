package derived

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestADerivedBatchIsCountedOnce(t *testing.T) {
	s := scenario.Default()
	s.Message.Kind = "batch"
	m := newMeasurement(s, nil, &message.BatchParser{})
	identity := message.Identity{Run: measuredRun, Generator: 7, Sequence: 0, Intended: 5}
	batch, err := message.NewBatch(1, 1).Build(identity)
	if err != nil {
		t.Fatal(err)
	}
	m.sending(identity, len(batch))
	m.derived(batch)
	m.derived(batch)
	m.derived([]byte("something else"))
	want := result.Counts{Connections: s.Generators, Sent: 1, Received: 1, Duplicated: 1, Foreign: 1}
	if m.result.Counts != want || m.rtt.Count() != 1 {
		t.Errorf("got %+v, %d round trips; want %+v", m.result.Counts, m.rtt.Count(), want)
	}
}

func TestOnlyTheFirstRevisionOfAWindowInTheMeasuredSpanIsTimed(t *testing.T) {
	m := &measurement{}
	window := func(field string, revision int, age time.Duration) string {
		return fmt.Sprintf(`{"field":"%s","revision":%d,"window_end_ns":%d}`, field, revision, time.Now().Add(-age).UnixNano())
	}
	m.summary([]byte(window("power", 1, time.Second))) // before anybody knows when the span begins
	m.measureFrom(clock.Now() - int64(time.Hour))
	for _, text := range []string{
		window("power", 1, time.Second),
		window("power", 2, time.Second),
		window("voltage", 1, time.Second),
		window("power", 1, 2*time.Hour),
		`no JSON`,
	} {
		m.summary([]byte(text))
	}
	if got := m.toSummary.Percentile(100); m.toSummary.Count() != 1 || got < int64(time.Second) {
		t.Errorf("%d windows, the slowest after %s", m.toSummary.Count(), time.Duration(got))
	}
}

func TestWithoutTheStreamJobsTheFailureNamesWhatIsMissing(t *testing.T) {
	t.Setenv(SetupVariable, "")
	_, err := startJobs(t.Context(), "nats://127.0.0.1:1", t.TempDir())
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.SetUp {
		t.Errorf("got %v", err)
	}
}
