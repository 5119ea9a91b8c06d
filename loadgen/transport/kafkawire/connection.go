package kafkawire

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/kafkalib"
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
	route        *route
	bytes        []byte
	acknowledged transport.Acknowledged
	until        int64 // clock.Now() by when it must have been stored
}

// route is where a connection's messages of one channel go: always to the same partition, which keeps them in order.
type route struct {
	channel   string
	topic     string
	partition int32
}

// connection publishes. Its goroutine run reads answers and opens the link anew when it has broken; the holder of the mutex
// may write requests.
type connection struct {
	transport *Transport
	node      int
	number    uint32
	key       string
	ended     chan struct{} // closed by Close

	mutex     sync.Mutex
	link      *link     // nil while there is none
	routes    []*route  // one for each channel so far, which is one in a fleet
	target    *route    // what the link's other end leads; nil before the first message
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
	route, err := c.route(channel)
	if err != nil {
		return fmt.Errorf("publishing to channel %s: %w", channel, err)
	}
	if c.unsettled >= mostMessages || c.bytes+len(bytes) > mostBytes {
		return errFull
	}
	c.waiting = append(c.waiting, message{route, append([]byte(nil), bytes...), acknowledged, clock.Now() + int64(deliverWithin)})
	c.unsettled++
	c.bytes += len(bytes)
	c.send()
	return nil
}

// route finds the partition of a channel, which is chosen when the first message comes.
func (c *connection) route(channel string) (*route, error) {
	for _, route := range c.routes {
		if route.channel == channel {
			return route, nil
		}
	}
	known, err := c.transport.leaders.known(channel)
	if err != nil {
		return nil, err
	}
	servers := c.transport.settings.Servers
	// Connections take nodes in turn; dividing keeps those of one node from sharing a partition.
	partition, err := choose(known, servers[c.node], int(c.number)/len(servers))
	if err != nil {
		return nil, err
	}
	chosen := &route{channel, kafkalib.Topic(c.transport.settings, channel), partition}
	c.routes = append(c.routes, chosen)
	return chosen, nil
}

// aim makes the link lead to a route's leader, and gives it up where it leads to another broker. The mutex is held.
func (c *connection) aim(at *route) {
	if c.target == at {
		return
	}
	c.target = at
	if known, err := c.transport.leaders.known(at.channel); err == nil {
		if address, err := addressOf(known, at.partition); err == nil && address == c.link.address {
			return
		}
	}
	c.drop()
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

// settle reports the outcome of messages; the mutex is free, because the callbacks may publish.
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

// settled updates the counters for messages that need no acknowledgement any more.
func (c *connection) settled(messages, bytes int) {
	c.unsettled -= messages
	c.bytes -= bytes
	if c.unsettled == 0 && messages > 0 && c.drained != nil {
		close(c.drained)
	}
}
