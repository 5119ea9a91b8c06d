package stored

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/transporttest"
)

// filled is a stream with so many messages, asked over a connection of its own.
func filled(t *testing.T, messages int) *stream {
	t.Helper()
	nodes := transporttest.StartNATS(t, 1, func(_ int, options *server.Options) { options.JetStream = true })
	a, err := openStream(transporttest.Addresses(nodes)[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	s := a.(*stream)
	if _, err := s.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "fleet", Subjects: []string{"fleet.>"}}); err != nil {
		t.Fatal(err)
	}
	for number := range messages {
		if _, err := s.js.Publish(t.Context(), "fleet.one", []byte{byte(number)}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestTheLatestMessageIsTheLastPublished(t *testing.T) {
	systemtest.Mark(t)
	s := filled(t, 5)
	newest, err := s.latest(t.Context())
	if err != nil || len(newest) != 1 || newest[0] != 4 {
		t.Errorf("got %v, %v", newest, err)
	}
}

func TestAnEmptyStreamHasNoLatestMessage(t *testing.T) {
	systemtest.Mark(t)
	if newest, err := filled(t, 0).latest(t.Context()); !errors.Is(err, errNothing) {
		t.Errorf("got %v, %v", newest, err)
	}
}

func TestTheHistoryIsAllSinceItsBeginning(t *testing.T) {
	systemtest.Mark(t)
	s := filled(t, 5)
	if _, err := s.latest(t.Context()); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[time.Duration]int{-time.Minute: 5, time.Minute: 0} {
		if read, err := s.history(t.Context(), time.Now().Add(from)); err != nil || read != want {
			t.Errorf("from %s: %d messages, %v; want %d", from, read, err, want)
		}
	}
}

func TestOnlyQueriesWhollyWithinTheMeasuredSpanAreTimed(t *testing.T) {
	var measured span
	if measured.holds(1, 2) {
		t.Error("timed before anybody knew what is measured")
	}
	measured.set(10, 20)
	for times, want := range map[[2]int64]bool{{9, 11}: false, {10, 20}: true, {19, 21}: false} {
		if measured.holds(times[0], times[1]) != want {
			t.Errorf("%v in 10 to 20: not %t", times, want)
		}
	}
	if measured.set(10, 15); measured.holds(14, 16) {
		t.Error("timed after the run was cut short")
	}
}
