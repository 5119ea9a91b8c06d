package natslib

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/transport"
)

const (
	// heartbeat is the shortest that nats.go allows: after two of them without a sign a consumer is made anew elsewhere.
	heartbeat = 500 * time.Millisecond
	// fetchSize is the most messages of one poll's request; it asks again until one brings fewer.
	fetchSize = 500
)

// subscribeStream reads the stream from its present end on. Nothing is acknowledged by the consumer: it is the stream's
// order that tells what comes next, also after a node's death.
func (t *Transport) subscribeStream(ctx context.Context, l *link, _ int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, t.streamName())
	if err != nil {
		return nil, err
	}
	next := stream.CachedInfo().State.LastSeq + 1
	if t.settings.Poll > 0 {
		return t.poll(ctx, l, stream, channel, next, deliver)
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{t.subject(channel)},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    next,
	})
	if err != nil {
		return nil, err
	}
	running, err := consumer.Consume(func(message jetstream.Msg) { deliver(message.Data(), l.dialer.lastRead()) },
		jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return nil, err
	}
	return &subscription{link: l, stop: func() {
		running.Stop()
		<-running.Closed()
	}}, nil
}

// poller asks for what has come, at a steady pace, as the study's consumer of a table did.
type poller struct {
	*link
	transport *Transport
	stream    jetstream.Stream
	subject   string
	deliver   transport.Deliver

	consumer   jetstream.Consumer
	next       uint64 // sequence in the stream
	delivered  uint64 // by this consumer
	reconnects uint64 // of the connection, when this consumer was made
}

func (t *Transport) poll(ctx context.Context, l *link, stream jetstream.Stream, channel string, next uint64,
	deliver transport.Deliver,
) (transport.Subscription, error) {
	p := &poller{link: l, transport: t, stream: stream, subject: t.subject(channel), next: next, deliver: deliver}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	ending, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.run(ending)
	}()
	return &subscription{link: l, stop: func() {
		stop()
		<-ended
	}}, nil
}

// open makes a consumer that begins with the next message.
func (p *poller) open(ctx context.Context) error {
	consumer, err := p.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject:     p.subject,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       p.next,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: 5 * time.Minute,
	})
	p.consumer, p.delivered, p.reconnects = consumer, 0, p.Stats().Reconnects
	return err
}

func (p *poller) run(ctx context.Context) {
	pace := time.NewTicker(p.transport.settings.Poll)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		for more := true; more && ctx.Err() == nil; {
			more = p.fetch(ctx)
		}
	}
}

// fetch delivers what there is, up to fetchSize messages, and says whether there is more. A consumer that died with its node,
// or sent messages to a connection that was gone, is replaced by one that begins where the deliveries ended.
func (p *poller) fetch(ctx context.Context) (more bool) {
	received := 0
	if p.consumer != nil && p.Stats().Reconnects == p.reconnects {
		batch, err := p.consumer.FetchNoWait(fetchSize)
		if err == nil {
			received, err = p.deliverAll(batch)
		}
		if err == nil {
			return received == fetchSize
		}
	}
	bounded, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	return p.open(bounded) == nil
}

func (p *poller) deliverAll(batch jetstream.MessageBatch) (received int, err error) {
	for message := range batch.Messages() {
		metadata, err := message.Metadata()
		if err != nil {
			return received, err
		}
		if metadata.Sequence.Consumer != p.delivered+1 {
			return received, errors.New("the consumer sent messages that never came")
		}
		p.delivered, p.next = metadata.Sequence.Consumer, metadata.Sequence.Stream+1
		p.deliver(message.Data(), p.dialer.lastRead())
		received++
	}
	return received, batch.Error()
}
