package stored

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topics asks Kafka: offsets over one connection, and each query's records by a consumer of its own, connecting included, as
// a program that asks now and then would.
type topics struct {
	server string
	client *kgo.Client
	admin  *kadm.Client
}

func openTopics(server string) (archive, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(server))
	if err != nil {
		return nil, fmt.Errorf("connecting for queries: %w", err)
	}
	return &topics{server, client, kadm.NewClient(client)}, nil
}

// names are the fleet's topics: all but Kafka's own.
func (t *topics) names(ctx context.Context) ([]string, error) {
	all, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing topics: %w", err)
	}
	var names []string
	for _, name := range all.Names() {
		if !strings.HasPrefix(name, "__") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errNothing
	}
	return names, nil
}

// ends are the offsets behind the newest messages.
func (t *topics) ends(ctx context.Context) (kadm.ListedOffsets, error) {
	names, err := t.names(ctx)
	if err != nil {
		return nil, err
	}
	ends, err := t.admin.ListEndOffsets(ctx, names...)
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ends, err := t.ends(ctx)
	if err != nil {
		return nil, err
	}
	starts := kadm.Offsets{}
	ends.Each(func(end kadm.ListedOffset) {
		if end.Offset > 0 {
			starts.AddOffset(end.Topic, end.Partition, end.Offset-1, -1)
		}
	})
	var newest *kgo.Record
	err = t.read(ctx, starts, ends, func(r *kgo.Record) {
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ends, err := t.ends(ctx)
	if err != nil {
		return 0, err
	}
	names, err := t.names(ctx)
	if err != nil {
		return 0, err
	}
	begins, err := t.admin.ListOffsetsAfterMilli(ctx, from.UnixMilli(), names...)
	if err != nil {
		return 0, fmt.Errorf("asking where the history begins: %w", err)
	}
	starts := kadm.Offsets{}
	begins.Each(func(begin kadm.ListedOffset) {
		if end, ok := ends.Lookup(begin.Topic, begin.Partition); ok && begin.Offset >= 0 && begin.Offset < end.Offset {
			starts.AddOffset(begin.Topic, begin.Partition, begin.Offset, -1)
		}
	})
	read := 0
	err = t.read(ctx, starts, ends, func(*kgo.Record) { read++ })
	return read, err
}

// read hands over all records from the starts up to the ends.
func (t *topics) read(ctx context.Context, starts kadm.Offsets, ends kadm.ListedOffsets, take func(*kgo.Record)) error {
	left := 0
	starts.Each(func(kadm.Offset) { left++ })
	if left == 0 {
		return nil
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(t.server), kgo.ConsumePartitions(starts.KOffsets()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return fmt.Errorf("making a consumer: %w", err)
	}
	defer consumer.Close()
	for left > 0 {
		fetches := consumer.PollFetches(ctx)
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

func (t *topics) close() { t.client.Close() }
