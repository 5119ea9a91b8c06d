package mqtt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/result"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/mqtt"
	"lifeline/loadgen/transport/transporttest"
)

// start returns host:port of the MQTT listeners of a cluster.
func start(t *testing.T, nodes int, adjust func(*server.Options)) ([]*server.Server, []string) {
	t.Helper()
	options := make([]*server.Options, nodes)
	servers := transporttest.StartNATS(t, nodes, func(node int, o *server.Options) {
		options[node] = o
		o.JetStream = true
		o.MQTT = server.MQTTOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT}
		if adjust != nil {
			adjust(o)
		}
	})
	addresses := make([]string, nodes)
	for i, o := range options { // where the server has entered the port that it got
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", o.MQTT.Port)
	}
	return servers, addresses
}

func open(t *testing.T, addresses []string, acknowledgement string, adjust func(*transport.Settings)) transporttest.Subject {
	t.Helper()
	s := transporttest.Settings(addresses)
	s.Acknowledgement = acknowledgement
	if adjust != nil {
		adjust(&s)
	}
	made, err := mqtt.New(s)
	return transporttest.Of(t, s, made, err)
}

func TestBothQualitiesOfServiceKeepTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	_, addresses := start(t, 1, nil)
	for _, acknowledgement := range []string{"none", "qos1"} {
		t.Run(acknowledgement, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Subject { return open(t, addresses, acknowledgement, nil) })
		})
	}
}

func TestMQTTOnThreeNodesKeepsTheTransportsPromises(t *testing.T) {
	systemtest.Mark(t)
	_, addresses := start(t, 3, nil)
	transporttest.Run(t, func(t *testing.T) transporttest.Subject { return open(t, addresses, "none", nil) })
}

func TestASubscriptionIsThereAgainAfterItsConnectionWasLost(t *testing.T) {
	systemtest.Mark(t)
	servers, addresses := start(t, 1, nil)
	b := transporttest.NewBed(t, open(t, addresses, "none", nil), "a")
	b.Subscribe(0, "a")
	connections, err := servers[0].Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, connection := range connections.Conns {
		if err := servers[0].DisconnectClientByID(connection.Cid); err != nil {
			t.Fatal(err)
		}
	}
	connection := b.Connect(0)
	for end := time.Now().Add(transporttest.Timeout); len(b.Received()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing came over the new connection")
		}
		b.Publish(connection, "a", "x")
	}
}

func TestWrongPasswordsAreRefused(t *testing.T) {
	systemtest.Mark(t)
	_, addresses := start(t, 1, func(o *server.Options) { o.MQTT.Username, o.MQTT.Password = "fleet", "right" })
	for password, cause := range map[string]result.Cause{"wrong": result.Refused, "right": ""} {
		subject := open(t, addresses, "none", func(s *transport.Settings) { s.Login.User, s.Login.Password = "fleet", password })
		connection, err := subject.Transport.Connect(context.Background(), 0)
		var failure *result.Failure
		switch {
		case err == nil && cause == "":
			_ = connection.Close(context.Background())
		case !errors.As(err, &failure) || failure.Cause != cause:
			t.Errorf("password %s: %v", password, err)
		}
	}
}

func TestAnUnknownAcknowledgementIsRefused(t *testing.T) {
	if _, err := mqtt.New(transport.Settings{Servers: []string{"127.0.0.1:1883"}, Acknowledgement: "all"}); err == nil {
		t.Error("MQTT has no acks=all")
	}
}
