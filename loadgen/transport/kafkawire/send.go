package kafkawire

import (
	"sync"
	"time"

	"lifeline/loadgen/clock"
)

const (
	// A request carries at most this many bytes, or one message: brokers accept 1 MB by default.
	largestRequest = 512 << 10
	// The publisher writes data that fits into a socket's empty buffer; more data gets a goroutine, which may block.
	writtenAtOnce = 16 << 10
	// A broker whose socket buffer stays full this long has stopped.
	writeWithin = time.Second
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// send writes the next request when none is under way. The mutex is held.
func (c *connection) send() {
	for c.link != nil && c.flight == nil && len(c.waiting) > 0 {
		c.aim(c.waiting[0].route)
		if c.link == nil {
			return
		}
		count := c.together()
		c.flight, c.waiting = c.waiting[:count:count], c.waiting[count:]
		if len(c.waiting) == 0 {
			c.waiting = nil // the array belongs to the flight now, and goes with it
		}
		c.transmit()
	}
}

// together is how many of the waiting messages go into one request: those before another route's.
func (c *connection) together() int {
	count, bytes := 0, 0
	for _, m := range c.waiting {
		bytes += len(m.bytes)
		if m.route != c.target || count > 0 && bytes > largestRequest {
			break
		}
		count++
	}
	return count
}

// transmit writes what is in flight, for the first time or again. The mutex is held.
func (c *connection) transmit() {
	l := c.link
	c.asked, c.since = l.next(), clock.Now()
	buffer := buffers.Get().(*[]byte)
	request := appendProduce((*buffer)[:0], c.asked, c.transport.acks, *c.target, c.key, c.flight)
	*buffer = request
	if len(request) <= writtenAtOnce {
		c.written(l, l.write(request, writeWithin, c.transport.acks != 0))
		buffers.Put(buffer)
		return
	}
	go func() {
		err := l.write(request, silence, c.transport.acks != 0)
		buffers.Put(buffer)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.written(l, err)
		c.send()
	}()
}

// write also sets by when the answer is missed.
func (l *link) write(request []byte, within time.Duration, answered bool) error {
	now := time.Now()
	if answered {
		if err := l.socket.SetReadDeadline(now.Add(requestTimeout)); err != nil {
			return err
		}
	}
	if err := l.socket.SetWriteDeadline(now.Add(within)); err != nil {
		return err
	}
	_, err := l.socket.Write(request)
	return err
}

// written: without acknowledgements a request is over once it has left. The mutex is held.
func (c *connection) written(l *link, err error) {
	if c.link != l {
		return // what was in flight goes over the new link
	}
	if err != nil {
		c.drop()
		return
	}
	if c.transport.acks == 0 {
		bytes := 0
		for _, m := range c.flight {
			bytes += len(m.bytes)
		}
		count := len(c.flight)
		c.flight = nil
		c.settled(count, bytes)
	}
}
