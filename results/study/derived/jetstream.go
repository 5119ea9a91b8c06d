package derived

import (
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const subjects = 16 // of the batches, and of a derived stream

// jetStream is a bus with a connection each for publishing and subscribing.
type jetStream struct {
	publisher, subscriber *nats.Conn
	stream                jetstream.JetStream
}

func openJetStream(url string, derived, summary func([]byte)) (bus, error) {
	b := &jetStream{}
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

func (b *jetStream) subscribe(derived, summary func([]byte)) (err error) {
	if b.stream, err = jetstream.New(b.publisher); err != nil {
		return fmt.Errorf("opening JetStream: %w", err)
	}
	for subject, take := range map[string]func([]byte){derivedName + ".*": derived, summariesName: summary} {
		if _, err := b.subscriber.Subscribe(subject, func(m *nats.Msg) { take(m.Data) }); err != nil {
			return fmt.Errorf("subscribing to %s: %w", subject, err)
		}
	}
	return b.subscriber.Flush()
}

// publish hands a batch over; the stream's acknowledgement is not awaited.
func (b *jetStream) publish(generator uint32, batch []byte) error {
	_, err := b.stream.PublishAsync(fmt.Sprintf("%s.%d", batchesName, generator%subjects), batch)
	return err
}

func (b *jetStream) close() {
	b.publisher.Close()
	b.subscriber.Close()
}
