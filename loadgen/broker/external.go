package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// external is a broker given by URL; the fleet never starts or stops it, and injects no faults.
type external struct {
	counterSource
	servers []string
	tls     *TLS
}

// counterSource reads a broker's counters.
type counterSource interface {
	Counters(ctx context.Context, run string) (Counters, error)
}

// dialTimeout bounds the first connection to an external server.
const dialTimeout = 10 * time.Second

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
	e := &external{counterSource: noCounters{}, servers: way.servers, tls: way.tls}
	if find := families[s.Kind().Broker].find; find != nil {
		if e.counterSource, err = find(ctx, s, way); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// noCounters are those of a broker that this package does not know.
type noCounters struct{}

func (noCounters) Counters(context.Context, string) (Counters, error) {
	return Counters{Connections: unknown, In: unknown, Out: unknown, Dropped: unknown, Routed: unknown, Stored: unknown}, nil
}

func findNATS(_ context.Context, s scenario.Scenario, w way) (counterSource, error) {
	return &natsCounters{scheme: s.Broker.Address().Scheme, servers: w.servers, login: w.who, tls: w.config, streams: s.Kind().Stores}, nil
}

func findKafka(ctx context.Context, _ scenario.Scenario, w way) (counterSource, error) {
	counters := newKafkaCounters(w.servers, kafkaAccess(w.who, w.config)...)
	return counters, counters.greet(ctx)
}

// KafkaOptions are franz-go's options for the address and credentials of a scenario's URL.
func KafkaOptions(b scenario.Broker) ([]kgo.Opt, error) {
	way, err := wayTo(b)
	if err != nil {
		return nil, err
	}
	return append(kafkaAccess(way.who, way.config), kgo.SeedBrokers(way.servers...)), nil
}

// way is the address, TLS and login of an external broker.
type way struct {
	servers []string
	tls     *TLS
	config  *tls.Config // what tls comes to
	who     login.Login
}

func wayTo(b scenario.Broker) (w way, err error) {
	w.servers = b.Address().Hosts
	if w.tls, err = tlsOf(b); err != nil {
		return w, err
	}
	if w.config, err = w.tls.Config(); err != nil {
		return w, err
	}
	w.who, err = login.Of(b)
	return w, err
}

func answers(ctx context.Context, server string) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("no broker answers at %s: %v; "+
			"is broker.url right, and is the broker up?", server, err)}
	}
	return connection.Close()
}

var errNotOurs = errors.New("faults are not supported on an external broker")

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
