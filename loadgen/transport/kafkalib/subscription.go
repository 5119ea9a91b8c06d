package kafkalib

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/transport"
)

// subscription is a consumer and the goroutine that polls it.
type subscription struct {
	client   *kgo.Client
	arrivals arrivals
	closed   chan struct{} // by Close
	stopped  chan struct{} // by the goroutine
}

const (
	// What one fetch brings at most, of all partitions and of one: bounds the memory of a consumer that has fallen behind.
	mostFetched = 8 << 20
	// Shorter than franz-go's growing pause of up to 5 s: an outage in a report must be the broker's, not a consumer's retry delay.
	askAgain = 250 * time.Millisecond
	// A fetch that finds nothing comes back after emptyFetch. Without an answer for silence longer, its node has stopped; that is
	// noticed sooner than Kafka chooses another leader.
	emptyFetch = 500 * time.Millisecond
	silence    = 5 * time.Second
	// A poll that finds nothing comes back after that long; franz-go allows no less.
	emptyPoll = 10 * time.Millisecond
)

// Subscribe reads the ends of all partitions before it returns, and everything from there on is delivered.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error) {
	servers, err := t.serversFrom(node)
	if err != nil {
		return nil, err
	}
	s := &subscription{closed: make(chan struct{}), stopped: make(chan struct{})}
	options := append(t.options(servers, &s.arrivals), kgo.FetchMaxBytes(mostFetched), kgo.FetchMaxPartitionBytes(mostFetched),
		kgo.FetchMaxWait(emptyFetch), kgo.RequestTimeoutOverhead(silence), kgo.RetryBackoffFn(func(int) time.Duration { return askAgain }))
	if t.settings.Poll > 0 {
		options = append(options, kgo.MaxConcurrentFetches(0), kgo.FetchMaxWait(emptyPoll))
	}
	if t.mode.transactions {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if s.client, err = kgo.NewClient(options...); err != nil {
		return nil, fmt.Errorf("making a Kafka consumer: %w", err)
	}
	topic := Topic(t.settings, channel)
	ends, err := endsOf(ctx, s.client, topic)
	if err != nil {
		s.client.Close()
		return nil, err
	}
	s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: ends})
	if t.settings.Poll > 0 {
		go s.ask(t.settings.Poll, len(s.client.DiscoveredBrokers()), deliver) // asking for the ends has discovered them
	} else {
		go s.run(deliver)
	}
	return s, nil
}

// endsOf are the offsets that the next messages of a topic will get.
func endsOf(ctx context.Context, client *kgo.Client, topic string) (map[int32]kgo.Offset, error) {
	var listed kadm.ListedOffsets
	err := patiently(ctx, client, func(ctx context.Context) (err error) {
		if listed, err = kadm.NewClient(client).ListEndOffsets(ctx, topic); err == nil {
			err = listed.Error()
		}
		if err == nil && len(listed[topic]) == 0 {
			err = kerr.UnknownTopicOrPartition
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking for the ends of topic %s: %w", topic, err)
	}
	ends := map[int32]kgo.Offset{}
	listed.Each(func(end kadm.ListedOffset) { ends[end.Partition] = kgo.NewOffset().At(end.Offset) })
	return ends, nil
}

// run takes messages as they come: a fetch always waits at the broker for the next one.
func (s *subscription) run(deliver transport.Deliver) {
	defer close(s.stopped)
	for s.poll(context.Background(), deliver) {
	}
}

// ask takes what has come once per period, as a consumer does that polls; nothing is fetched between. A poll ends with the first
// node that has something, so that each node gets one.
func (s *subscription) ask(period time.Duration, nodes int, deliver transport.Deliver) {
	defer close(s.stopped)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for more := true; more; {
		select {
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(nodes+1)*emptyPoll)
			for polls := 0; more && polls < nodes && ctx.Err() == nil; polls++ {
				more = s.poll(ctx, deliver)
			}
			cancel()
		case <-s.closed:
			return
		}
	}
}

// poll returns false when the subscription is closed. Errors of single partitions are left to franz-go, which asks for their
// new leaders by itself.
func (s *subscription) poll(ctx context.Context, deliver transport.Deliver) bool {
	fetched := s.client.PollFetches(ctx)
	at := s.arrivals.last()
	fetched.EachRecord(func(record *kgo.Record) { deliver(record.Value, at) })
	return !fetched.IsClientClosed()
}

func (s *subscription) Close(ctx context.Context) error {
	close(s.closed)
	s.client.Close()
	select {
	case <-s.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the last delivery of a Kafka subscription: %w", ctx.Err())
	}
}
