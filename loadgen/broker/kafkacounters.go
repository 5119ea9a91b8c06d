package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
)

// unknown marks a counter that the broker does not provide.
const unknown = -1

// countTimeout bounds the reading of what a broker has stored.
const countTimeout = 15 * time.Second

// kafkaCounters derives counters from the offsets of a run's topics.
type kafkaCounters struct{ options []kgo.Opt }

func newKafkaCounters(servers []string, options ...kgo.Opt) *kafkaCounters {
	return &kafkaCounters{options: append(options, kgo.SeedBrokers(servers...))}
}

// greet checks that Kafka accepts the fleet's login. Without TLS or SASL, Kafka closes the connection silently,
// and clients would retry for a long time.
func (b *kafkaCounters) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	client, err := kgo.NewClient(append(slices.Clone(b.options), kgo.RequestRetries(0))...)
	if err != nil {
		return fmt.Errorf("greeting Kafka: %w", err)
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("Kafka does not take the fleet: %v; "+
			"look at ?tls=true in broker.url, ca_file, user, password_file and sasl", err)}
	}
	return nil
}

// Counters sums offsets: In is the topics' end offsets, Stored the difference to their start. A transaction's commit
// takes an offset too, so a message in its own transaction counts twice. Traffic to clients and between nodes is
// available over JMX only.
func (b *kafkaCounters) Counters(ctx context.Context, run string) (Counters, error) {
	sum := Counters{Name: "Kafka", Connections: unknown, Out: unknown, Dropped: unknown, Routed: unknown}
	failed := func(err error) (Counters, error) {
		return sum, fmt.Errorf("reading the offsets of Kafka's topics: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	client, err := kgo.NewClient(b.options...)
	if err != nil {
		return failed(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	if versions, err := admin.ApiVersions(ctx); err == nil {
		for _, broker := range versions {
			if broker.Err == nil {
				sum.Name = "Kafka " + strings.TrimPrefix(broker.VersionGuess(), "v")
			}
		}
	}
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		return failed(err)
	}
	var names []string
	for _, topic := range topics.Names() {
		if ofRun(topic, run) {
			names = append(names, topic)
		}
	}
	if len(names) == 0 {
		return sum, nil
	}
	starts, err := admin.ListStartOffsets(ctx, names...)
	if err != nil {
		return failed(err)
	}
	ends, err := admin.ListEndOffsets(ctx, names...)
	if err != nil {
		return failed(err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		switch {
		case errors.Is(end.Err, kerr.UnknownTopicOrPartition):
			return // removed meanwhile
		case end.Err != nil:
			err = end.Err
			return
		}
		sum.In += end.Offset
		sum.Stored += end.Offset
		if start, ok := starts.Lookup(end.Topic, end.Partition); ok {
			sum.Stored -= start.Offset
		}
	})
	if err != nil {
		return failed(err)
	}
	return sum, nil
}

// kafkaAccess are the options for brokers that require TLS or a login.
func kafkaAccess(who login.Login, config *tls.Config) []kgo.Opt {
	var options []kgo.Opt
	if config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	if mechanism := who.SASL(); mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	return options
}
