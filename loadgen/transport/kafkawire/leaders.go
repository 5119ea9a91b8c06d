package kafkawire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lifeline/loadgen/transport/kafkalib"
)

// leaders is what a process knows of its channels. Thousands of connections lose their leader at the same moment: one of them
// asks for all.
type leaders struct {
	ask   func(ctx context.Context, channel string) ([]kafkalib.Leader, error)
	mutex sync.Mutex
	known map[string]knowledge
}

type knowledge struct {
	at      time.Time
	leaders []kafkalib.Leader
	err     error
}

// An answer, or a failure, is good for so long for everyone who asks.
const fresh = 250 * time.Millisecond

// of returns the leaders of a channel's partitions as they were not earlier than the given time; the zero time stands for
// what is known, however old.
func (l *leaders) of(ctx context.Context, channel string, since time.Time) ([]kafkalib.Leader, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	known, found := l.known[channel]
	if !found || known.err != nil && time.Since(known.at) > fresh || known.err == nil && known.at.Before(since) {
		known.leaders, known.err = l.ask(ctx, channel)
		known.at = time.Now()
		if l.known == nil {
			l.known = map[string]knowledge{}
		}
		l.known[channel] = known
	}
	return known.leaders, known.err
}

// of partition, its leader's address.
func addressOf(known []kafkalib.Leader, partition int32) (string, error) {
	for _, leader := range known {
		if leader.Partition == partition && leader.Address != "" {
			return leader.Address, nil
		}
	}
	return "", fmt.Errorf("partition %d has no leader at the moment", partition)
}

// choose spreads connections over the partitions that the broker at address leads, or over all where it leads none.
func choose(known []kafkalib.Leader, address string, number int) (int32, error) {
	if len(known) == 0 {
		return 0, fmt.Errorf("the topic has no partitions")
	}
	var near []kafkalib.Leader
	for _, leader := range known {
		if leader.Address == address {
			near = append(near, leader)
		}
	}
	if len(near) == 0 {
		near = known
	}
	return near[number%len(near)].Partition, nil
}
