package stored

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topics asks Kafka: one client for offsets, and a consumer that stays connected and is set to where a query begins.
type topics struct {
	server   string
	client   *kgo.Client
	admin    *kadm.Client
	found    []string    // the fleet's topics, once they are there
	consumer *kgo.Client // nil before the first query
}

func openTopics(server string) (archive, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(server), kgo.MetadataMinAge(latestEvery)) // else it would not look for new topics for seconds
	if err != nil {
		return nil, fmt.Errorf("connecting for queries: %w", err)
	}
	return &topics{server: server, client: client, admin: kadm.NewClient(client)}, nil
}

// find takes all topics but Kafka's own.
func (t *topics) find(ctx context.Context) error {
	if len(t.found) > 0 {
		return nil
	}
	all, err := t.admin.ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("listing topics: %w", err)
	}
	for _, name := range all.Names() {
		if !strings.HasPrefix(name, "__") {
			t.found = append(t.found, name)
		}
	}
	if len(t.found) == 0 {
		return errNothing
	}
	return nil
}

// ends are the offsets behind the newest messages.
func (t *topics) ends(ctx context.Context) (kadm.ListedOffsets, error) {
	if err := t.find(ctx); err != nil {
		return nil, err
	}
	ends, err := t.admin.ListEndOffsets(ctx, t.found...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the topics' ends: %w", err)
	}
	return ends, nil
}

// latest reads the last message of every partition and returns that with the newest time stamp.
func (t *topics) latest(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ends, err := t.ends(ctx)
	if err != nil {
		return nil, err
	}
	var newest *kgo.Record
	err = t.read(ctx, ends, func(end kadm.ListedOffset) int64 { return max(0, end.Offset-1) }, func(r *kgo.Record) {
		if newest == nil || r.Timestamp.After(newest.Timestamp) {
			newest = r
		}
	})
	if err != nil {
		return nil, err
	}
	if newest == nil {
		return nil, errNothing
	}
	return newest.Value, nil
}

func (t *topics) history(ctx context.Context, from time.Time) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ends, err := t.ends(ctx)
	if err != nil {
		return 0, err
	}
	begins, err := t.admin.ListOffsetsAfterMilli(ctx, from.UnixMilli(), t.found...)
	if err == nil {
		err = begins.Error()
	}
	if err != nil {
		return 0, fmt.Errorf("asking where the history begins: %w", err)
	}
	read := 0
	err = t.read(ctx, ends, func(end kadm.ListedOffset) int64 {
		if begin, ok := begins.Lookup(end.Topic, end.Partition); ok && begin.Offset >= 0 {
			return min(begin.Offset, end.Offset)
		}
		return end.Offset
	}, func(*kgo.Record) { read++ })
	return read, err
}

// read hands over all records of each partition from its start up to its end.
func (t *topics) read(ctx context.Context, ends kadm.ListedOffsets, start func(kadm.ListedOffset) int64, take func(*kgo.Record)) error {
	left, starts := 0, map[string]map[int32]kgo.EpochOffset{}
	ends.Each(func(end kadm.ListedOffset) {
		if starts[end.Topic] == nil {
			starts[end.Topic] = map[int32]kgo.EpochOffset{}
		}
		from := start(end)
		starts[end.Topic][end.Partition] = kgo.EpochOffset{Epoch: -1, Offset: from}
		if from < end.Offset {
			left++
		}
	})
	if left == 0 {
		return nil
	}
	if err := t.seek(starts); err != nil {
		return err
	}
	for left > 0 {
		fetches := t.consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("reading from Kafka: %w", err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			end, ok := ends.Lookup(r.Topic, r.Partition)
			if !ok || r.Offset >= end.Offset {
				return
			}
			take(r)
			if r.Offset == end.Offset-1 {
				left--
			}
		})
	}
	return nil
}

// seek sets the consumer, which fetches only when it is polled: a fetch that waited for new messages would delay the next query's.
func (t *topics) seek(starts map[string]map[int32]kgo.EpochOffset) error {
	if t.consumer != nil {
		t.consumer.SetOffsets(starts)
		return nil
	}
	first := map[string]map[int32]kgo.Offset{}
	for topic, partitions := range starts {
		first[topic] = map[int32]kgo.Offset{}
		for partition, at := range partitions {
			first[topic][partition] = kgo.NewOffset().At(at.Offset)
		}
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(t.server), kgo.ConsumePartitions(first), kgo.MaxConcurrentFetches(0),
		kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return fmt.Errorf("making a consumer: %w", err)
	}
	t.consumer = consumer
	return nil
}

func (t *topics) close() {
	if t.consumer != nil {
		t.consumer.Close()
	}
	t.client.Close()
}
