package natslib

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// retryPause is between two questions to a cluster that is still electing its leaders.
	retryPause = 50 * time.Millisecond
	// electionTimeout is how long a cluster may take to get ready; it takes seconds.
	electionTimeout = time.Minute
	// noPeers is the server's code for too few nodes that it knows to be alive, which passes while a cluster starts.
	noPeers = jetstream.ErrorCode(10005)
)

func (t *Transport) streamName() string { return "fleet-" + t.settings.Run }

// createStream returns when the stream has a leader that every node's clients can publish to.
func (t *Transport) createStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	l, err := t.connect(ctx, 0)
	if err != nil {
		return err
	}
	defer l.Conn.Close()
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return err
	}
	config := jetstream.StreamConfig{
		Name:     t.streamName(),
		Subjects: []string{t.subject(">")},
		Replicas: max(t.settings.Replicas, 1),
		Storage:  jetstream.FileStorage,
		Discard:  jetstream.DiscardOld,
		MaxBytes: -1,
	}
	if t.settings.Retention > 0 {
		config.MaxBytes = t.settings.Retention
	}
	var stream jetstream.Stream
	if err := whileElecting(ctx, func(ctx context.Context) error {
		stream, err = js.CreateStream(ctx, config)
		return err
	}); err != nil {
		return fmt.Errorf("create stream %s: %w", config.Name, err)
	}
	for node := range t.settings.Servers {
		if err := t.storeFrom(ctx, node); err != nil {
			return fmt.Errorf("store a first message through node %d: %w", node, err)
		}
	}
	if err := stream.Purge(ctx); err != nil {
		return fmt.Errorf("purge stream %s: %w", config.Name, err)
	}
	return nil
}

func (t *Transport) storeFrom(ctx context.Context, node int) error {
	l, err := t.connect(ctx, node)
	if err != nil {
		return err
	}
	defer l.Conn.Close()
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return err
	}
	return whileElecting(ctx, func(ctx context.Context) error {
		_, err := js.Publish(ctx, t.subject("prepare"), nil)
		return err
	})
}

// whileElecting asks again as long as the answer is that the cluster is not ready.
func whileElecting(ctx context.Context, ask func(context.Context) error) error {
	for {
		// A question that a leader takes with it into its death gets no answer.
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := ask(attempt)
		cancel()
		var refused *jetstream.APIError
		again := errors.As(err, &refused) && (refused.Code >= http.StatusInternalServerError || refused.ErrorCode == noPeers) ||
			errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders) ||
			errors.Is(err, context.DeadlineExceeded)
		if !again || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

func (t *Transport) deleteStream(ctx context.Context) error {
	l, err := t.connect(ctx, 0)
	if err != nil {
		return err
	}
	defer l.Conn.Close()
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return err
	}
	err = js.DeleteStream(ctx, t.streamName())
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete stream %s: %w", t.streamName(), err)
	}
	return nil
}
