package natslib_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/transporttest"
)

func open(t *testing.T, s transport.Settings, options natslib.Options) transporttest.Subject {
	t.Helper()
	made, err := natslib.New(s, options)
	return transporttest.Of(t, s, made, err)
}

func openCore(t *testing.T, s transport.Settings) transporttest.Subject {
	return open(t, s, natslib.Options{})
}

func TestCoreNATSOnThreeNodesKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 3, nil))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject { return openCore(t, transporttest.Settings(servers)) })
}

func TestJetStreamKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 1, withJetStream))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		return open(t, transporttest.Settings(servers), natslib.Options{JetStream: true})
	})
}

func TestJetStreamOnThreeNodesKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 3, withJetStream))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		s := transporttest.Settings(servers)
		s.Replicas = 3
		return open(t, s, natslib.Options{JetStream: true})
	})
}

func TestPollingKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.Addresses(transporttest.StartNATS(t, 1, withJetStream))
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		s := transporttest.Settings(servers)
		s.Poll = 20 * time.Millisecond
		return open(t, s, natslib.Options{JetStream: true})
	})
}

func TestPollingCoreNATSIsRefused(t *testing.T) {
	s := transporttest.Settings([]string{"127.0.0.1:4222"})
	s.Poll = time.Second
	if _, err := natslib.New(s, natslib.Options{}); err == nil {
		t.Error("core NATS keeps nothing, yet it can be polled")
	}
}

func TestTLSAndWebSocketKeepTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	certificates := transporttest.NewCertificates(t)
	for name, webSocket := range map[string]bool{"TLS": false, "WebSocket over TLS": true} {
		t.Run(name, func(t *testing.T) {
			servers := transporttest.StartNATS(t, 1, func(_ int, o *server.Options) {
				o.TLSConfig = certificates.Server
				o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, TLSConfig: certificates.Server}
			})
			transporttest.Run(t, func(t *testing.T) transporttest.Subject {
				s := transporttest.Settings(transporttest.Addresses(servers))
				if webSocket {
					s.Servers = transporttest.WebSocketAddresses(t, servers)
				}
				s.TLS = certificates.Client
				return open(t, s, natslib.Options{WebSocket: webSocket})
			})
		})
	}
}

func TestPlainWebSocketKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 1, func(_ int, o *server.Options) {
		o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true}
	})
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		return open(t, transporttest.Settings(transporttest.WebSocketAddresses(t, servers)), natslib.Options{WebSocket: true})
	})
}

func TestAStreamSurvivesTheDeathOfANode(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 3, withJetStream)
	s := transporttest.Settings(transporttest.Addresses(servers))
	s.Replicas = 3
	b := transporttest.NewBed(t, open(t, s, natslib.Options{JetStream: true}), "a")
	b.Subscribe(1, "a")
	connection := b.Connect(0)
	b.Publish(connection, "a", "before")
	b.Await(1)
	servers[2].Shutdown()
	for i := range 3 {
		b.Publish(connection, "a", fmt.Sprintf("after %d", i))
		b.Await(2 + i)
	}
	b.AwaitExactly(4, connection, "a")
}

func withJetStream(_ int, o *server.Options) { o.JetStream = true }

func TestAConnectionGoesToTheNodeThatWasAskedForOrNowhere(t *testing.T) {
	systemtest.Mark(t)
	servers := transporttest.StartNATS(t, 1, nil)
	dead := transporttest.DeadAddress(t)
	subject := openCore(t, transporttest.Settings([]string{dead, servers[0].Addr().String()}))
	if _, err := subject.Transport.Connect(context.Background(), 0); err == nil {
		t.Error("a connection to a dead node was made, so to another one")
	}
	if _, err := subject.Transport.Connect(context.Background(), 1); err != nil {
		t.Errorf("the living node: %v", err)
	}
}

func TestAPublisherAndASubscriberMoveToAnotherNodeWhenTheirOwnDies(t *testing.T) {
	systemtest.Mark(t)
	transporttest.ConnectionsMove(t, openCore)
}

func TestAServerIsFoundByItsName(t *testing.T) {
	systemtest.Mark(t)
	transporttest.NamesAreFound(t, openCore)
}

func TestWhatTheServerRefusesIsNamed(t *testing.T) {
	systemtest.Mark(t)
	transporttest.RefusalsAreNamed(t, openCore)
}

func TestEveryLoginOpensItsDoorOnly(t *testing.T) {
	systemtest.Mark(t)
	transporttest.LoginsOpenTheirDoors(t, openCore)
}
