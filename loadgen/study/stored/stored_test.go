package stored

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/message"
	"lifeline/loadgen/transport/natstest"
)

// filled is a stream with so many messages, asked over a connection of its own.
func filled(t *testing.T, messages int) *stream {
	t.Helper()
	nodes := natstest.Start(t, 1, func(_ int, options *server.Options) { options.JetStream = true })
	a, err := openStream(natstest.Addresses(nodes)[0])
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
	s := filled(t, 5)
	newest, err := s.latest(t.Context())
	if err != nil || len(newest) != 1 || newest[0] != 4 {
		t.Errorf("got %v, %v", newest, err)
	}
}

func TestAnEmptyStreamHasNoLatestMessage(t *testing.T) {
	if newest, err := filled(t, 0).latest(t.Context()); !errors.Is(err, errNothing) {
		t.Errorf("got %v, %v", newest, err)
	}
}

func TestTheLastMessageIsNotOldBecauseNoneComesAfterIt(t *testing.T) {
	var a ages
	for _, answer := range []struct {
		sequence uint32
		age      time.Duration
	}{{1, time.Millisecond}, {1, time.Second}, {2, 2 * time.Millisecond}, {2, 100 * time.Second}, {2, 110 * time.Second}} {
		a.record(message.Identity{Sequence: answer.sequence}, int64(answer.age))
	}
	if d := a.recorder.Distribution(); d.Count != 3 || time.Duration(d.Max).Round(time.Second/10) != time.Second {
		t.Errorf("%d ages up to %v; want those of 1 ms, 1 s and 2 ms", d.Count, time.Duration(d.Max))
	}
}

func TestTheHistoryIsAllSinceItsBeginning(t *testing.T) {
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
