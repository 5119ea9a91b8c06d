// Package transporttest holds every transport to what package transport promises, and clients of NATS to what nats-server asks of
// them. A transport's own tests start a broker and call Run.
package transporttest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// Timeout bounds every wait of the suite.
const Timeout = time.Minute

// Subject is a transport under test, prepared for nothing yet, with servers that run.
type Subject struct {
	Transport transport.Transport
	Traits    transport.Traits
	Nodes     int
}

// Run holds one transport to the promises. open makes a new one with a Run id of its own.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, promise := range map[string]func(*testing.T, Subject){
		"every message arrives once, whole and in order":         everyMessageArrivesOnceAndInOrder,
		"a message belongs to the caller again after Publish":    messagesAreCopied,
		"a subscription sees its own channel only":               channelsAreApart,
		"a pooled connection is published to by many goroutines": pooledConnections,
		"closing a connection loses nothing":                     closingLosesNothing,
		"what is published on any node arrives at any other":     nodesAreOneNetwork,
		"arrivals are stamped between sending and delivery":      arrivalsAreStamped,
	} {
		t.Run(name, func(t *testing.T) { promise(t, open(t)) })
	}
}

func everyMessageArrivesOnceAndInOrder(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	// Longer than any read buffer of the minimal clients, so that messages lie across its end.
	const count = 1000
	for i := range count {
		b.Publish(connection, "a", numbered(i, 100+i%300))
	}
	for i, message := range b.AwaitExactly(count, connection, "a") {
		if message.Message != numbered(i, 100+i%300) {
			t.Fatalf("message %d is %.20q", i, message.Message)
		}
	}
}

func numbered(i, length int) string { return fmt.Sprintf("%0*d", length, i) }

func messagesAreCopied(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	buffer := make([]byte, 200)
	for i := range 50 {
		copy(buffer, numbered(i, len(buffer)))
		if err := connection.Publish("a", buffer, b.Acknowledge); err != nil {
			t.Fatal(err)
		}
		clear(buffer)
	}
	for i, message := range b.AwaitExactly(50, connection, "a") {
		if message.Message != numbered(i, len(buffer)) {
			t.Fatalf("message %d was changed after it had been published: %.20q", i, message.Message)
		}
	}
}

func channelsAreApart(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a", "b")
	b.Subscribe(0, "b")
	connection := b.Connect(0)
	if err := connection.Publish("a", []byte("not for b"), func(int64, error) {}); err != nil {
		t.Fatal(err)
	}
	b.Publish(connection, "b", "for b")
	if all := b.AwaitExactly(1, connection, "b"); all[0].Message != "for b" {
		t.Errorf("%q came on channel b", all[0].Message)
	}
}

func pooledConnections(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	const publishers, each = 8, 50
	var group sync.WaitGroup
	for p := range publishers {
		group.Go(func() {
			for i := range each {
				if err := connection.Publish("a", []byte(numbered(p*each+i, 64)), b.Acknowledge); err != nil {
					t.Errorf("publish: %v", err)
				}
			}
		})
	}
	group.Wait()
	seen := map[string]int{}
	for _, message := range b.AwaitExactly(publishers*each, connection, "a") {
		seen[message.Message]++
	}
	for i := range publishers * each {
		if seen[numbered(i, 64)] != 1 {
			t.Errorf("wrong books: message %d came %d times", i, seen[numbered(i, 64)])
		}
	}
}

func closingLosesNothing(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	for i := range 10 {
		connection := b.Connect(0)
		b.Publish(connection, "a", numbered(i, 64))
		if err := connection.Close(b.Context); err != nil {
			t.Fatalf("close: %v", err)
		}
		if err := connection.Publish("a", []byte("too late"), b.Acknowledge); err == nil {
			t.Fatal("a closed connection still publishes")
		}
	}
	b.AwaitExactly(10, b.Connect(0), "a")
}

func nodesAreOneNetwork(t *testing.T, subject Subject) {
	for to := range subject.Nodes {
		channel := fmt.Sprintf("to%d", to)
		b := NewBed(t, subject, channel)
		b.Subscribe(to, channel)
		var connection transport.Connection
		for from := range subject.Nodes {
			// The very first message of a connection must arrive, hence no warming up.
			connection = b.Connect(from)
			b.Publish(connection, channel, numbered(from, 64))
			b.Await(from + 1)
		}
		b.AwaitExactly(subject.Nodes, connection, channel)
	}
}

func arrivalsAreStamped(t *testing.T, subject Subject) {
	b := NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	before := clock.Now()
	b.Publish(connection, "a", "x")
	if message := b.Await(1)[0]; message.BeforeReceive <= before || message.BeforeReceive > message.At {
		t.Errorf("before receiving is %d ns after sending, delivery %d", message.BeforeReceive-before, message.At-before)
	}
}
