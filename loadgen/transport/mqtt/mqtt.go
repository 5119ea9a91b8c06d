// Package mqtt speaks MQTT 3.1.1 with Eclipse Paho, the client that Go programs use, to whatever serves it: nats-server does.
package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kind"
)

const (
	// electionTimeout is how long a cluster may take to get ready; it takes seconds.
	electionTimeout = time.Minute
	// retryPause is between two questions whether it is.
	retryPause = 50 * time.Millisecond
)

// MQTT is served by nats-server, which does not count what it gives to MQTT clients.
var MQTT = kind.Kind{Name: "mqtt", Title: "MQTT on NATS", Broker: kind.NATS, Nodes: []int{1, 2, 3, 4, 5, 6}, OneSided: true,
	Schemes:          []kind.Scheme{{Name: "mqtt", Port: "1883"}, {Name: "mqtts", Port: "8883", TLS: true}},
	Acknowledgements: []string{"none", "qos1"}}

// Transport implements transport.Transport. Every connection and every subscription is an MQTT client with a clean session.
type Transport struct {
	settings transport.Settings
	qos      byte
}

// New connects to nothing yet. The quality of service is 1 where the settings' acknowledgement is "qos1", else 0.
func New(settings transport.Settings) (*Transport, error) {
	if len(settings.Servers) == 0 {
		return nil, errors.New("mqtt: no server to connect to")
	}
	if settings.Poll > 0 {
		return nil, errors.New("mqtt: the broker pushes; use transport jetstream to poll")
	}
	t := &Transport{settings: settings}
	switch settings.Acknowledgement {
	case "qos1":
		t.qos = 1
	case "none", "qos0", "":
	default:
		return nil, fmt.Errorf("mqtt: no acknowledgement %q; it is none or qos1", settings.Acknowledgement)
	}
	return t, nil
}

// Traits of this client.
func (t *Transport) Traits() transport.Traits {
	return transport.Traits{
		Client:       "paho.mqtt.golang " + transport.Version("github.com/eclipse/paho.mqtt.golang"),
		Acknowledges: t.qos > 0,
		Descriptors:  1,
		ClientBytes:  48 << 10,
		BrokerBytes:  64 << 10,
	}
}

// Prepare waits until every node accepts sessions. Topics come into being by their use, but a cluster that has just started
// turns clients away until it has elected who keeps the sessions.
func (t *Transport) Prepare(ctx context.Context, _ []string) error {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	for node := range t.settings.Servers {
		if err := t.awaitSessions(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

func (t *Transport) awaitSessions(ctx context.Context, node int) error {
	for {
		l, err := t.connect(ctx, node, nil, nil)
		if err == nil {
			l.Disconnect(quiesce)
			return nil
		}
		turnedAway := errors.Is(err, packets.ErrorRefusedServerUnavailable) || errors.Is(err, packets.ErrorNetworkError)
		if !turnedAway || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// Remove does nothing: sessions are clean.
func (t *Transport) Remove(context.Context) error { return nil }

func (t *Transport) topic(channel string) string { return "fleet/" + t.settings.Run + "/" + channel }
