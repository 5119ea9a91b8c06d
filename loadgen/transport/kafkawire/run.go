package kafkawire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"lifeline/loadgen/clock"
)

const (
	openWithin    = 10 * time.Second
	shortestPause = 100 * time.Millisecond // before a refused request or connection is tried again
	longestPause  = 2 * time.Second
)

var (
	errMoved  = errors.New("the partition has another leader")
	errSilent = fmt.Errorf("the broker has not answered for %s", silence)
)

// run reads answers for as long as the connection lives, over one link after the other.
func (c *connection) run(l *link) {
	for l != nil {
		err := c.serve(l)
		l.socket.Close()
		// A broker that takes connections but breaks off at each request must not be met by thousands of them without a pause.
		if !l.heard && c.isMissing() && !c.pause(shortestPause) {
			return
		}
		l = c.reopen(err)
	}
}

// isMissing reports whether a request was sent and not answered.
func (c *connection) isMissing() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.flight != nil
}

// serve settles the broker's responses until the link fails.
func (c *connection) serve(l *link) error {
	for {
		correlation, answer, err := l.answer(longestAnswer)
		at := clock.Now()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = c.wait(l)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if err := c.answered(l, correlation, answer, at); err != nil {
			return err
		}
	}
}

// answered settles the request under way, or tries it again.
func (c *connection) answered(l *link, correlation int32, answer *fields, at int64) error {
	c.mutex.Lock()
	if c.link != l {
		c.mutex.Unlock()
		return errMoved
	}
	if len(c.flight) == 0 || c.transport.acks == 0 || correlation != c.asked {
		c.mutex.Unlock()
		return fmt.Errorf("%w: nobody asked for number %d", errProtocol, correlation)
	}
	refused, malformed := readProduced(answer, *c.target)
	l.heard = l.heard || malformed == nil
	if malformed != nil || kerr.IsRetriable(refused) {
		c.mutex.Unlock()
		if malformed != nil {
			return malformed
		}
		return c.again(l, refused)
	}
	settled := c.flight
	c.flight = nil
	if err := l.socket.SetReadDeadline(time.Time{}); err != nil {
		c.drop()
	}
	c.send()
	c.mutex.Unlock()
	c.settle(settled, at, refused)
	return nil
}

// again repeats a request that the broker could not take at the moment.
func (c *connection) again(l *link, refused error) error {
	if !c.pause(shortestPause) {
		return errClosed
	}
	c.expire(refused)
	if c.hasMoved(l) {
		return errMoved
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.link == l && c.flight != nil {
		c.transmit()
	}
	c.send()
	return nil
}

// wait is for an answer that takes long: its broker may have stopped, and another one lead the partition by now.
func (c *connection) wait(l *link) error {
	c.mutex.Lock()
	if c.flight == nil {
		defer c.mutex.Unlock() // only now: the next publisher sets the deadline of its answer
		return l.socket.SetReadDeadline(time.Time{})
	}
	since := c.since
	c.mutex.Unlock()
	if clock.Now()-since > int64(silence) {
		return errSilent
	}
	if c.hasMoved(l) {
		return errMoved
	}
	return l.socket.SetReadDeadline(time.Now().Add(requestTimeout))
}

// hasMoved reports whether the partition is known to have a leader other than the link's broker.
func (c *connection) hasMoved(l *link) bool {
	address, err := c.leader()
	return err == nil && address != l.address
}

// leader is where to connect to: the target's leader, or before the first message the node that was asked for.
func (c *connection) leader() (string, error) {
	c.mutex.Lock()
	if c.target == nil && len(c.waiting) > 0 {
		c.target = c.waiting[0].route
	}
	target := c.target
	c.mutex.Unlock()
	if target == nil {
		return c.transport.settings.Servers[c.node], nil
	}
	known, err := c.transport.leaders.now(target.channel)
	if err != nil {
		return "", err
	}
	return addressOf(known, target.partition)
}

// reopen returns a new link after everything that was under way went over it again; nil when the connection is closed.
func (c *connection) reopen(cause error) *link {
	c.mutex.Lock()
	c.link = nil
	c.mutex.Unlock()
	for pause := shortestPause; !c.isClosed(); pause = min(2*pause, longestPause) {
		c.expire(cause) // each time: a broker may greet, and never answer what follows
		l, err := c.reach()
		if err == nil {
			return c.use(l)
		}
		cause = err
		c.pause(pause)
	}
	return nil
}

func (c *connection) reach() (*link, error) {
	address, err := c.leader()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	return c.transport.open(ctx, address)
}

func (c *connection) use(l *link) *link {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed() {
		l.socket.Close()
		return nil
	}
	c.link = l
	if c.flight != nil {
		c.transmit()
	}
	c.send()
	return l
}

// expire gives up messages that have been tried for long enough.
func (c *connection) expire(cause error) {
	now := clock.Now()
	late := func(messages []message) int {
		count := 0
		for count < len(messages) && messages[count].until < now {
			count++
		}
		return count
	}
	c.mutex.Lock()
	inFlight, inQueue := late(c.flight), 0
	if inFlight == len(c.flight) {
		inQueue = late(c.waiting)
	}
	expired := append(append([]message(nil), c.flight[:inFlight]...), c.waiting[:inQueue]...)
	if c.flight, c.waiting = c.flight[inFlight:], c.waiting[inQueue:]; len(c.flight) == 0 {
		c.flight = nil
	}
	c.mutex.Unlock()
	if len(expired) > 0 {
		c.settle(expired, now, fmt.Errorf("not stored within %s: %w", deliverWithin, cause))
	}
}

// pause is up to twice as long for one as for another, so that thousands do not come back at once; false means closed.
func (c *connection) pause(length time.Duration) bool {
	timer := time.NewTimer(length/2 + rand.N(length/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ended:
		return false
	}
}

func (c *connection) isClosed() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}
