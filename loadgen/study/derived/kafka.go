package derived

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kafka is a bus with a client for each generator, and one for subscribing.
type kafka struct {
	publishers []*publisher
	subscriber *kgo.Client
	stopped    chan struct{}
}

// openKafkaOfJobs is a bus to the jobs' topics.
func openKafkaOfJobs(url string, generators int, derived, summary func([]byte)) (bus, error) {
	return openKafka([]kgo.Opt{kgo.SeedBrokers(strings.TrimPrefix(url, "kafka://"))}, generators, batchesName,
		map[string]func([]byte){derivedName: derived, summariesName: summary})
}

// openKafka publishes to one topic, and hands over what comes in others. Options say where Kafka is.
func openKafka(options []kgo.Opt, generators int, to string, from map[string]func([]byte)) (*kafka, error) {
	// The jobs make a derived topic when they first write to it, so the subscriber looks out for it, and reads from the start.
	subscriber, err := kgo.NewClient(slices.Concat(options, []kgo.Opt{kgo.ConsumeTopics(slices.Sorted(maps.Keys(from))...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.FetchMaxWait(time.Second)})...)
	if err != nil {
		return nil, fmt.Errorf("making the subscriber: %w", err)
	}
	k := &kafka{subscriber: subscriber, stopped: make(chan struct{})}
	for range generators {
		publisher, err := openPublisher(options, to)
		if err != nil {
			close(k.stopped) // nothing receives yet
			k.close()
			return nil, err
		}
		k.publishers = append(k.publishers, publisher)
	}
	go k.receive(from)
	return k, nil
}

func (k *kafka) publish(generator uint32, text []byte) error {
	return k.publishers[generator].publish(generator, text)
}

func (k *kafka) receive(from map[string]func([]byte)) {
	defer close(k.stopped)
	for {
		fetches := k.subscriber.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(r *kgo.Record) { from[r.Topic](r.Value) })
	}
}

func (k *kafka) close() {
	for _, publisher := range k.publishers {
		publisher.close()
	}
	k.subscriber.Close()
	<-k.stopped
}

// publisher writes to one topic.
type publisher struct {
	to     string
	client *kgo.Client
}

func openPublisher(options []kgo.Opt, to string) (*publisher, error) {
	client, err := kgo.NewClient(slices.Concat(options, []kgo.Opt{kgo.ProducerLinger(0)})...)
	if err != nil {
		return nil, fmt.Errorf("making the publisher: %w", err)
	}
	return &publisher{to, client}, nil
}

func (p *publisher) publish(generator uint32, text []byte) error {
	p.client.Produce(context.Background(), p.record(generator, text), nil) // one that is not taken does not come back, and so counts as lost
	return nil
}

func (p *publisher) record(generator uint32, text []byte) *kgo.Record {
	return &kgo.Record{Topic: p.to, Key: []byte(strconv.FormatUint(uint64(generator), 10)), Value: bytes.Clone(text)}
}

func (p *publisher) close() { p.client.Close() }
