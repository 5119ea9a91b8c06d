// Package mqtt speaks MQTT 3.1.1 with Eclipse Paho, the client that Go programs use, to whatever serves it: nats-server does.
package mqtt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"lifeline/loadgen/transport"
)

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
		Client:       "paho.mqtt.golang" + version(),
		Acknowledges: t.qos > 0,
		Descriptors:  1,
		ClientBytes:  48 << 10,
		BrokerBytes:  64 << 10,
	}
}

// version of the library, as the linker knows it.
func version() string {
	build, has := debug.ReadBuildInfo()
	if !has {
		return ""
	}
	for _, module := range build.Deps {
		if module.Path == "github.com/eclipse/paho.mqtt.golang" {
			return " " + module.Version
		}
	}
	return ""
}

// Prepare does nothing: topics come into being by their use.
func (t *Transport) Prepare(context.Context, []string) error { return nil }

// Remove does nothing: sessions are clean.
func (t *Transport) Remove(context.Context) error { return nil }

func (t *Transport) topic(channel string) string { return "fleet/" + t.settings.Run + "/" + channel }
