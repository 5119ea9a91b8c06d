package derived

import (
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// What the stream jobs read and write by default.
const (
	batchesSubject   = "lifeline.batches.%d"
	subjects         = 16
	derivedSubject   = "lifeline.derived.all.*"
	summariesSubject = "lifeline.summaries"
)

// bus is where batches go and results come from.
type bus struct {
	publisher, subscriber *nats.Conn
	stream                jetstream.JetStream
}

func connect(url string, derived, summary func([]byte)) (*bus, error) {
	b := &bus{}
	var err error
	if b.publisher, err = nats.Connect(url); err != nil {
		return nil, fmt.Errorf("connecting the publisher: %w", err)
	}
	if b.subscriber, err = nats.Connect(url); err != nil {
		b.publisher.Close()
		return nil, fmt.Errorf("connecting the subscriber: %w", err)
	}
	if err := b.subscribe(derived, summary); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bus) subscribe(derived, summary func([]byte)) (err error) {
	if b.stream, err = jetstream.New(b.publisher); err != nil {
		return fmt.Errorf("opening JetStream: %w", err)
	}
	for subject, take := range map[string]func([]byte){derivedSubject: derived, summariesSubject: summary} {
		if _, err := b.subscriber.Subscribe(subject, func(m *nats.Msg) { take(m.Data) }); err != nil {
			return fmt.Errorf("subscribing to %s: %w", subject, err)
		}
	}
	return b.subscriber.Flush()
}

// publish hands a batch over; the stream's acknowledgement is not awaited.
func (b *bus) publish(generator uint32, batch []byte) error {
	_, err := b.stream.PublishAsync(fmt.Sprintf(batchesSubject, generator%subjects), batch)
	return err
}

func (b *bus) close() {
	b.publisher.Close()
	b.subscriber.Close()
}
