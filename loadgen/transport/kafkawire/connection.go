package kafkawire

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// What one connection holds at most until it is acknowledged. A fleet's generators come nowhere near; a broker that is gone
// must not become a client that is out of memory.
const (
	mostMessages = 5_000
	mostBytes    = 16 << 20
)

var (
	errFull   = fmt.Errorf("%d messages or %d MB wait for their acknowledgement already", mostMessages, mostBytes>>20)
	errClosed = errors.New("the connection has been closed")
)

// message is one that was published and is not settled yet.
type message struct {
	bytes        []byte
	acknowledged transport.Acknowledged
	until        int64 // clock.Now() by when it must have been stored
}

// connection publishes to one partition. Its goroutine run reads answers and opens the link anew when it has broken; whoever
// holds the mutex may write requests.
type connection struct {
	transport *Transport
	node      int
	number    uint32
	key       string
	ended     chan struct{} // closed by Close

	mutex     sync.Mutex
	link      *link     // nil while there is none
	channel   string    // empty before the first message
	partition int32     // of the channel
	waiting   []message // in no request yet
	flight    []message // in the request under way
	asked     int32     // correlation id of that request
	since     int64     // clock.Now() when it was written
	unsettled int       // waiting, in flight or just being acknowledged
	bytes     int       // of these
	drained   chan struct{}
}

func newConnection(t *Transport, node int, number uint32, l *link) *connection {
	c := &connection{transport: t, node: node, number: number, link: l, ended: make(chan struct{})}
	c.key = fmt.Sprintf("%s-%d", t.process, number)
	return c
}

func (c *connection) Publish(channel string, bytes []byte, acknowledged transport.Acknowledged) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.drained != nil {
		return errClosed
	}
	if err := c.bind(channel); err != nil {
		return err
	}
	if c.unsettled >= mostMessages || c.bytes+len(bytes) > mostBytes {
		return errFull
	}
	c.waiting = append(c.waiting, message{append([]byte(nil), bytes...), acknowledged, clock.Now() + int64(deliverWithin)})
	c.unsettled++
	c.bytes += len(bytes)
	c.send()
	return nil
}

// bind chooses the partition when the first message tells the channel.
func (c *connection) bind(channel string) error {
	if c.channel == channel {
		return nil
	}
	if c.channel != "" {
		return fmt.Errorf("a minimal Kafka connection publishes to one channel: %s, and not %s", c.channel, channel)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	known, err := c.transport.leaders.of(ctx, channel, unknownOnly)
	if err != nil {
		return err
	}
	near := c.transport.settings.Servers[c.node]
	// Connections take nodes in turn; dividing keeps those of one node from sharing a partition.
	partition, err := choose(known, near, int(c.number)/len(c.transport.settings.Servers))
	if err != nil {
		return fmt.Errorf("publishing to topic %s: %w", channel, err)
	}
	c.channel, c.partition = channel, partition
	if address, err := addressOf(known, partition); c.link != nil && (err != nil || address != c.link.address) {
		c.drop()
	}
	return nil
}

// drop gives the link up; run notices.
func (c *connection) drop() {
	c.link.socket.Close()
	c.link = nil
}

// Close waits until everything published is settled, or until ctx ends: then what is left is acknowledged as an error.
func (c *connection) Close(ctx context.Context) error {
	c.mutex.Lock()
	if c.drained != nil {
		c.mutex.Unlock()
		return errClosed
	}
	c.drained = make(chan struct{})
	if c.unsettled == 0 {
		close(c.drained)
	}
	c.mutex.Unlock()

	var err error
	select {
	case <-c.drained:
	case <-ctx.Done():
		err = fmt.Errorf("waiting for messages to be stored: %w", ctx.Err())
	}
	close(c.ended)
	c.mutex.Lock()
	left := append(c.flight, c.waiting...)
	c.flight, c.waiting = nil, nil
	if c.link != nil {
		c.drop()
	}
	c.mutex.Unlock()
	c.settle(left, clock.Now(), errClosed)
	return err
}

// settle tells what became of messages; the mutex is free, because their owners may publish meanwhile.
func (c *connection) settle(messages []message, at int64, err error) {
	bytes := 0
	for _, m := range messages {
		bytes += len(m.bytes)
		if c.transport.acks != 0 {
			m.acknowledged(at, err)
		}
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.settled(len(messages), bytes)
}

// settled does the books of messages that need no acknowledgement any more.
func (c *connection) settled(messages, bytes int) {
	c.unsettled -= messages
	c.bytes -= bytes
	if c.unsettled == 0 && messages > 0 && c.drained != nil {
		close(c.drained)
	}
}
