package natswire_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/natsproto"
	"lifeline/loadgen/transport/natstest"
	"lifeline/loadgen/transport/natswire"
	"lifeline/loadgen/transport/transporttest"
)

func settings(servers []string) transport.Settings {
	return transport.Settings{Servers: servers, Dialer: dial.New(2, 5*time.Second), Run: nuid.Next()}
}

func open(t *testing.T, s transport.Settings) transporttest.Subject {
	t.Helper()
	made, err := natswire.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return transporttest.Subject{Transport: made, Traits: made.Traits(), Nodes: len(s.Servers)}
}

func TestTheMinimalClientOnThreeNodesKeepsTheTransportsPromises(t *testing.T) {
	servers := natstest.Addresses(natstest.Start(t, 3, nil))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject { return open(t, settings(servers)) })
}

func TestTheMinimalClientOverTLSKeepsTheTransportsPromises(t *testing.T) {
	certificates := natstest.NewCertificates(t)
	servers := natstest.Start(t, 1, func(_ int, o *server.Options) { o.TLSConfig = certificates.Server })
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		s := settings(natstest.Addresses(servers))
		s.TLS = certificates.Client
		return open(t, s)
	})
}

func TestAPublisherAndASubscriberMoveToAnotherNodeWhenTheirOwnDies(t *testing.T) {
	servers := natstest.Start(t, 3, nil)
	subject := open(t, settings(natstest.Addresses(servers)))
	b := transporttest.NewBed(t, subject, "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	b.Publish(connection, "a", "before")
	b.Await(1)
	servers[0].Shutdown()
	for end := time.Now().Add(transporttest.Patience); len(b.Received()) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connections never came back")
		}
		_ = connection.Publish("a", []byte("after"), nil) // fails while there is no server
	}
}

func TestPingsAreAnswered(t *testing.T) {
	servers := natstest.Start(t, 1, func(_ int, o *server.Options) { o.PingInterval, o.MaxPingsOut = 20*time.Millisecond, 2 })
	b := transporttest.NewBed(t, open(t, settings(natstest.Addresses(servers))), "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	before, err := servers[0].Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// By then the server has asked ten times, and would have hung up after two.
	time.Sleep(200 * time.Millisecond)
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

func TestWhatTheServerRefusesIsNamed(t *testing.T) {
	servers := natstest.Start(t, 1, func(_ int, o *server.Options) {
		o.Users = []*server.User{{Username: "fleet", Password: "right", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Deny: []string{"fleet.>"}},
			Subscribe: &server.SubjectPermission{Deny: []string{"fleet.*.denied"}},
		}}}
	})
	s := settings(natstest.Addresses(servers))
	s.User, s.Password = "fleet", "wrong"
	_, err := open(t, s).Transport.Connect(context.Background(), 0)
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.Refused || !strings.Contains(err.Error(), "Authorization") {
		t.Errorf("a wrong password: %v", err)
	}
	s.Password = "right"
	subject := open(t, s)
	if _, err := subject.Transport.Subscribe(context.Background(), 0, "denied", func([]byte, int64) {}); err == nil ||
		!strings.Contains(err.Error(), "Permissions Violation") {
		t.Errorf("a forbidden subscription: %v", err)
	}
	connection, err := subject.Transport.Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	for end := time.Now().Add(transporttest.Patience); err == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a forbidden publish was never reported")
		}
		err = connection.Publish("a", []byte("x"), nil)
	}
	if !strings.Contains(err.Error(), "Permissions Violation") {
		t.Errorf("a forbidden publish: %v", err)
	}
}

func TestAMessageThatIsTooLongForTheServerIsNotSent(t *testing.T) {
	servers := natstest.Start(t, 1, func(_ int, o *server.Options) { o.MaxPayload = 1000 })
	b := transporttest.NewBed(t, open(t, settings(natstest.Addresses(servers))), "a")
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
	connection, err := open(t, settings([]string{address})).Transport.Connect(context.Background(), 0)
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
	for err = connection.Publish("a", []byte("last"), nil); err != nil; err = connection.Publish("a", []byte("last"), nil) {
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

func TestACredentialsFileOpensTheDoor(t *testing.T) {
	file, adjust := natstest.Credentials(t)
	servers := natstest.Start(t, 1, adjust)
	s := settings(natstest.Addresses(servers))
	if _, err := open(t, s).Transport.Connect(context.Background(), 0); err == nil {
		t.Error("a connection without credentials was accepted")
	}
	s.CredentialsFile = file
	b := transporttest.NewBed(t, open(t, s), "a")
	b.Subscribe(0, "a")
	b.Publish(b.Connect(0), "a", "x")
	b.Await(1)
}
