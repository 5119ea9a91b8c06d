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

	"github.com/twmb/franz-go/pkg/kgo"

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
	way, err := wayTo(s.Broker)
	if err != nil {
		return nil, err
	}
	for _, server := range way.servers {
		if err := answers(ctx, server); err != nil {
			return nil, err
		}
	}
	e := &external{servers: way.servers, tls: way.tls}
	if s.Transport == "kafka" {
		e.books = newKafkaBooks(e.servers, kafkaLogin(way.who, way.trust)...)
	} else {
		e.books = &natsBooks{scheme: s.Broker.Address().Scheme, servers: e.servers, identity: way.who, trust: way.trust}
	}
	return e, nil
}

// KafkaOptions are how a client of franz-go finds the Kafka that a scenario's URL names, and says who it is.
func KafkaOptions(b scenario.Broker) ([]kgo.Opt, error) {
	way, err := wayTo(b)
	if err != nil {
		return nil, err
	}
	return append(kafkaLogin(way.who, way.trust), kgo.SeedBrokers(way.servers...)), nil
}

// way is how an external broker is reached, and by whom.
type way struct {
	servers []string
	tls     *TLS
	trust   *tls.Config // what tls comes to
	who     identity
}

func wayTo(b scenario.Broker) (w way, err error) {
	at := b.Address()
	for _, host := range at.Hosts {
		w.servers = append(w.servers, withPort(host, at.Scheme))
	}
	if at.TLS || b.CAFile != "" {
		w.tls = &TLS{}
		if file := b.CAFile; file != "" {
			if w.tls.CA, err = os.ReadFile(file); err != nil {
				return w, fmt.Errorf("reading the broker's authority (broker.ca_file): %w", err)
			}
		}
	}
	if w.trust, err = w.tls.config(); err != nil {
		return w, err
	}
	w.who, err = identify(b)
	return w, err
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
