package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// external is somebody else's broker: it is used and asked, never started, harmed or ended.
type external struct {
	books
	servers []string
	tls     *TLS
}

// books are where a broker's counters come from.
type books interface {
	Counters(ctx context.Context) (Counters, error)
}

// dialPatience bounds the first look at an external server.
const dialPatience = 10 * time.Second

func findExternal(ctx context.Context, s scenario.Scenario) (Cluster, error) {
	at := s.Broker.Address()
	e := &external{}
	for _, host := range at.Hosts {
		e.servers = append(e.servers, withPort(host, at.Scheme))
	}
	if at.TLS || s.Broker.CAFile != "" {
		e.tls = &TLS{}
		if file := s.Broker.CAFile; file != "" {
			ca, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading the broker's authority (broker.ca_file): %w", err)
			}
			e.tls.CA = ca
		}
	}
	for _, server := range e.servers {
		if err := answers(ctx, server); err != nil {
			return nil, err
		}
	}
	trust, err := e.tls.config()
	if err != nil {
		return nil, err
	}
	who, err := identify(s.Broker)
	if err != nil {
		return nil, err
	}
	if s.Transport == "kafka" {
		e.books = newKafkaBooks(e.servers, kafkaLogin(who, trust)...)
	} else {
		e.books = &natsBooks{scheme: at.Scheme, servers: e.servers, identity: who, trust: trust}
	}
	return e, nil
}

// withPort adds the port that a scheme stands for to a host that names none.
func withPort(host, scheme string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := map[string]string{"ws": "80", "wss": "443", "mqtt": "1883", "mqtts": "8883", "kafka": "9092"}[scheme]
	if port == "" {
		port = "4222"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

func answers(ctx context.Context, server string) error {
	dialer := net.Dialer{Timeout: dialPatience}
	connection, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("no broker answers at %s: %v; "+
			"is broker.url right, and is the broker up?", server, err)}
	}
	return connection.Close()
}

// config is the trust as a client wants it; nil where the servers speak plain.
func (t *TLS) config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(t.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("the broker's authority (broker.ca_file) holds no certificate in PEM form")
		}
	}
	return config, nil
}

// identity is who reads the broker's books: the user of the fleet.
type identity struct{ user, password, credentialsFile string }

func identify(b scenario.Broker) (identity, error) {
	who := identity{user: b.User, credentialsFile: b.CredentialsFile}
	if b.PasswordFile != "" {
		content, err := os.ReadFile(b.PasswordFile)
		if err != nil {
			return who, fmt.Errorf("reading the password (broker.password_file): %w", err)
		}
		who.password = strings.TrimRight(string(content), "\r\n")
	}
	return who, nil
}

var errNotOurs = errors.New("the broker is not the fleet's own, so its nodes are left alone")

func (e *external) Servers() []string                { return e.servers }
func (e *external) TLS() *TLS                        { return e.tls }
func (e *external) Processes() []int                 { return nil }
func (e *external) Kill(int) error                   { return errNotOurs }
func (e *external) Stop(int) error                   { return errNotOurs }
func (e *external) Continue(int) error               { return errNotOurs }
func (e *external) Start(context.Context, int) error { return errNotOurs }
func (e *external) Exited() <-chan struct{}          { return nil }
func (e *external) Err() error                       { return nil }
func (e *external) Close(context.Context) error      { return nil }
