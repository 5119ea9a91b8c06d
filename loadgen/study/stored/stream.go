package stored

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// stream asks JetStream over one connection.
type stream struct {
	connection *nats.Conn
	js         jetstream.JetStream
	found      jetstream.Stream // the fleet's, once it is there
}

func openStream(server string) (archive, error) {
	connection, err := nats.Connect("nats://" + server)
	if err != nil {
		return nil, fmt.Errorf("connecting for queries: %w", err)
	}
	js, err := jetstream.New(connection)
	if err != nil {
		connection.Close()
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	return &stream{connection: connection, js: js}, nil
}

// find takes the only stream on the server.
func (s *stream) find(ctx context.Context) error {
	if s.found != nil {
		return nil
	}
	names := s.js.StreamNames(ctx)
	for name := range names.Name() {
		found, err := s.js.Stream(ctx, name)
		if err != nil {
			return fmt.Errorf("looking at stream %s: %w", name, err)
		}
		s.found = found
		return nil
	}
	return errors.Join(errNothing, names.Err())
}

func (s *stream) latest(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	newest, err := s.found.GetLastMsgForSubject(ctx, ">")
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, errNothing
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the latest message: %w", err)
	}
	return newest.Data, nil
}

func (s *stream) history(ctx context.Context, from time.Time) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	consumer, err := s.found.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &from,
	})
	if err != nil {
		return 0, fmt.Errorf("asking for the history: %w", err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("asking for the history: %w", err)
	}
	if info.NumPending == 0 {
		return 0, nil
	}
	messages, err := consumer.Messages()
	if err != nil {
		return 0, fmt.Errorf("reading the history: %w", err)
	}
	defer messages.Stop()
	for read := 1; ; read++ {
		next, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return read, fmt.Errorf("reading the history: %w", err)
		}
		metadata, err := next.Metadata()
		if err != nil {
			return read, fmt.Errorf("reading the history: %w", err)
		}
		if metadata.NumPending == 0 {
			return read, nil
		}
	}
}

func (s *stream) close() { s.connection.Close() }
