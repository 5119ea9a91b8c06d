package natslib

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// retryPause is between two questions to a cluster that is still electing its leaders.
	retryPause = 50 * time.Millisecond
	// answerTimeout is how long one question, or one publishing, waits for its answer; it is nats.go's own.
	answerTimeout = 5 * time.Second
	// electionTimeout is how long a cluster may take to get ready; it takes seconds.
	electionTimeout = time.Minute
	// noPeers is the server's code for too few nodes that it knows to be alive, which passes while a cluster starts.
	noPeers = jetstream.ErrorCode(10005)
	// unclustered is its code for replicas on a server that is alone.
	unclustered = jetstream.ErrorCode(10074)
)

// lasting are the server's error codes of 500 and above that an election does not resolve.
var lasting = []jetstream.ErrorCode{
	unclustered, jetstream.JSErrCodeJetStreamNotEnabled, jetstream.JSErrCodeJetStreamNotEnabledForAccount,
}

func (t *Transport) streamName() string { return "fleet-" + t.settings.Run }

// createStream returns when the stream has a leader that every node's clients can publish to.
func (t *Transport) createStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	return t.manage(ctx, 0, func(l *link, js jetstream.JetStream) error {
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
		err := l.whileElecting(ctx, func(ctx context.Context) (err error) {
			stream, err = js.CreateStream(ctx, config)
			return err
		})
		t.created = err == nil || ctx.Err() != nil // in that case perhaps
		if errors.Is(err, nats.ErrNoResponders) {
			err = jetstream.ErrJetStreamNotEnabled
		}
		if err != nil {
			return fmt.Errorf("create stream %s: %w", config.Name, err)
		}
		return t.tryStream(ctx, stream)
	})
}

// tryStream returns when the stream is empty again after it has taken a message from every node.
func (t *Transport) tryStream(ctx context.Context, stream jetstream.Stream) error {
	for node := range t.settings.Servers {
		if err := t.storeFrom(ctx, node); err != nil {
			return fmt.Errorf("store a first message through node %d: %w", node, err)
		}
	}
	if err := stream.Purge(ctx); err != nil {
		return fmt.Errorf("purge stream %s: %w", t.streamName(), err)
	}
	return nil
}

func (t *Transport) storeFrom(ctx context.Context, node int) error {
	return t.manage(ctx, node, func(l *link, js jetstream.JetStream) error {
		return l.whileElecting(ctx, func(ctx context.Context) error {
			_, err := js.Publish(ctx, t.subject("prepare"), nil)
			return err
		})
	})
}

// deleteStream asks one node after the other, since some may be dead, and then once more: nobody answers when it is the stream's
// leader that is dead, though the stream is gone.
func (t *Transport) deleteStream(ctx context.Context) error {
	nodes := len(t.settings.Servers)
	var err error
	for i := range 2 * nodes {
		node := i % nodes
		attempt, cancel := context.WithTimeout(ctx, openWithin)
		err = t.manage(attempt, node, func(_ *link, js jetstream.JetStream) error { return js.DeleteStream(attempt, t.streamName()) })
		cancel()
		if err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
	}
	return fmt.Errorf("delete stream %s: %w", t.streamName(), err)
}

// manage does something with JetStream over a connection of its own to the node.
func (t *Transport) manage(ctx context.Context, node int, do func(*link, jetstream.JetStream) error) error {
	l, err := t.connect(ctx, node, nil)
	if err != nil {
		return err
	}
	defer l.Conn.Close()
	js, err := jetstream.New(l.Conn)
	if err != nil {
		return err
	}
	return do(l, js)
}

// whileElecting asks again as long as the answer is that the cluster is not ready.
func (l *link) whileElecting(ctx context.Context, ask func(context.Context) error) error {
	for {
		// A question that a leader takes with it into its death gets no answer.
		attempt, cancel := context.WithTimeout(ctx, answerTimeout)
		err := ask(attempt)
		cancel()
		if refused := l.usable(); err != nil && refused != nil {
			return refused // nor does one that the server does not allow
		}
		if !passes(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// passes reports whether the error may be resolved by an election.
func passes(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.ErrorCode == noPeers || refused.Code >= http.StatusInternalServerError && !slices.Contains(lasting, refused.ErrorCode)
	}
	return errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, context.DeadlineExceeded)
}
