package kafkalib

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

const (
	// A producer holds at most so many messages that are not acknowledged: half of what franz-go itself takes before it blocks.
	mostWaiting = 5_000
	// A transaction that went wrong may take so long to be ended.
	abortWithin = 10 * time.Second
)

var errClosed = errors.New("the connection has been closed")

// errFull is a broker that has been gone for long, or a generator that is faster than it.
var errFull = fmt.Errorf("%d messages wait for their acknowledgement already", mostWaiting)

// connection is a producer that publishes in the background.
type connection struct {
	settings     transport.Settings
	client       *kgo.Client
	key          []byte
	acknowledges bool
	closed       atomic.Bool
}

func (c *connection) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	if c.closed.Load() {
		return errClosed
	}
	if c.client.BufferedProduceRecords() >= mostWaiting {
		return errFull
	}
	c.client.TryProduce(context.Background(), recordOf(Topic(c.settings, channel), c.key, message), func(_ *kgo.Record, err error) {
		if c.acknowledges {
			acknowledged(clock.Now(), err)
		}
	})
	return nil
}

func (c *connection) Close(ctx context.Context) error {
	c.closed.Store(true)
	defer c.client.Close()
	if err := c.client.Flush(ctx); err != nil {
		return fmt.Errorf("waiting for %d messages to be acknowledged: %w", c.client.BufferedProduceRecords(), err)
	}
	return nil
}

// recordOf copies the message, which is its caller's again after Publish.
func recordOf(topic string, key, message []byte) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: key, Value: append([]byte(nil), message...)}
}

// transactional is a producer that puts a transaction of its own around each message; it has one at a time.
type transactional struct {
	settings transport.Settings
	client   *kgo.Client
	key      []byte
	living   context.Context // ends when Close waits no longer
	giveUp   context.CancelFunc
	one      sync.Mutex
	closed   bool
}

func newTransactional(settings transport.Settings, client *kgo.Client, key []byte) *transactional {
	living, giveUp := context.WithCancel(context.Background())
	return &transactional{settings: settings, client: client, key: key, living: living, giveUp: giveUp}
}

func (t *transactional) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	t.one.Lock()
	defer t.one.Unlock()
	if t.closed {
		return errClosed
	}
	ctx, cancel := context.WithTimeout(t.living, deliverWithin)
	defer cancel()
	// One that could not be ended is still open, however its commit went, and forbids another; where there is none, this does nothing.
	if err := t.client.EndTransaction(ctx, kgo.TryAbort); err != nil {
		return fmt.Errorf("ending the transaction before: %w", err)
	}
	if err := t.client.BeginTransaction(); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	err := t.client.ProduceSync(ctx, recordOf(Topic(t.settings, channel), t.key, message)).FirstErr()
	if err == nil {
		if err = t.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
			err = fmt.Errorf("committing a transaction: %w", err)
		}
	}
	acknowledged(clock.Now(), err)
	if err != nil {
		t.abort()
	}
	return nil
}

// abort ends a transaction that went wrong, since consumers read no further than the first open one. Where that fails too, the next
// message tries again.
func (t *transactional) abort() {
	ctx, cancel := context.WithTimeout(t.living, abortWithin)
	defer cancel()
	_ = t.client.EndTransaction(ctx, kgo.TryAbort)
}

func (t *transactional) Close(ctx context.Context) error {
	defer t.giveUp()
	stop := context.AfterFunc(ctx, t.giveUp)
	defer stop()
	t.one.Lock()
	defer t.one.Unlock()
	t.closed = true
	t.client.Close()
	if t.living.Err() != nil {
		return fmt.Errorf("waiting for a transaction to end: %w", ctx.Err())
	}
	return nil
}
