package kafkalib

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/transport"
)

// subscription is a consumer and the goroutine that polls it.
type subscription struct {
	client   *kgo.Client
	arrivals arrivals
	stopped  chan struct{}
}

// Subscribe reads the ends of all partitions before it returns, and everything from there on is delivered.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error) {
	servers, err := t.serversFrom(node)
	if err != nil {
		return nil, err
	}
	s := &subscription{stopped: make(chan struct{})}
	options := t.options(servers, &s.arrivals)
	if t.mode.transactions {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if s.client, err = kgo.NewClient(options...); err != nil {
		return nil, fmt.Errorf("making a Kafka consumer: %w", err)
	}
	ends, err := endsOf(ctx, s.client, channel)
	if err != nil {
		s.client.Close()
		return nil, err
	}
	s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{channel: ends})
	go s.run(deliver)
	return s, nil
}

// endsOf are the offsets that the next messages of a topic will get.
func endsOf(ctx context.Context, client *kgo.Client, channel string) (map[int32]kgo.Offset, error) {
	listed, err := kadm.NewClient(client).ListEndOffsets(ctx, channel)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the ends of topic %s: %w", channel, err)
	}
	ends := map[int32]kgo.Offset{}
	listed.Each(func(end kadm.ListedOffset) { ends[end.Partition] = kgo.NewOffset().At(end.Offset) })
	if len(ends) == 0 {
		return nil, fmt.Errorf("topic %s has no partitions", channel)
	}
	return ends, nil
}

func (s *subscription) run(deliver transport.Deliver) {
	defer close(s.stopped)
	for {
		fetched := s.client.PollFetches(context.Background())
		if fetched.IsClientClosed() {
			return
		}
		// Errors of single partitions end with the next leader; franz-go asks for that by itself.
		at := s.arrivals.last()
		fetched.EachRecord(func(record *kgo.Record) { deliver(record.Value, at) })
	}
}

func (s *subscription) Close(ctx context.Context) error {
	s.client.Close()
	select {
	case <-s.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the last delivery of a Kafka subscription: %w", ctx.Err())
	}
}
