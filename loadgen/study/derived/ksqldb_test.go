package derived

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/jarstest"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/study/ksqldb"
	"lifeline/loadgen/study/ksqldb/ksqldbtest"
	"lifeline/loadgen/systemtest"
)

// bed is a real Kafka, and what stands for the ksqlDB that reads it.
type bed struct {
	scenario scenario.Scenario
	server   *ksqldbtest.Server
	client   *ksqldb.Client
	kafka    *kgo.Client
}

// laid starts both. The server makes a query's topics, and carries their rows as long as the test lasts.
func laid(t *testing.T) *bed {
	t.Helper()
	if err := jarstest.Install(); err != nil {
		t.Fatal(err)
	}
	embedded := scenario.Default()
	embedded.Transport, embedded.Generators, embedded.Broker.Nodes = "kafka", 10, 1
	cluster, err := broker.Start(t.Context(), embedded, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close(context.Background()) })
	b := &bed{server: ksqldbtest.New(t, false)}
	if b.kafka, err = kgo.NewClient(kgo.SeedBrokers(cluster.Servers()...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.kafka.Close)
	found, err := kadm.NewClient(b.kafka).BrokerMetadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.server.Kafka = found.Cluster
	b.server.Runs = func(source, sink string) { b.carry(t, source, sink) }
	if b.client, err = ksqldb.New(ksqldb.Server{URL: b.server.URL}); err != nil {
		t.Fatal(err)
	}
	b.scenario, err = scenario.Load("secondary-ksqldb", "broker.url=kafka://"+cluster.Servers()[0], "generators=10", "interval=100ms",
		"warm_up=300ms", "duration=1s", "drain=1m") // which ends when all has come
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// carry is a standing query: it makes both topics, and what comes in the one goes into the other.
func (b *bed) carry(t *testing.T, source, sink string) {
	if _, err := kadm.NewClient(b.kafka).CreateTopics(context.Background(), 1, 1, nil, source, sink); err != nil {
		t.Error(err)
		return
	}
	query, err := kgo.NewClient(append(b.kafka.Opts(), kgo.ConsumeTopics(source), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		t.Error(err)
		return
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			fetches := query.PollFetches(context.Background())
			if fetches.IsClientClosed() {
				return
			}
			fetches.EachRecord(func(r *kgo.Record) {
				query.Produce(context.Background(), &kgo.Record{Topic: sink, Key: r.Key, Value: r.Value}, nil)
			})
		}
	})
	t.Cleanup(func() {
		query.Close()
		running.Wait()
	})
}

// answer is a push query: what comes in a topic goes to whom it may concern.
func (b *bed) answer(ctx context.Context, topic string, send func(row string)) {
	_, _ = kadm.NewClient(b.kafka).CreateTopics(ctx, 1, 1, nil, topic)
	query, err := kgo.NewClient(append(b.kafka.Opts(), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		return
	}
	defer query.Close()
	for ctx.Err() == nil {
		query.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			identity, _ := message.RowParser{}.Parse(r.Value)
			send(fmt.Sprintf(`["%s",%d,%d,%d,%d]`, r.Key, identity.Generator, identity.Sequence, identity.Intended, identity.Run))
		})
	}
}

// interrupted is how a run ends that is interrupted as soon as its query stands.
func (b *bed) interrupted(t *testing.T) error {
	ctx, interrupt := context.WithCancel(t.Context())
	b.server.Adjust(func(s *ksqldbtest.Server) {
		s.Runs = func(source, sink string) {
			b.carry(t, source, sink)
			interrupt()
		}
	})
	_, err := RunStandingQuery(ctx, b.scenario, b.client)
	return err
}

func TestRowsGoThroughAStandingQueryThatIsGoneAfterwards(t *testing.T) {
	systemtest.Mark(t)
	b := laid(t)
	t.Run("each is timed", func(t *testing.T) {
		found, err := RunStandingQuery(t.Context(), b.scenario, b.client)
		if err != nil {
			t.Fatal(err)
		}
		counts := found.Counts
		if counts.Sent < 90 || counts.Received != counts.Sent || counts.Lost+counts.Duplicated+counts.Foreign > 0 {
			t.Errorf("wrong books: counts are %+v", counts)
		}
		if found.Times.RTT.Count != int64(counts.Received) || found.Times.RTT.Min <= 0 || found.Client != "through ksqlDB 8.2.3" {
			t.Errorf("%d round trips, the fastest of %d ns; client %q", found.Times.RTT.Count, found.Times.RTT.Min, found.Client)
		}
		if left := b.server.Left(); len(left) > 0 {
			t.Errorf("the server still has %v", left)
		}
	})
	t.Run("so is each row of an answer to a query", func(t *testing.T) {
		b.server.Adjust(func(s *ksqldbtest.Server) {
			s.Runs = func(string, string) { t.Error("a standing query was asked for") }
			s.Answers = b.answer
		})
		found, err := RunPushQuery(t.Context(), b.scenario, b.client)
		if err != nil {
			t.Fatal(err)
		}
		counts := found.Counts
		if counts.Sent < 90 || counts.Received != counts.Sent || counts.Lost+counts.Duplicated+counts.Foreign > 0 {
			t.Errorf("wrong books: counts are %+v", counts)
		}
		if left := b.server.Left(); len(left) > 0 {
			t.Errorf("the server still has %v", left)
		}
	})
	t.Run("also after an interruption", func(t *testing.T) {
		if err := b.interrupted(t); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if left := b.server.Left(); len(left) > 0 {
			t.Errorf("the server still has %v", left)
		}
	})
	t.Run("and what cannot be removed is named", func(t *testing.T) {
		b.server.Adjust(func(s *ksqldbtest.Server) {
			s.Refuses = func(statement string) string {
				if strings.HasPrefix(statement, "DROP") {
					return "not today"
				}
				return ""
			}
		})
		err := b.interrupted(t)
		left := b.server.Left()
		ksqldbtest.Expect(t, err, result.LeftBehind, append(left, "not today", "context canceled")...)
		if len(left) != 2 {
			t.Errorf("the server still has %v", left)
		}
	})
	t.Run("and nothing is made where another Kafka is read", func(t *testing.T) {
		right, before := b.server.Kafka, len(b.server.Statements())
		b.server.Adjust(func(s *ksqldbtest.Server) { s.Kafka = "another" })
		_, err := RunStandingQuery(t.Context(), b.scenario, b.client)
		ksqldbtest.Expect(t, err, result.SetUp, "another", right)
		if after := len(b.server.Statements()); after != before {
			t.Errorf("%d statements were sent", after-before)
		}
	})
}

func TestAQueryThatIsRefusedLeavesNothingAndKeepsTheServersWords(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.Refuses = func(statement string) string {
		if strings.Contains(statement, " AS SELECT ") {
			return "no more than 20 queries"
		}
		return ""
	}
	client, err := ksqldb.New(ksqldb.Server{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	made := newStreams(client)
	err = made.leave(t.Context(), errors.Join(made.makeSource(t.Context()), made.makeSink(t.Context())))
	ksqldbtest.Expect(t, err, result.Refused, made.sink, "no more than 20 queries")
	if left := server.Left(); len(left) > 0 || len(server.Statements()) < 4 {
		t.Errorf("the server still has %v after %q", left, server.Statements())
	}
}

func TestAKafkaThatIsNotThereIsNamedAtOnce(t *testing.T) {
	systemtest.Mark(t)
	client, err := ksqldb.New(ksqldb.Server{URL: ksqldbtest.New(t, false).URL})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = Meet(t.Context(), scenario.Broker{URL: "kafka://127.0.0.1:1"}, client)
	ksqldbtest.Expect(t, err, result.Refused, "127.0.0.1:1", "connection refused")
	if took := time.Since(began); took > kafkaTimeout {
		t.Errorf("after %s", took)
	}
}
