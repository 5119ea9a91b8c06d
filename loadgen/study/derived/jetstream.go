package derived

import (
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const subjects = 16 // of the batches, and of a derived stream

// jetStream is a bus with a connection for each generator, and one for subscribing.
type jetStream struct {
	publishers []jetstream.JetStream
	subscriber *nats.Conn
}

func openJetStream(url string, generators int, derived, summary func([]byte)) (bus, error) {
	b := &jetStream{}
	if err := b.connect(url, generators); err != nil {
		b.close()
		return nil, err
	}
	if err := b.subscribe(derived, summary); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *jetStream) connect(url string, generators int) (err error) {
	if b.subscriber, err = nats.Connect(url); err != nil {
		return fmt.Errorf("connecting the subscriber: %w", err)
	}
	for range generators {
		connection, err := nats.Connect(url)
		if err != nil {
			return fmt.Errorf("connecting a generator: %w", err)
		}
		publisher, err := jetstream.New(connection)
		if err != nil {
			connection.Close()
			return fmt.Errorf("opening JetStream: %w", err)
		}
		b.publishers = append(b.publishers, publisher)
	}
	return nil
}

func (b *jetStream) subscribe(derived, summary func([]byte)) error {
	for subject, take := range map[string]func([]byte){derivedName + ".*": derived, summariesName: summary} {
		if _, err := b.subscriber.Subscribe(subject, func(m *nats.Msg) { take(m.Data) }); err != nil {
			return fmt.Errorf("subscribing to %s: %w", subject, err)
		}
	}
	return b.subscriber.Flush()
}

// publish hands a batch over; the stream's acknowledgement is not awaited.
func (b *jetStream) publish(generator uint32, batch []byte) error {
	_, err := b.publishers[generator].PublishAsync(fmt.Sprintf("%s.%d", batchesName, generator%subjects), batch)
	return err
}

func (b *jetStream) close() {
	for _, publisher := range b.publishers {
		publisher.Conn().Close()
	}
	if b.subscriber != nil {
		b.subscriber.Close()
	}
}
