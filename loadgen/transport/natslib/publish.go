package natslib

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// acknowledgementTimeout is how long a stream may take to answer: longer than an election, shorter than the harness' memory
// of a message.
const acknowledgementTimeout = 30 * time.Second

// throughElection repeats what no stream heard, because it has no leader at the moment. nats.go gives up after half a second of
// that, an election takes several; and since nobody heard it, it cannot be stored twice.
var throughElection = []jetstream.PublishOpt{
	jetstream.WithRetryWait(jetstream.DefaultPubRetryWait),
	jetstream.WithRetryAttempts(int(acknowledgementTimeout / jetstream.DefaultPubRetryWait)),
}

// streamPublisher publishes in the background; the stream's answers come in on a goroutine of nats.go's.
type streamPublisher struct {
	*link
	transport *Transport
	stream    jetstream.JetStream

	mutex   sync.Mutex
	pending map[*nats.Msg]transport.Acknowledged
}

func newStreamPublisher(t *Transport, l *link) (transport.Connection, error) {
	p := &streamPublisher{link: l, transport: t, pending: make(map[*nats.Msg]transport.Acknowledged)}
	stream, err := jetstream.New(l.Conn,
		jetstream.WithPublishAsyncTimeout(acknowledgementTimeout),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, message *nats.Msg, _ *jetstream.PubAck) {
			p.resolve(message, nil)
		}),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, message *nats.Msg, err error) {
			p.resolve(message, err)
		}))
	if err != nil {
		l.Conn.Close()
		return nil, err
	}
	p.stream = stream
	return p, nil
}

// Publish copies the message, since nats.go keeps it to send it again where no stream answers at first.
func (p *streamPublisher) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	if err := p.usable(); err != nil {
		return err
	}
	m := &nats.Msg{Subject: p.transport.subject(channel), Data: bytes.Clone(message)}
	p.mutex.Lock()
	p.pending[m] = acknowledged
	p.mutex.Unlock()
	if _, err := p.stream.PublishMsgAsync(m, throughElection...); err != nil {
		if p.take(m) == nil {
			return nil // the answer was there before the error, and has been told
		}
		return err
	}
	return nil
}

func (p *streamPublisher) resolve(message *nats.Msg, err error) {
	if acknowledged := p.take(message); acknowledged != nil {
		acknowledged(clock.Now(), err)
	}
}

// take makes sure that each message is resolved once, however many goroutines of nats.go know how it ended.
func (p *streamPublisher) take(message *nats.Msg) transport.Acknowledged {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	acknowledged := p.pending[message]
	delete(p.pending, message)
	return acknowledged
}

// Close waits for the stream's answers.
func (p *streamPublisher) Close(ctx context.Context) error {
	var err error
	select {
	case <-p.stream.PublishAsyncComplete():
	case <-ctx.Done():
		err = fmt.Errorf("wait for the stream's acknowledgements: %w", ctx.Err())
	}
	p.Conn.Close()
	p.mutex.Lock()
	left := p.pending
	p.pending = map[*nats.Msg]transport.Acknowledged{}
	p.mutex.Unlock()
	for _, acknowledged := range left {
		acknowledged(clock.Now(), nats.ErrConnectionClosed)
	}
	return err
}
