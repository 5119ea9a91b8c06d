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
	said  map[string]saying
}

// saying is what the broker said last.
type saying struct {
	at      time.Time
	leaders []kafkalib.Leader
	err     error
}

const (
	// What the broker said, or that it said nothing, is good for so long for everyone who asks.
	fresh     = 250 * time.Millisecond
	askWithin = 10 * time.Second
)

// known are a channel's leaders as they were at some time.
func (l *leaders) known(channel string) ([]kafkalib.Leader, error) {
	return l.since(channel, func(s saying) bool { return s.err == nil || time.Since(s.at) < fresh })
}

// now are a channel's leaders as they are.
func (l *leaders) now(channel string) ([]kafkalib.Leader, error) {
	return l.since(channel, func(s saying) bool { return time.Since(s.at) < fresh })
}

func (l *leaders) since(channel string, good func(saying) bool) ([]kafkalib.Leader, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	said, found := l.said[channel]
	if !found || !good(said) {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		said.leaders, said.err = l.ask(ctx, channel)
		said.at = time.Now()
		if l.said == nil {
			l.said = map[string]saying{}
		}
		l.said[channel] = said
	}
	return said.leaders, said.err
}

// addressOf is where a partition's leader listens.
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
