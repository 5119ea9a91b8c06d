package natswire_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/natsproto"
	"lifeline/loadgen/transport/natswire"
	"lifeline/loadgen/transport/transporttest"
)

func open(t *testing.T, s transport.Settings) transporttest.Subject {
	t.Helper()
	made, err := natswire.New(s)
	return transporttest.Of(t, s, made, err)
}

func TestTheMinimalClientOnThreeNodesKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 3, nil))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject { return open(t, transporttest.Settings(servers)) })
}

func TestTheMinimalClientOverTLSKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	certificates := transporttest.NewCertificates(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, o *server.Options) { o.TLSConfig = certificates.Server })
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		s := transporttest.Settings(transporttest.Addresses(servers))
		s.TLS = certificates.Client
		return open(t, s)
	})
}

func TestAPublisherAndASubscriberMoveToAnotherNodeWhenTheirOwnDies(t *testing.T) {
	systemtest.Mark(t)
	transporttest.ConnectionsMove(t, open)
}

func TestPingsAreAnswered(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, o *server.Options) { o.PingInterval, o.MaxPingsOut = 60*time.Millisecond, 9 })
	b := transporttest.NewBed(t, open(t, transporttest.Settings(transporttest.Addresses(servers))), "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	before, err := servers[0].Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// By then the server has asked thirty times, and would have hung up after ten.
	time.Sleep(1800 * time.Millisecond)
	after, err := servers[0].Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, connection := range before.Conns {
		if len(after.Conns) <= i || after.Conns[i].Cid != connection.Cid {
			t.Fatal("the server gave a connection up")
		}
	}
	b.Publish(connection, "a", "x")
	b.Await(1)
}

func TestAServerIsFoundByItsName(t *testing.T) {
	systemtest.Mark(t)
	transporttest.NamesAreFound(t, open)
}

func TestWhatTheServerRefusesIsNamed(t *testing.T) {
	systemtest.Mark(t)
	transporttest.RefusalsAreNamed(t, open)
}

func TestAMessageThatIsTooLongForTheServerIsNotSent(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, o *server.Options) { o.MaxPayload = 1000 })
	b := transporttest.NewBed(t, open(t, transporttest.Settings(transporttest.Addresses(servers))), "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	if err := connection.Publish("a", make([]byte, 1001), nil); err == nil {
		t.Error("it was sent")
	}
	b.Publish(connection, "a", "x")
	b.AwaitExactly(1, connection, "a")
}

func TestPublishingDoesNotWaitForAServerThatDoesNotRead(t *testing.T) {
	greeted := make(chan net.Conn, 1)
	address := greetingServer(t, greeted)
	connection, err := open(t, transporttest.Settings([]string{address})).Transport.Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	message := bytes.Repeat([]byte("x"), 64<<10)
	sent := 0
	for ; err == nil && sent < 10_000; sent++ {
		err = connection.Publish("a", message, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Fatalf("640 MB went to a server that does not read: %v", err)
	}
	// What Publish took has left whole, as soon as there is room; the one that failed has not even begun.
	frames := natsproto.NewReader(<-greeted, nil, nil)
	for range sent - 1 {
		frame, err := frames.Next()
		if err != nil || frame.Verb != "PUB" || !bytes.Equal(frame.Payload, message) {
			t.Fatalf("%s with %d bytes, %v", frame.Verb, len(frame.Payload), err)
		}
	}
	end := time.Now().Add(transporttest.Timeout)
	for err = connection.Publish("a", []byte("last"), nil); err != nil; err = connection.Publish("a", []byte("last"), nil) {
		if time.Now().After(end) {
			t.Fatalf("the server reads, and still: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
	if frame, err := frames.Next(); err != nil || string(frame.Payload) != "last" {
		t.Errorf("%.10q came behind, %v", frame.Payload, err)
	}
}

// greetingServer accepts one connection, answers to the handshake and then reads nothing.
func greetingServer(t *testing.T, greeted chan<- net.Conn) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(connection, "INFO {}\r\n")
		lines := bufio.NewReader(connection)
		for line := ""; line != "PING\r\n"; {
			if line, err = lines.ReadString('\n'); err != nil {
				return
			}
		}
		fmt.Fprint(connection, "PONG\r\n")
		greeted <- connection
	}()
	return listener.Addr().String()
}

func TestEveryLoginOpensItsDoorOnly(t *testing.T) {
	systemtest.Mark(t)
	transporttest.LoginsOpenTheirDoors(t, open)
}
