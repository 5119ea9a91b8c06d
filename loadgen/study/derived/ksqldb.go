package derived

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	kafkaPatience  = 15 * time.Second // for an answer
	tidyWithin     = 5 * time.Minute
	probeEvery     = 200 * time.Millisecond
	throughWithin  = time.Minute // of the first probe: a busy server takes some time to start a query
	sourceFormat   = "KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'JSON'"
	sourceKey      = "id VARCHAR KEY"
	partitions     = 4 // as many as the threads that ksqlDB gives to a query unless it is told otherwise
	takesAllOfThem = "generator >= 0"
)

// RunKsqlDB publishes rows to the Kafka that the scenario's URL names and a ksqlDB server reads, has the server publish them
// again by a standing query, and returns the round trips through it (from before publishing to the receipt of the derived row).
// All that it makes has a name of its own, and is gone when it returns, or else the error says what is left.
func RunKsqlDB(ctx context.Context, s scenario.Scenario, server *ksqldb.Client) (result.Result, error) {
	m := newMeasurement(s, message.NewRow(s.Seed), message.RowParser{})
	return m.conclude(m.throughKsqlDB(ctx, server))
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
	ctx, cancel := context.WithTimeout(ctx, kafkaPatience)
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

func (m *measurement) throughKsqlDB(ctx context.Context, server *ksqldb.Client) (err error) {
	info, err := Meet(ctx, m.scenario.Broker, server)
	if err != nil {
		return err
	}
	m.result.Client = "through ksqlDB " + info.Version
	options, err := broker.KafkaOptions(m.scenario.Broker)
	if err != nil {
		return err
	}
	query := newStanding(server)
	defer func() { err = query.leave(ctx, err) }()
	if err := query.begin(ctx); err != nil {
		return err
	}
	bus, err := openKafka(append(options, kgo.ClientID(query.sourceTopic)), query.sourceTopic,
		map[string]func([]byte){query.sinkTopic: m.derived})
	if err != nil {
		return err
	}
	defer bus.close()
	if err := m.probe(ctx, bus, query); err != nil {
		return err
	}
	return m.measure(ctx, bus, func() []int { return nil })
}

// probe publishes rows that do not count until one has come through: a server says that a query stands before it runs.
func (m *measurement) probe(ctx context.Context, bus *kafka, query *standing) error {
	began := time.Now()
	for number := uint32(0); ; number++ {
		text, err := m.builder.Build(message.Identity{Run: probeRun, Sequence: number, Intended: clock.Now()})
		if err != nil {
			return err
		}
		if err := publishSurely(ctx, bus, text); err != nil {
			return err
		}
		select {
		case <-m.through:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(probeEvery):
		}
		if time.Since(began) > throughWithin {
			why := query.state(ctx)
			if trouble := bus.trouble.Load(); trouble != nil {
				why += fmt.Sprintf("; reading topic %s: %v", query.sinkTopic, *trouble)
			}
			return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("nothing came through ksqlDB's query within %s; %s", throughWithin, why)}
		}
	}
}

func publishSurely(ctx context.Context, bus *kafka, text []byte) error {
	within, cancel := context.WithTimeout(ctx, kafkaPatience)
	defer cancel()
	if err := bus.publishSurely(within, 0, text); err != nil {
		return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("publishing to topic %s, which ksqlDB has made: %v", bus.to, err)}
	}
	return nil
}

// standing is a standing query with the streams that it reads and writes.
type standing struct {
	server                 *ksqldb.Client
	source, sink           string // streams
	sourceTopic, sinkTopic string
}

// newStanding gives names that no other run has.
func newStanding(server *ksqldb.Client) *standing {
	var random [4]byte
	rand.Read(random[:]) // never fails: it ends the program where the kernel has no randomness
	run := hex.EncodeToString(random[:])
	stream := "FLEET_" + strings.ToUpper(run)
	return &standing{server, stream, stream + "_DERIVED", "fleet-" + run, "fleet-" + run + "-derived"}
}

// begin makes the streams and their topics, and the query between them. What has been asked for is waited for even when ctx
// ends meanwhile, or leave could come before it was made.
func (q *standing) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := q.server.Execute(ctx, fmt.Sprintf("CREATE STREAM %s (%s, %s) WITH (KAFKA_TOPIC = '%s', %s, PARTITIONS = %d);",
		q.source, sourceKey, message.RowColumns, q.sourceTopic, sourceFormat, partitions), nil)
	if err != nil {
		return during("making stream "+q.source, err)
	}
	err = q.server.Execute(ctx, fmt.Sprintf("CREATE STREAM %s WITH (KAFKA_TOPIC = '%s') AS SELECT * FROM %s WHERE %s EMIT CHANGES;",
		q.sink, q.sinkTopic, q.source, takesAllOfThem), map[string]string{"ksql.streams.auto.offset.reset": "earliest"})
	if err != nil {
		return during("making the standing query of stream "+q.sink, err)
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

// ours are the queries that write the sink, whatever the server has called them.
func (q *standing) ours(ctx context.Context) ([]ksqldb.Query, error) {
	all, err := q.server.Queries(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the queries that stand: %w", err)
	}
	return slices.DeleteFunc(all, func(other ksqldb.Query) bool { return !slices.Contains(other.Sinks, q.sink) }), nil
}

// state is what the server says of the query, for an error.
func (q *standing) state(ctx context.Context) string {
	found, err := q.ours(ctx)
	if err != nil {
		return err.Error()
	}
	if len(found) == 0 {
		return "the server knows no such query any more"
	}
	return fmt.Sprintf("the server says that %s is %s", found[0].ID, found[0].State)
}

// end removes query, streams and topics, whichever of them are there; it tries all of them.
func (q *standing) end(ctx context.Context) error {
	queries, failed := q.ours(ctx)
	for _, query := range queries {
		if err := q.server.Execute(ctx, "TERMINATE "+query.ID+";", nil); err != nil {
			failed = errors.Join(failed, fmt.Errorf("ending query %s: %w", query.ID, err))
		}
	}
	for _, stream := range []string{q.sink, q.source} {
		if err := q.server.Execute(ctx, "DROP STREAM IF EXISTS "+stream+" DELETE TOPIC;", nil); err != nil {
			failed = errors.Join(failed, fmt.Errorf("dropping stream %s: %w", stream, err))
		}
	}
	return failed
}

// leave ends what stands, also when ctx has ended, and adds what could not be removed to how the run ended.
func (q *standing) leave(ctx context.Context, ended error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	failed := q.end(ctx)
	if failed == nil {
		return ended
	}
	text := fmt.Sprintf("left behind in ksqlDB, to be dropped with DELETE TOPIC: streams %s and %s (%v)", q.sink, q.source, failed)
	if ended != nil {
		text = fmt.Sprintf("%v; and %s", ended, text)
	}
	return &result.Failure{Cause: result.LeftBehind, Message: text}
}
