package kafkalib

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/transport"
)

// Every node leads so many partitions of a topic.
const partitionsPerNode = 2

// Topic is a channel's name on the broker.
func Topic(settings transport.Settings, channel string) string {
	return "fleet-" + settings.Run + "-" + channel
}

// Prepare makes a topic for each channel and waits until every partition has a leader.
func (t *Transport) Prepare(ctx context.Context, channels []string) error {
	return t.administer(func(client *kgo.Client, admin *kadm.Client) error {
		partitions := partitionsPerNode * len(t.settings.Servers)
		replicas := max(1, t.settings.Replicas)
		var topics []string
		for _, channel := range channels {
			topics = append(topics, Topic(t.settings, channel))
		}
		made, err := admin.CreateTopics(ctx, int32(partitions), int16(replicas), t.topicSettings(partitions, replicas), topics...)
		if err != nil {
			return fmt.Errorf("making topics on Kafka: %w", err)
		}
		var failed error
		for _, topic := range made {
			if topic.Err != nil {
				failed = fmt.Errorf("making topic %s with %d replicas: %w", topic.Topic, replicas, detailed(topic.Err, topic.ErrMessage))
			} else {
				t.prepared = append(t.prepared, topic.Topic)
			}
		}
		if failed != nil {
			return failed
		}
		if err := waitForLeaders(ctx, client, partitions, topics); err != nil {
			return fmt.Errorf("waiting for the leaders of %d topics: %w", len(topics), err)
		}
		return nil
	})
}

// topicSettings bound what a run leaves on the disk, and make "all" mean at least two copies where there are three.
func (t *Transport) topicSettings(partitions, replicas int) map[string]*string {
	settings := map[string]*string{"compression.type": kadm.StringPtr("producer")}
	if replicas > 2 {
		settings["min.insync.replicas"] = kadm.StringPtr(strconv.Itoa(replicas - 1))
	}
	if t.settings.Retention > 0 {
		perPartition := max(t.settings.Retention/int64(partitions), 4*smallestSegment)
		// Kafka deletes whole segments, and never the one that is being written.
		segment := min(max(perPartition/4, smallestSegment), largestSegment)
		settings["retention.bytes"] = kadm.StringPtr(strconv.FormatInt(perPartition-segment, 10))
		settings["segment.bytes"] = kadm.StringPtr(strconv.FormatInt(segment, 10))
	}
	return settings
}

// What Kafka takes as segment.bytes: more than its own default is of no use.
const (
	smallestSegment = 1 << 20
	largestSegment  = 1 << 30
)

// waitForLeaders returns when the leader of every partition knows that it is one. That takes milliseconds, but nodes learn of a
// topic one after the other, and until then a client that asks another node gets the error that the topic does not exist.
func waitForLeaders(ctx context.Context, client *kgo.Client, partitions int, topics []string) error {
	return patiently(ctx, client, func(ctx context.Context) error {
		ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topics...)
		if err == nil {
			err = ends.Error()
		}
		if err != nil {
			return err
		}
		for _, topic := range topics {
			if led := len(ends[topic]); led != partitions {
				return fmt.Errorf("%d of %d partitions of topic %s have a leader: %w", led, partitions, topic, kerr.LeaderNotAvailable)
			}
		}
		return nil
	})
}

const (
	agreePause  = 50 * time.Millisecond // between two questions to nodes that disagree about a leader
	agreeWithin = 30 * time.Second      // they agree by then, or something else is wrong
)

// patiently repeats a request while Kafka reports a retriable error.
func patiently(ctx context.Context, client *kgo.Client, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, agreeWithin)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil || !kerr.IsRetriable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(agreePause):
			client.ForceMetadataRefresh()
		}
	}
}

// Remove deletes the topics that Prepare made.
func (t *Transport) Remove(ctx context.Context) error {
	if len(t.prepared) == 0 {
		return nil
	}
	return t.administer(func(_ *kgo.Client, admin *kadm.Client) error {
		removed, err := admin.DeleteTopics(ctx, t.prepared...)
		if err != nil {
			return fmt.Errorf("deleting topics on Kafka: %w", err)
		}
		for _, topic := range removed {
			if topic.Err != nil && !errors.Is(topic.Err, kerr.UnknownTopicOrPartition) {
				return fmt.Errorf("deleting topic %s: %w", topic.Topic, detailed(topic.Err, topic.ErrMessage))
			}
		}
		t.prepared = nil
		return nil
	})
}

// Leader is the leader of a partition; Address is host:port, empty if there is none.
type Leader struct {
	Partition int32
	Address   string
}

// Leaders asks any broker for the leaders of a topic's partitions, which come in the order of their numbers.
func (t *Transport) Leaders(ctx context.Context, channel string) ([]Leader, error) {
	topic, leaders := Topic(t.settings, channel), []Leader(nil)
	err := t.administer(func(client *kgo.Client, admin *kadm.Client) error {
		var known kadm.Metadata
		err := patiently(ctx, client, func(ctx context.Context) (err error) {
			if known, err = admin.Metadata(ctx, topic); err == nil {
				err = known.Topics[topic].Err
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("asking for the leaders of topic %s: %w", topic, err)
		}
		addresses := map[int32]string{}
		for _, broker := range known.Brokers {
			addresses[broker.NodeID] = net.JoinHostPort(broker.Host, strconv.Itoa(int(broker.Port)))
		}
		for _, partition := range known.Topics[topic].Partitions.Sorted() {
			leaders = append(leaders, Leader{partition.Partition, addresses[partition.Leader]})
		}
		return nil
	})
	return leaders, err
}

// administer runs work with a client that lives as long.
func (t *Transport) administer(work func(*kgo.Client, *kadm.Client) error) error {
	client, err := kgo.NewClient(t.options(t.settings.Servers, nil)...)
	if err != nil {
		return fmt.Errorf("making a Kafka client: %w", err)
	}
	defer client.Close()
	return work(client, kadm.NewClient(client))
}

// detailed adds what the broker says beside its error code.
func detailed(err error, message string) error {
	if message == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, message)
}
