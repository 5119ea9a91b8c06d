package transporttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
)

// Settings are those of a run of its own.
func Settings(servers []string) transport.Settings {
	return transport.Settings{
		Servers: servers, Dialer: dial.New(2, 5*time.Second), Run: nuid.Next(), Replicas: 1, Acknowledgement: "none",
	}
}

// Of is what a transport's New returned, under test.
func Of[T interface {
	transport.Transport
	Traits() transport.Traits
}](t testing.TB, s transport.Settings, made T, err error) Subject {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Transport: made, Traits: made.Traits(), Nodes: len(s.Servers)}
}

// Open makes the transport of one client for NATS.
type Open func(t *testing.T, s transport.Settings) Subject

// NamesAreFound fails the test of a client that knows its servers by address only.
func NamesAreFound(t *testing.T, open Open) {
	t.Helper()
	address := Addresses(StartNATS(t, 1, nil))[0]
	s := Settings([]string{strings.Replace(address, "127.0.0.1", "localhost", 1)})
	connection, err := open(t, s).Transport.Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = connection.Close(context.Background())
}

// ConnectionsMove fails the test of a client that does not go to another node when its own dies.
func ConnectionsMove(t *testing.T, open Open) {
	t.Helper()
	servers := StartNATS(t, 3, nil)
	b := NewBed(t, open(t, Settings(Addresses(servers))), "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	b.Publish(connection, "a", "before")
	b.Await(1)
	servers[0].Shutdown()
	// Core NATS loses what the dying node had; what comes after the clients have noticed must arrive.
	for end := time.Now().Add(Timeout); len(b.Received()) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connections never came back")
		}
		_ = connection.Publish("a", []byte("after"), nil) // may fail while there is no server
	}
}

// LoginsOpenTheirDoors fails the test of a client that cannot show one of the things that a server may want to see.
func LoginsOpenTheirDoors(t *testing.T, open Open) {
	t.Helper()
	for name, door := range Doors(t) {
		t.Run(name, func(t *testing.T) {
			s := Settings(Addresses(StartNATS(t, 1, door.Adjust)))
			if _, err := open(t, s).Transport.Connect(context.Background(), 0); err == nil {
				t.Error("a connection without a login was accepted")
			}
			s.Login = door.Login
			b := NewBed(t, open(t, s), "a")
			b.Subscribe(0, "a")
			b.Publish(b.Connect(0), "a", "x")
			b.Await(1)
		})
	}
}

// RefusalsAreNamed fails the test of a client that does not tell what a server forbids: to come in, to subscribe, to publish.
func RefusalsAreNamed(t *testing.T, open Open) {
	t.Helper()
	servers := StartNATS(t, 1, func(_ int, o *server.Options) {
		o.Users = []*server.User{{Username: "fleet", Password: "right", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Deny: []string{"fleet.>"}},
			Subscribe: &server.SubjectPermission{Deny: []string{"fleet.*.denied"}},
		}}}
	})
	s := Settings(Addresses(servers))
	s.Login.User, s.Login.Password = "fleet", "wrong"
	s.Servers = append(s.Servers, DeadAddress(t)) // whose silence must not hide the other's words
	_, err := open(t, s).Transport.Connect(context.Background(), 0)
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.Refused || !contains(err, "authorization") {
		t.Errorf("a wrong password: %v", err)
	}
	s.Servers, s.Login.Password = s.Servers[:1], "right"
	subject := open(t, s)
	_, err = subject.Transport.Subscribe(context.Background(), 0, "denied", func([]byte, int64) {})
	if !contains(err, "permissions violation") {
		t.Errorf("a forbidden subscription: %v", err)
	}
	connection, err := subject.Transport.Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	for end := time.Now().Add(Timeout); err == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a forbidden publish was never reported")
		}
		err = connection.Publish("a", []byte("x"), nil)
	}
	if !contains(err, "permissions violation") {
		t.Errorf("a forbidden publish: %v", err)
	}
}

func contains(err error, words string) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), words)
}
