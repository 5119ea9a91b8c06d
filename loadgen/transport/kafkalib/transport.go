// Package kafkalib speaks Kafka through franz-go: every connection is a producer of its own, as an application would have it,
// and every subscription a consumer that reads its topic's partitions directly, without a group.
package kafkalib

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
)

const (
	// A message is tried for as long as a fleet's histograms reach; a broker that is back by then loses none of them.
	deliverWithin = 120 * time.Second
	// Every client asks so seldom where the leaders are, while it waits for a new one: thousands ask at once.
	askForLeadersEvery = time.Second
	// handshakeTimeout applies where the caller's context has no earlier end: kernels accept connections for brokers that have stopped.
	handshakeTimeout = 30 * time.Second
)

// Transport makes franz-go clients.
type Transport struct {
	settings transport.Settings
	mode     mode
	made     atomic.Uint32 // connections so far: their numbers spread them over partitions
	process  string        // makes transactional ids unique among a run's processes
	prepared []string
}

// New checks the settings; it opens no connection.
func New(settings transport.Settings) (*Transport, error) {
	mode, err := modeOf(settings.Acknowledgement)
	if err != nil {
		return nil, err
	}
	if len(settings.Servers) == 0 {
		return nil, fmt.Errorf("a Kafka transport needs at least one server")
	}
	return &Transport{settings: settings, mode: mode, process: ProcessName()}, nil
}

// Traits are those of one franz-go client per connection.
func (t *Transport) Traits() transport.Traits {
	descriptors := 3 // one to publish, two that ask for leaders until they have been idle for a while
	if len(t.settings.Servers) > 1 {
		descriptors = 4 // on average, measured while one of three nodes was down: all others are asked in turn
	}
	return transport.Traits{
		Client:       "franz-go " + transport.Version("github.com/twmb/franz-go"),
		Acknowledges: t.mode.acks != kgo.NoAck(),
		Blocks:       t.mode.transactions,
		Durable:      t.mode.acks == kgo.AllISRAcks() && t.settings.Replicas > 1,
		Descriptors:  descriptors,
		ClientBytes:  130 << 10,
		BrokerBytes:  110 << 10,
	}
}

// options are what every client of this transport shares; servers come in the order in which they shall be asked.
func (t *Transport) options(servers []string, arrivals *arrivals) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(servers...),
		kgo.Dialer(t.dialer(arrivals)),
		kgo.ClientID("fleet-" + t.settings.Run),
		kgo.MetadataMinAge(askForLeadersEvery),
		// A node that was killed closes connections in the middle of their first request; the next one may do.
		kgo.AlwaysRetryEOF(),
		kgo.DisableClientMetrics(),
	}
	if mechanism := t.settings.Login.SASL(); mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	return options
}

// serversFrom lists all servers, the given node's first.
func (t *Transport) serversFrom(node int) ([]string, error) {
	servers := t.settings.Servers
	if node < 0 || node >= len(servers) {
		return nil, fmt.Errorf("there is no Kafka node %d: %d servers are known", node, len(servers))
	}
	return append(append([]string{}, servers[node:]...), servers[:node]...), nil
}

// Connect makes a producer and sees that a broker answers it. Its connection to a leader is opened by the first publish,
// since only that tells which leader it is.
func (t *Transport) Connect(ctx context.Context, node int) (transport.Connection, error) {
	servers, err := t.serversFrom(node)
	if err != nil {
		return nil, err
	}
	number := t.made.Add(1) - 1
	options := append(t.options(servers, nil), t.mode.options...)
	options = append(options,
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordPartitioner(kgo.BasicConsistentPartitioner(func(string) func(*kgo.Record, int) int {
			return func(_ *kgo.Record, partitions int) int { return int(number) % partitions }
		})),
		kgo.RecordDeliveryTimeout(deliverWithin),
		kgo.UnknownTopicRetries(-1), // a topic was made before the run; a node that does not know it has just started
	)
	if t.mode.transactions {
		options = append(options, kgo.TransactionalID(fmt.Sprintf("fleet-%s-%s-%d", t.settings.Run, t.process, number)),
			// Kafka ends a transaction that is older, and its producer may not go on then: it must not be sooner than ours gives up.
			kgo.TransactionTimeout(deliverWithin+2*abortWithin))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("making a Kafka producer: %w", err)
	}
	if err := t.greet(ctx, client); err != nil {
		client.Close()
		return nil, dial.Classify(servers[0], err)
	}
	key := fmt.Appendf(nil, "%s-%d", t.process, number)
	if t.mode.transactions {
		return newTransactional(t.settings, client, key), nil
	}
	return &connection{settings: t.settings, client: client, key: key, acknowledges: t.Traits().Acknowledges}, nil
}

// greet returns when a broker has answered the client, and has given it what its first message needs.
func (t *Transport) greet(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("greeting Kafka: %w", err)
	}
	if t.mode.producerID {
		if _, _, err := client.ProducerID(ctx); err != nil {
			return fmt.Errorf("asking Kafka for a producer id: %w", err)
		}
	}
	return nil
}
