package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// Dial opens a connection through the settings' dialer, with TLS where they ask for it. Its arrival is nil where the dialer's
// connections do not tell it.
func (s Settings) Dial(ctx context.Context, address string) (net.Conn, Arrival, error) {
	connection, err := s.Dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	arrival, _ := connection.(Arrival)
	secured, err := s.Secure(ctx, connection, address)
	return secured, arrival, err
}

// Secure begins TLS on a connection, where the settings ask for it: the server must have the certificate of the address, unless the
// configuration names another host. It closes the connection if that fails.
func (s Settings) Secure(ctx context.Context, connection net.Conn, address string) (net.Conn, error) {
	if s.TLS == nil {
		return connection, nil
	}
	config := s.TLS
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	secured := tls.Client(connection, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		connection.Close()
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return secured, nil
}
