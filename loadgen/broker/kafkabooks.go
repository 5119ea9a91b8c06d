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

// unknown is the value of a figure that a broker does not have.
const unknown = -1

// kafkaPatience bounds the reading of Kafka's books.
const kafkaPatience = 15 * time.Second

// kafkaBooks reads Kafka's own books: the offsets of a run's topics.
type kafkaBooks struct{ options []kgo.Opt }

func newKafkaBooks(servers []string, options ...kgo.Opt) *kafkaBooks {
	return &kafkaBooks{options: append(options, kgo.SeedBrokers(servers...))}
}

// greet sees that Kafka takes the fleet. Its clients would try again for long: Kafka turns who speaks without TLS or SASL away
// silently, as a node does that is shutting down.
func (b *kafkaBooks) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
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

// Counters counts offsets: In is where the run's topics end, Stored what lies between their beginnings and ends. A
// transaction's commit takes an offset too, so that a message in a transaction of its own counts twice. How much Kafka gave
// to clients, and what went between nodes, it tells over JMX only.
func (b *kafkaBooks) Counters(ctx context.Context, run string) (Counters, error) {
	sum := Counters{Name: "Kafka", Connections: unknown, Out: unknown, Dropped: unknown, Routed: unknown}
	failed := func(err error) (Counters, error) {
		return sum, fmt.Errorf("reading the offsets of Kafka's topics: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, kafkaPatience)
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
			return // somebody has removed it meanwhile
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

// kafkaAccess is how the books are read where clients have to say who they are, or to speak TLS.
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
