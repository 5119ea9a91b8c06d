package natslib_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/transporttest"
)

func TestAStreamThatCanNeverBeIsRefusedAtOnce(t *testing.T) {
	systemtest.Mark(t)
	for name, one := range map[string]struct {
		adjust   func(int, *server.Options)
		replicas int
	}{
		"no JetStream":                  {nil, 1},
		"three replicas on a lone node": {withJetStream, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := transporttest.Settings(transporttest.Addresses(transporttest.StartNATS(t, 1, one.adjust)))
			s.Login.User, s.Login.Password, s.Replicas = "fleet", "p", one.replicas
			err := open(t, s, natslib.Options{JetStream: true}).Transport.Prepare(context.Background(), nil)
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Prepare ended with %v, not with what the server says", err)
			}
		})
	}
}

func TestWhatWasPreparedHalfWayIsRemoved(t *testing.T) {
	systemtest.Mark(t)
	node := transporttest.StartNATS(t, 1, withJetStream)[0].Addr().String()
	s := transporttest.Settings([]string{node, transporttest.DeadAddress(t)})
	transport := open(t, s, natslib.Options{JetStream: true}).Transport
	if err := transport.Prepare(context.Background(), nil); err == nil {
		t.Fatal("it was prepared on a node that is not there")
	}
	if err := transport.Remove(context.Background()); err != nil {
		t.Error(err)
	}
	if names := streams(t, node); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestAStreamIsRemovedThoughTheFirstNodeIsDead(t *testing.T) {
	systemtest.Mark(t)
	nodes := transporttest.StartNATS(t, 3, withJetStream)
	s := transporttest.Settings(transporttest.Addresses(nodes))
	s.Replicas = 3
	transport := open(t, s, natslib.Options{JetStream: true}).Transport
	if err := transport.Prepare(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	nodes[0].Shutdown()
	if err := transport.Remove(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestASubscriberAcknowledgesWhereItIsAskedTo(t *testing.T) {
	systemtest.Mark(t)
	node := transporttest.StartNATS(t, 1, withJetStream)[0]
	s := transporttest.Settings([]string{node.Addr().String()})
	s.Confirm = true
	b := transporttest.NewBed(t, open(t, s, natslib.Options{JetStream: true}), "a")
	b.Subscribe(0, "a")
	connection := b.Connect(0)
	for i := range 3 {
		b.Publish(connection, "a", fmt.Sprint(i))
	}
	b.AwaitExactly(3, connection, "a") // and one more behind them
	acknowledged := func() (all uint64) {
		state, err := node.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Consumer: true, Config: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, account := range state.AccountDetails {
			for _, stream := range account.Streams {
				for _, consumer := range stream.Consumer {
					if consumer.Config.AckPolicy == server.AckExplicit {
						all += consumer.AckFloor.Consumer
					}
				}
			}
		}
		return all
	}
	for deadline := time.Now().Add(transporttest.Timeout); acknowledged() != 4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of 4 messages were acknowledged", acknowledged())
		}
	}
}

func streams(t *testing.T, node string) []string {
	t.Helper()
	connection, err := nats.Connect(node, nats.Timeout(transporttest.Timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	js, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	listed := js.StreamNames(context.Background())
	for name := range listed.Name() {
		names = append(names, name)
	}
	if err := listed.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
