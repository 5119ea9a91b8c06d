package natslib

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

const (
	// publishTimeout bounds the retries of a message: longer than an election, shorter than the stream remembers its id
	// (two minutes) and the harness the message.
	publishTimeout = 30 * time.Second
	// inProcess is the server's error code for a message whose first publishing it is still storing.
	inProcess = jetstream.ErrorCode(10158)
)

// throughElection repeats what no stream heard, because it has no leader at the moment. nats.go gives up after half a second of
// that, an election takes several.
var throughElection = []jetstream.PublishOpt{
	jetstream.WithRetryWait(jetstream.DefaultPubRetryWait),
	jetstream.WithRetryAttempts(int(publishTimeout / jetstream.DefaultPubRetryWait)),
}

// streamPublisher publishes in the background; the stream's answers come in on goroutines of nats.go's. What a dying node has
// left unanswered it publishes again, as clients of the other brokers do by themselves: the stream knows the message by its id,
// and keeps it once. Of several messages under way, those that are published again may come behind later ones.
type streamPublisher struct {
	*link
	transport *Transport
	stream    jetstream.JetStream

	mutex      sync.Mutex
	pending    map[*nats.Msg]waiting
	unanswered sync.WaitGroup
}

// waiting is the state of a message until it is acknowledged or given up.
type waiting struct {
	acknowledged transport.Acknowledged
	until        time.Time // it is published again
}

func newStreamPublisher(t *Transport, l *link) (transport.Connection, error) {
	p := &streamPublisher{link: l, transport: t, pending: make(map[*nats.Msg]waiting)}
	stream, err := jetstream.New(l.Conn,
		jetstream.WithPublishAsyncTimeout(answerTimeout),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, message *nats.Msg, _ *jetstream.PubAck) {
			p.resolve(message, nil)
		}),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, message *nats.Msg, err error) {
			p.unheard(message, err)
		}))
	if err != nil {
		l.Conn.Close()
		return nil, err
	}
	p.stream = stream
	return p, nil
}

// Publish copies the message, since it may have to be published again.
func (p *streamPublisher) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	if err := p.usable(); err != nil {
		return err
	}
	m := &nats.Msg{
		Subject: p.transport.subject(channel), Data: bytes.Clone(message),
		Header: nats.Header{jetstream.MsgIDHeader: []string{nuid.Next()}},
	}
	p.mutex.Lock()
	p.pending[m] = waiting{acknowledged, time.Now().Add(publishTimeout)}
	p.unanswered.Add(1)
	p.mutex.Unlock()
	if _, err := p.stream.PublishMsgAsync(m, throughElection...); err != nil {
		if _, waits := p.take(m); !waits {
			return nil // acknowledged before the error
		}
		p.unanswered.Done()
		return err
	}
	return nil
}

// unheard handles a missing or negative acknowledgement of the stream.
func (p *streamPublisher) unheard(message *nats.Msg, err error) {
	var refused *jetstream.APIError
	again := errors.Is(err, nats.ErrDisconnected) || errors.Is(err, jetstream.ErrAsyncPublishTimeout) ||
		errors.As(err, &refused) && refused.ErrorCode == inProcess
	if !again || !p.patientWith(message) {
		p.resolve(message, err)
		return
	}
	// Not in this call, in which nats.go may hold its lock.
	time.AfterFunc(retryPause, func() {
		if !p.patientWith(message) {
			p.resolve(message, err)
		} else if _, failed := p.stream.PublishMsgAsync(message, throughElection...); failed != nil {
			p.resolve(message, failed)
		}
	})
}

func (p *streamPublisher) patientWith(message *nats.Msg) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return time.Now().Before(p.pending[message].until)
}

func (p *streamPublisher) resolve(message *nats.Msg, err error) {
	if one, waits := p.take(message); waits {
		one.acknowledged(clock.Now(), err)
		p.unanswered.Done()
	}
}

// take makes sure that each message is resolved once, however many goroutines of nats.go know how it ended.
func (p *streamPublisher) take(message *nats.Msg) (one waiting, waits bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	one, waits = p.pending[message]
	delete(p.pending, message)
	return one, waits
}

// Close waits for the stream's answers.
func (p *streamPublisher) Close(ctx context.Context) error {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		p.unanswered.Wait()
	}()
	var err error
	select {
	case <-answered:
	case <-ctx.Done():
		err = fmt.Errorf("wait for the stream's acknowledgements: %w", ctx.Err())
	}
	p.Conn.Close()
	for _, message := range p.left() {
		p.resolve(message, nats.ErrConnectionClosed)
	}
	return err
}

func (p *streamPublisher) left() []*nats.Msg {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Collect(maps.Keys(p.pending))
}
