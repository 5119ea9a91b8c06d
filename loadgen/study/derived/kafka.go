package derived

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kafka is a bus with a client each for publishing and subscribing.
type kafka struct {
	publisher, subscriber *kgo.Client
	stopped               chan struct{}
}

func openKafka(url string, derived, summary func([]byte)) (bus, error) {
	server := strings.TrimPrefix(url, "kafka://")
	publisher, err := kgo.NewClient(kgo.SeedBrokers(server), kgo.ProducerLinger(0))
	if err != nil {
		return nil, fmt.Errorf("making the publisher: %w", err)
	}
	// The jobs make a derived topic when they first write to it, so the subscriber looks out for it, and reads from the start.
	subscriber, err := kgo.NewClient(kgo.SeedBrokers(server), kgo.ConsumeTopics(derivedName, summariesName),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.FetchMaxWait(time.Second))
	if err != nil {
		publisher.Close()
		return nil, fmt.Errorf("making the subscriber: %w", err)
	}
	k := &kafka{publisher, subscriber, make(chan struct{})}
	go k.receive(derived, summary)
	return k, nil
}

func (k *kafka) receive(derived, summary func([]byte)) {
	defer close(k.stopped)
	for {
		fetches := k.subscriber.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Topic == derivedName {
				derived(r.Value)
			} else {
				summary(r.Value)
			}
		})
	}
}

func (k *kafka) publish(generator uint32, batch []byte) error {
	k.publisher.Produce(context.Background(), &kgo.Record{
		Topic: batchesName, Key: []byte(strconv.FormatUint(uint64(generator), 10)), Value: batch,
	}, nil) // one that is not taken does not come back, and so counts as lost
	return nil
}

func (k *kafka) close() {
	k.publisher.Close()
	k.subscriber.Close()
	<-k.stopped
}
