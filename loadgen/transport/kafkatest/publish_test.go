// Package kafkatest holds both Kafka clients to the same promises, on a real broker.
package kafkatest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kafkalib"
	"lifeline/loadgen/transport/kafkawire"
	"lifeline/loadgen/transport/transporttest"
)

// client is one of the two, as transports.Open makes them.
type client struct {
	name string
	open func(transport.Settings) (transport.Transport, transport.Traits, error)
	acks []string
}

var library = client{
	name: "library",
	open: func(settings transport.Settings) (transport.Transport, transport.Traits, error) {
		made, err := kafkalib.New(settings)
		if err != nil {
			return nil, transport.Traits{}, err
		}
		return made, made.Traits(), nil
	},
	acks: []string{"none", "leader", "all", "idempotent", "transaction"},
}

var minimal = client{
	name: "minimal",
	open: func(settings transport.Settings) (transport.Transport, transport.Traits, error) {
		made, err := kafkawire.New(settings)
		if err != nil {
			return nil, transport.Traits{}, err
		}
		return made, made.Traits(), nil
	},
	acks: []string{"none", "leader", "all"},
}

var clients = []client{library, minimal}

// channels get names of their own: a test may run several times on one broker.
var channels atomic.Uint32

// prepared opens the client and makes a channel, which is removed after the test.
func prepared(t *testing.T, c client, settings transport.Settings) (transport.Transport, transport.Traits, string) {
	t.Helper()
	made, traits, err := c.open(settings)
	if err != nil {
		t.Fatal(err)
	}
	channel := fmt.Sprintf("%d", channels.Add(1))
	if err := made.Prepare(within(t, testTimeout), []string{channel}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return made, traits, channel
}

// inbox keeps what a subscription delivers.
type inbox struct {
	mutex    sync.Mutex
	messages []string
	last     int64 // before receiving
	arrivals int   // different ones of these
	notify   chan struct{}
}

func newInbox() *inbox { return &inbox{notify: make(chan struct{}, 1)} }

func (b *inbox) deliver(message []byte, beforeReceive int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if beforeReceive != b.last {
		b.arrivals++
	}
	b.messages, b.last = append(b.messages, string(message)), beforeReceive
	select {
	case b.notify <- struct{}{}:
	default:
	}
}

// wait returns what has come when it is as much as was asked for.
func (b *inbox) wait(t *testing.T, count int) []string {
	t.Helper()
	timeout := time.After(testTimeout)
	for {
		b.mutex.Lock()
		messages := slices.Clone(b.messages)
		b.mutex.Unlock()
		if len(messages) >= count {
			return messages
		}
		select {
		case <-b.notify:
		case <-timeout:
			t.Fatalf("%d of %d messages have arrived: %v", len(messages), count, messages)
		}
	}
}

func subscribe(t *testing.T, from transport.Transport, channel string) *inbox {
	t.Helper()
	box := newInbox()
	subscription, err := from.Subscribe(within(t, testTimeout), 0, channel, box.deliver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := subscription.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return box
}

func connect(t *testing.T, to transport.Transport) transport.Connection {
	t.Helper()
	connection, err := to.Connect(within(t, testTimeout), 0)
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

// outcomes count acknowledged and failed messages.
type outcomes struct {
	mutex        sync.Mutex
	acknowledged int
	errors       []error
	at           int64
}

func (b *outcomes) acknowledge(at int64, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.acknowledged++
	b.at = at
	if err != nil {
		b.errors = append(b.errors, err)
	}
}

func publish(t *testing.T, connection transport.Connection, channel string, messages []string) *outcomes {
	t.Helper()
	kept := &outcomes{}
	for _, message := range messages {
		bytes := []byte(message)
		if err := connection.Publish(channel, bytes, kept.acknowledge); err != nil {
			t.Fatal(err)
		}
		clear(bytes) // they are ours again
	}
	return kept
}

func numbered(prefix string, count int) []string {
	messages := make([]string, count)
	for i := range messages {
		messages[i] = fmt.Sprintf("%s %d", prefix, i)
	}
	return messages
}

func TestEveryAcknowledgementDeliversInOrderAndIsCalledOncePerMessage(t *testing.T) {
	systemtest.Mark(t)
	for _, c := range clients {
		for _, acks := range c.acks {
			t.Run(c.name+"/"+acks, func(t *testing.T) {
				t.Parallel()
				made, traits, channel := prepared(t, c, settingsOf(t, three, acks))
				if traits.Durable { // else nobody knows when it is in all copies, which is when it counts as there
					early := connect(t, made)
					publish(t, early, channel, []string{"before anyone listened"})
					if err := early.Close(within(t, testTimeout)); err != nil {
						t.Fatal(err)
					}
				}
				box := subscribe(t, made, channel)
				connection := connect(t, made)
				sent, before := numbered(acks, 20), clock.Now()
				kept := publish(t, connection, channel, sent)
				received := box.wait(t, len(sent))
				if err := connection.Close(within(t, testTimeout)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(received, sent) {
					t.Errorf("sent %q, received %q", sent, received)
				}
				if after := clock.Now(); box.last < before || box.last > after {
					t.Errorf("received at %d, which is not between %d and %d", box.last, before, after)
				}
				want := len(sent)
				if acks == "none" {
					want = 0
				}
				if kept.acknowledged != want || len(kept.errors) > 0 {
					t.Errorf("%d acknowledgements instead of %d, errors %v", kept.acknowledged, want, kept.errors)
				}
				if traits.Acknowledges != (acks != "none") || traits.Blocks != (acks == "transaction") {
					t.Errorf("traits are %+v", traits)
				}
			})
		}
	}
}

func TestBothClientsKeepWhatEveryTransportPromises(t *testing.T) {
	systemtest.Mark(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Subject {
				settings := settingsOf(t, three, "leader")
				settings.Run = fmt.Sprint("promises", channels.Add(1))
				made, traits, err := c.open(settings)
				if err != nil {
					t.Fatal(err)
				}
				return transporttest.Subject{Transport: made, Traits: traits, Nodes: len(settings.Servers)}
			})
		})
	}
}

func TestWhatKafkaDoesNotOfferIsRefusedWithTheChoice(t *testing.T) {
	systemtest.Mark(t)
	for _, c := range clients {
		_, _, err := c.open(transport.Settings{Servers: []string{"127.0.0.1:9092"}, Acknowledgement: "qos1"})
		if err == nil || !strings.Contains(err.Error(), "leader") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
