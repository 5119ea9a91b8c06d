package transporttest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// Bed is a prepared transport with what a test has received and what was acknowledged.
type Bed struct {
	t       *testing.T
	Subject Subject
	Context context.Context

	mutex         sync.Mutex
	changed       *sync.Cond
	received      []Delivery
	acknowledged  int
	acknowledging []error
}

// Delivery is one message as it came in.
type Delivery struct {
	Message       string
	BeforeReceive int64
	At            int64
}

// NewBed prepares channels; they are removed when the test ends.
func NewBed(t *testing.T, subject Subject, channels ...string) *Bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	t.Cleanup(cancel)
	b := &Bed{t: t, Subject: subject, Context: ctx}
	b.changed = sync.NewCond(&b.mutex)
	if err := subject.Transport.Prepare(ctx, channels); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		defer cancel()
		if err := subject.Transport.Remove(ctx); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	return b
}

// Subscribe lets the bed receive what comes on the channel.
func (b *Bed) Subscribe(node int, channel string) {
	b.t.Helper()
	subscription, err := b.Subject.Transport.Subscribe(b.Context, node, channel, func(message []byte, before int64) {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.received = append(b.received, Delivery{string(message), before, clock.Now()})
		b.changed.Broadcast()
	})
	if err != nil {
		b.t.Fatalf("subscribe: %v", err)
	}
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		defer cancel()
		if err := subscription.Close(ctx); err != nil {
			b.t.Errorf("close the subscription: %v", err)
		}
	})
}

// Connect opens a connection that the end of the test closes.
func (b *Bed) Connect(node int) transport.Connection {
	b.t.Helper()
	connection, err := b.Subject.Transport.Connect(b.Context, node)
	if err != nil {
		b.t.Fatalf("connect: %v", err)
	}
	b.t.Cleanup(func() { _ = connection.Close(b.Context) })
	return connection
}

// Publish sends and fails the test when that fails.
func (b *Bed) Publish(connection transport.Connection, channel, message string) {
	b.t.Helper()
	if err := connection.Publish(channel, []byte(message), b.Acknowledge); err != nil {
		b.t.Fatalf("publish: %v", err)
	}
}

// Acknowledge counts.
func (b *Bed) Acknowledge(_ int64, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.acknowledged++
	if err != nil {
		b.acknowledging = append(b.acknowledging, err)
	}
	b.changed.Broadcast()
}

// Received is what has come in so far.
func (b *Bed) Received() []Delivery {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]Delivery(nil), b.received...)
}

// Await returns what came in as soon as it is count messages, and, where the transport acknowledges, as many
// acknowledgements.
func (b *Bed) Await(count int) []Delivery {
	b.t.Helper()
	acknowledgements := 0
	if b.Subject.Traits.Acknowledges {
		acknowledgements = count
	}
	return b.awaitThat(func() bool { return len(b.received) >= count && b.acknowledged >= acknowledgements },
		fmt.Sprintf("%d messages and %d acknowledgements", count, acknowledgements))
}

// AwaitMessage returns when a message with that content has come, however many others did.
func (b *Bed) AwaitMessage(content string) {
	b.t.Helper()
	b.awaitThat(func() bool {
		return slices.ContainsFunc(b.received, func(d Delivery) bool { return d.Message == content })
	}, "message "+content)
}

// awaitThat asks, with the mutex held, at every change.
func (b *Bed) awaitThat(holds func() bool, what string) []Delivery {
	b.t.Helper()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	late := false
	timer := time.AfterFunc(Timeout, func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		late = true
		b.changed.Broadcast()
	})
	defer timer.Stop()
	for !holds() {
		if late {
			b.t.Fatalf("%d messages and %d acknowledgements came within %v, not %s",
				len(b.received), b.acknowledged, Timeout, what)
		}
		b.changed.Wait()
	}
	return slices.Clone(b.received)
}

// AwaitExactly is Await, and then shows by one more message, sent behind, that there was nothing else.
func (b *Bed) AwaitExactly(count int, connection transport.Connection, channel string) []Delivery {
	b.t.Helper()
	b.Await(count)
	b.Publish(connection, channel, "the last")
	all := b.Await(count + 1)
	if len(all) != count+1 || all[count].Message != "the last" {
		b.t.Fatalf("wrong books: %d messages came, the last %q; expected %d and then %q", len(all), all[len(all)-1].Message, count, "the last")
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, err := range b.acknowledging {
		b.t.Errorf("a message was refused: %v", err)
	}
	if !b.Subject.Traits.Acknowledges && b.acknowledged != 0 {
		b.t.Errorf("%d acknowledgements of a transport that says it has none", b.acknowledged)
	}
	return all[:count]
}
