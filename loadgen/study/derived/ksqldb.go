package derived

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/study/ksqldb"
)

const (
	kafkaTimeout  = 15 * time.Second // for an answer
	probeEvery    = 200 * time.Millisecond
	throughWithin = time.Minute // of the first probe: a busy server takes some time to start a query
)

// RunStandingQuery publishes rows to the Kafka that the scenario's URL names and a ksqlDB server reads, has the server publish
// them again by a standing query, and returns the round trips through it (from before publishing to the receipt of the derived
// row). All that it makes has a name of its own, and is gone when it returns, or else the error says what is left.
func RunStandingQuery(ctx context.Context, s scenario.Scenario, server *ksqldb.Client) (result.Result, error) {
	m := newMeasurement(s, message.NewRow(s.Seed), message.RowParser{})
	return m.conclude(m.throughKsqlDB(ctx, server, m.throughStandingQuery))
}

// RunPushQuery is likewise, and has the server answer a query that goes on: the round trips end where a row of the answer has
// come in over HTTP.
func RunPushQuery(ctx context.Context, s scenario.Scenario, server *ksqldb.Client) (result.Result, error) {
	m := newMeasurement(s, message.NewRow(s.Seed), message.RowParser{})
	return m.conclude(m.throughKsqlDB(ctx, server, m.throughPushQuery))
}

// Meet sees that both servers are there, and that it is this Kafka which the ksqlDB reads.
func Meet(ctx context.Context, b scenario.Broker, server *ksqldb.Client) (ksqldb.Info, error) {
	info, err := server.Info(ctx)
	if err != nil {
		return info, err
	}
	options, err := broker.KafkaOptions(b)
	if err != nil {
		return info, err
	}
	client, err := kgo.NewClient(append(options, kgo.RequestRetries(1))...)
	if err != nil {
		return info, fmt.Errorf("making a Kafka client: %w", err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, kafkaTimeout)
	defer cancel()
	found, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil {
		return info, &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("Kafka does not answer at %s: %v", b.URL, err)}
	}
	if info.Kafka != "" && found.Cluster != "" && info.Kafka != found.Cluster {
		return info, &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("ksqlDB reads another Kafka (cluster %s) than the one at %s "+
			"(cluster %s); generators have to publish to the one that it reads", info.Kafka, b.URL, found.Cluster)}
	}
	return info, nil
}

// rowBus is a bus that can be tried out.
type rowBus interface {
	bus
	// publishSurely waits for the acknowledgement.
	publishSurely(ctx context.Context, generator uint32, text []byte) error
	// trouble is the last that the subscriber had; nil: none.
	trouble() error
}

// throughKsqlDB makes a stream, and measures over the bus that open makes of it.
func (m *measurement) throughKsqlDB(ctx context.Context, server *ksqldb.Client,
	open func(context.Context, *streams, []kgo.Opt) (rowBus, error)) (err error) {
	info, err := Meet(ctx, m.scenario.Broker, server)
	if err != nil {
		return err
	}
	m.result.Client = "through ksqlDB " + info.Version
	options, err := broker.KafkaOptions(m.scenario.Broker)
	if err != nil {
		return err
	}
	made := newStreams(server)
	defer func() { err = made.leave(ctx, err) }()
	if err := made.makeSource(ctx); err != nil {
		return err
	}
	bus, err := open(ctx, made, append(options, kgo.ClientID(made.sourceTopic)))
	if err != nil {
		return err
	}
	defer bus.close()
	if err := m.probe(ctx, bus, made); err != nil {
		return err
	}
	return m.measure(ctx, bus, func() []int { return nil })
}

// throughStandingQuery subscribes to what a standing query publishes.
func (m *measurement) throughStandingQuery(ctx context.Context, made *streams, options []kgo.Opt) (rowBus, error) {
	if err := made.makeSink(ctx); err != nil {
		return nil, err
	}
	return openKafka(options, made.sourceTopic, map[string]func([]byte){made.sinkTopic: m.derived})
}

// throughPushQuery takes the answers to a query.
func (m *measurement) throughPushQuery(ctx context.Context, made *streams, options []kgo.Opt) (rowBus, error) {
	rows, err := made.follow(ctx)
	if err != nil {
		return nil, err
	}
	publisher, err := openPublisher(options, made.sourceTopic)
	if err != nil {
		_ = rows.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	b := &answers{publisher: publisher, rows: rows, stopped: make(chan struct{})}
	go b.receive(m.derived)
	return b, nil
}

// probe publishes rows that do not count until one has come through: a server says that a query stands before it runs.
func (m *measurement) probe(ctx context.Context, bus rowBus, made *streams) error {
	began := time.Now()
	for number := uint32(0); ; number++ {
		text, err := m.builder.Build(message.Identity{Run: probeRun, Sequence: number, Intended: clock.Now()})
		if err != nil {
			return err
		}
		if err := publishSurely(ctx, bus, text); err != nil {
			return during("publishing to topic "+made.sourceTopic+", which ksqlDB has made", err)
		}
		select {
		case <-m.through:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(probeEvery):
		}
		if time.Since(began) > throughWithin {
			why := made.state(ctx)
			if trouble := bus.trouble(); trouble != nil {
				why += fmt.Sprintf("; the subscriber: %v", trouble)
			}
			return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("nothing came through ksqlDB's query within %s; %s", throughWithin, why)}
		}
	}
}

func publishSurely(ctx context.Context, bus rowBus, text []byte) error {
	within, cancel := context.WithTimeout(ctx, kafkaTimeout)
	defer cancel()
	if err := bus.publishSurely(within, 0, text); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return &result.Failure{Cause: result.Refused, Message: err.Error()}
	}
	return nil
}

// during says what was being done; a failure keeps its cause.
func during(what string, err error) error {
	var failure *result.Failure
	if errors.As(err, &failure) {
		return &result.Failure{Cause: failure.Cause, Message: what + ": " + failure.Message}
	}
	return fmt.Errorf("%s: %w", what, err)
}
