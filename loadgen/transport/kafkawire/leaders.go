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
	ask    func(ctx context.Context, channel string) ([]kafkalib.Leader, error)
	asking sync.Mutex // held during a request; taken before mutex
	mutex  sync.Mutex
	said   map[string]saying
}

// saying is what the broker said last.
type saying struct {
	at      time.Time         // of the last question
	err     error             // its answer, where it had none
	leaders []kafkalib.Leader // the last known; nil: none yet
}

const (
	// What the broker said, or that it said nothing, is good for so long for everyone who asks.
	fresh     = 250 * time.Millisecond
	askWithin = 10 * time.Second
)

// known returns a channel's leaders, possibly outdated. Publishers call it, so it waits for a broker only if none are known.
func (l *leaders) known(channel string) ([]kafkalib.Leader, error) {
	if said := l.last(channel); said.leaders != nil {
		return said.leaders, nil
	}
	return l.now(channel)
}

// now are a channel's leaders as they are.
func (l *leaders) now(channel string) ([]kafkalib.Leader, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	said := l.last(channel)
	if time.Since(said.at) >= fresh {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		var told []kafkalib.Leader
		if told, said.err = l.ask(ctx, channel); said.err == nil {
			said.leaders = told
		}
		said.at = time.Now()
		l.remember(channel, said)
	}
	if said.err != nil {
		return nil, said.err
	}
	return said.leaders, nil
}

func (l *leaders) last(channel string) saying {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.said[channel]
}

func (l *leaders) remember(channel string, said saying) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.said == nil {
		l.said = map[string]saying{}
	}
	l.said[channel] = said
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
