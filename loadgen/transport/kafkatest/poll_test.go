package kafkatest

import (
	"slices"
	"testing"
	"time"

	"lifeline/loadgen/systemtest"
)

func TestASubscriberThatPollsTakesAllAtItsOwnPace(t *testing.T) {
	systemtest.Mark(t)
	settings := settingsOf(t, three, "leader")
	settings.Poll = 250 * time.Millisecond // in which several messages come, on a busy machine too
	made, _, channel := prepared(t, library, settings)
	box := subscribe(t, made, channel)
	connection := connect(t, made)
	sent := numbered("polled", 40)
	for i := range sent {
		publish(t, connection, channel, sent[i:i+1])
		time.Sleep(10 * time.Millisecond)
	}
	received := box.wait(t, len(sent))
	if !slices.Equal(received, sent) {
		t.Errorf("sent %q, received %q", sent, received)
	}
	if box.arrivals >= len(sent)/2 {
		t.Errorf("%d messages came at %d different times", len(sent), box.arrivals)
	}
	if err := connection.Close(within(t, testTimeout)); err != nil {
		t.Fatal(err)
	}
}
