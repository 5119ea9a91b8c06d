package kafkalib

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"

	"lifeline/loadgen/transport"
)

// arrivals remembers a client's connections, to tell when bytes last came in on any of them; nil remembers nothing.
type arrivals struct {
	mutex sync.Mutex
	open  []transport.Arrival
}

func (a *arrivals) add(connection net.Conn) {
	if arrival, stamps := connection.(transport.Arrival); a != nil && stamps {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.open = append(a.open, arrival)
	}
}

// last is CLOCK_MONOTONIC nanoseconds.
func (a *arrivals) last() int64 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var last int64
	for _, arrival := range a.open {
		last = max(last, arrival.LastRead())
	}
	return last
}

// dialer opens connections that arrivals observes.
func (t *Transport) dialer(arrivals *arrivals) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		return open(ctx, t.settings, address, arrivals)
	}
}

// Dial opens a connection through the settings' dialer, with TLS where they ask for it.
func Dial(ctx context.Context, settings transport.Settings, address string) (net.Conn, error) {
	return open(ctx, settings, address, nil)
}

func open(ctx context.Context, settings transport.Settings, address string, arrivals *arrivals) (net.Conn, error) {
	connection, err := settings.Dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	arrivals.add(connection)
	if settings.TLS == nil {
		return connection, nil
	}
	secured := tls.Client(connection, serverConfig(settings.TLS, address))
	if err := secured.HandshakeContext(ctx); err != nil {
		connection.Close()
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return secured, nil
}

// serverConfig expects the certificate of the host that is being connected to, unless the configuration names another.
func serverConfig(config *tls.Config, address string) *tls.Config {
	if config.ServerName != "" || config.InsecureSkipVerify {
		return config
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return config
	}
	config = config.Clone()
	config.ServerName = host
	return config
}
