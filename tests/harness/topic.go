package harness

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// Where lifeline-setup puts batches.
const (
	stream  = "LIFELINE"
	subject = "lifeline.batches.>"
	topic   = "lifeline.batches"
)

// ReadTopic hands every message that the broker holds now to visit, the oldest first within its partition. The bytes
// are visit's only while it runs. It asks the broker itself, whatever stands between it and its clients.
func ReadTopic(t T, broker *Broker, visit func(message []byte)) {
	t.Helper()
	read := readStream
	if broker.Kind == "kafka" {
		read = readTopic
	}
	if err := read(broker, visit); err != nil {
		t.Fatalf("the topic cannot be read: %v", err)
	}
}

// A message may be late, but not that late.
const nextMessageWithin = time.Minute

func readStream(broker *Broker, visit func([]byte)) error {
	options := []nats.Option{nats.Timeout(nextMessageWithin)}
	if user, password := broker.credentials(); user != "" {
		options = append(options, nats.UserInfo(user, password))
	}
	connection, err := nats.Connect(broker.URL, options...)
	if err != nil {
		return err
	}
	defer connection.Close()
	js, err := jetstream.New(connection)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), nextMessageWithin)
	defer cancel()
	source, err := js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	last := source.CachedInfo().State.LastSeq
	if source.CachedInfo().State.Msgs == 0 {
		return nil
	}
	consumer, err := source.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxBytes(16 << 20))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		message, err := messages.Next(jetstream.NextMaxWait(nextMessageWithin))
		if err != nil {
			return err
		}
		visit(message.Data())
		metadata, err := message.Metadata()
		if err != nil {
			return err
		}
		if metadata.Sequence.Stream >= last || metadata.NumPending == 0 {
			return nil
		}
	}
}

func readTopic(broker *Broker, visit func([]byte)) error {
	options := append(broker.kafkaOptions(), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(context.Background(), topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	unread := map[int32]int64{} // partitions that are not at their ends, and the ends
	ends.Each(func(end kadm.ListedOffset) {
		if end.Offset > 0 {
			unread[end.Partition] = end.Offset
		}
	})
	for len(unread) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), nextMessageWithin)
		fetched := client.PollFetches(ctx)
		cancel()
		if err := errors.Join(errorsOf(fetched)...); err != nil {
			return err
		}
		fetched.EachRecord(func(record *kgo.Record) {
			visit(record.Value)
			if record.Offset+1 >= unread[record.Partition] {
				delete(unread, record.Partition)
			}
		})
	}
	return nil
}

// kafkaOptions lead to the broker itself: Kafka sends its clients to the address that it advertises, which may be a
// proxy's.
func (b *Broker) kafkaOptions() []kgo.Opt {
	direct := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, b.address())
	}
	options := []kgo.Opt{kgo.SeedBrokers(b.address()), kgo.Dialer(direct)}
	if user, password := b.credentials(); user != "" {
		options = append(options, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	}
	return options
}

func errorsOf(fetched kgo.Fetches) []error {
	var all []error
	fetched.EachError(func(_ string, _ int32, err error) { all = append(all, err) })
	return all
}

// credentials are those of a user who may do everything; none where the broker asks for none.
func (b *Broker) credentials() (user, password string) {
	text, _ := os.ReadFile(b.Env["LIFELINE_PASSWORD_FILE"])
	return b.Env["LIFELINE_USER"], strings.TrimSpace(string(text))
}

// address is the broker's own host:port.
func (b *Broker) address() string {
	_, address, _ := strings.Cut(b.URL, "://")
	return strings.TrimSuffix(address, "/")
}
