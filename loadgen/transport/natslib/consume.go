package natslib

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/transport"
)

const (
	// heartbeat is the shortest that nats.go allows: after missing two of them, the client recreates the consumer elsewhere.
	heartbeat = 500 * time.Millisecond
	// fetchSize is the most messages of one poll's request; it asks again until one brings fewer.
	fetchSize = 500
	// openWithin bounds one attempt to make a consumer. The cluster takes a while to believe that a node is dead, and gives
	// consumers to it until then; nobody answers for those. The next attempt, under another name, may go to a living one.
	openWithin = 2 * time.Second
)

// subscribeStream reads the stream from its present end on. It is the stream's order that tells what comes next, also after a node's
// death; acknowledgements, where they are asked for, only tell the server. nats.go has such a consumer too, the ordered one; but that one
// insists on the name that it has first asked for, and waits until a dead node comes back.
func (t *Transport) subscribeStream(ctx context.Context, l *link, _ int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return nil, err
	}
	var stream jetstream.Stream
	err = l.whileElecting(ctx, func(ctx context.Context) (err error) {
		stream, err = js.Stream(ctx, t.streamName())
		return err
	})
	if err != nil {
		return nil, err
	}
	r := &reader{link: l, stream: stream, subject: t.subject(channel), next: stream.CachedInfo().State.LastSeq + 1, deliver: deliver, policy: jetstream.AckNonePolicy}
	if t.settings.Confirm {
		r.policy = jetstream.AckExplicitPolicy
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	run := r.follow
	if pace := t.settings.Poll; pace > 0 {
		run = func(ctx context.Context) { r.poll(ctx, pace) }
	}
	ending, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ending)
	}()
	return &subscription{link: l, stop: func() {
		stop()
		<-ended
	}}, nil
}

// reader delivers a stream's messages of one subject, each once and in their order, over as many consumers as it takes.
type reader struct {
	*link
	stream  jetstream.Stream
	subject string
	deliver transport.Deliver
	policy  jetstream.AckPolicy // none, or each message

	consumer   jetstream.Consumer
	next       uint64 // sequence in the stream
	delivered  uint64 // by this consumer
	reconnects uint64 // of the connection, when this consumer was made
}

// open makes a consumer that begins with the next message; it tries until ctx ends, or the server does not allow it.
func (r *reader) open(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, openWithin)
		consumer, err := r.stream.CreateConsumer(attempt, jetstream.ConsumerConfig{
			FilterSubject:     r.subject,
			DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
			OptStartSeq:       r.next,
			AckPolicy:         r.policy,
			MemoryStorage:     true,
			Replicas:          1,
			InactiveThreshold: 5 * time.Minute,
		})
		cancel()
		if err == nil {
			r.consumer, r.delivered, r.reconnects = consumer, 0, r.Stats().Reconnects
			return nil
		}
		if refused := r.usable(); refused != nil {
			return refused
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryPause):
		}
	}
}

// lost reports whether messages of this consumer may have gone to a former connection.
func (r *reader) lost() bool { return r.Stats().Reconnects != r.reconnects }

// hand delivers a message unless one before it is missing.
func (r *reader) hand(message jetstream.Msg) error {
	metadata, err := message.Metadata()
	if err != nil {
		return err
	}
	if metadata.Sequence.Consumer != r.delivered+1 {
		return errors.New("the consumer sent messages that never came")
	}
	r.delivered = metadata.Sequence.Consumer
	if metadata.Sequence.Stream >= r.next { // else it comes again, because its acknowledgement was late
		r.next = metadata.Sequence.Stream + 1
		r.deliver(message.Data(), r.dialer.lastRead())
	}
	if r.policy == jetstream.AckExplicitPolicy {
		return message.Ack()
	}
	return nil
}

// follow delivers messages as they come.
func (r *reader) follow(ctx context.Context) {
	for r.take(ctx); ctx.Err() == nil; r.take(ctx) {
		if r.open(ctx) != nil {
			return
		}
	}
}

// take delivers what comes until the consumer gives no sign of life, messages are missing, or the connection is another one.
func (r *reader) take(ctx context.Context) {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	r.SetReconnectHandler(func(*nats.Conn) { interrupt() })
	messages, err := r.consumer.Messages(jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return
	}
	defer messages.Stop()
	for !r.lost() {
		message, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil || r.hand(message) != nil {
			return
		}
	}
}

// poll asks for what has come, at a steady pace, as the study's consumer of a table did.
func (r *reader) poll(ctx context.Context, pace time.Duration) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for more := true; more && ctx.Err() == nil; {
			more = r.fetch(ctx)
		}
	}
}

// fetch delivers what there is, up to fetchSize messages, and says whether there is more. A consumer that died with its node,
// or sent messages to a connection that was gone, is replaced by one that begins where the deliveries ended.
func (r *reader) fetch(ctx context.Context) (more bool) {
	if !r.lost() {
		received := 0
		batch, err := r.consumer.FetchNoWait(fetchSize)
		if err == nil {
			received, err = r.handAll(batch)
		}
		if err == nil {
			return received == fetchSize
		}
	}
	return r.open(ctx) == nil
}

func (r *reader) handAll(batch jetstream.MessageBatch) (received int, err error) {
	for message := range batch.Messages() {
		if err := r.hand(message); err != nil {
			return received, err
		}
		received++
	}
	return received, batch.Error()
}
