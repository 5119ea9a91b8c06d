package mqtt

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// Connect returns when the broker has accepted the session.
func (t *Transport) Connect(ctx context.Context, node int) (transport.Connection, error) {
	l, err := t.connect(ctx, node, nil, nil)
	if err != nil {
		return nil, err
	}
	return &publisher{link: l}, nil
}

// publisher is a connection that publishes.
type publisher struct {
	*link
	unanswered sync.WaitGroup
}

// Publish returns when Paho's writing goroutine has taken the message. While the connection is lost it fails: Paho itself
// would silently drop messages of QoS 0.
func (p *publisher) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	if !p.IsConnectionOpen() {
		return paho.ErrNotConnected
	}
	token := p.Client.Publish(p.transport.topic(channel), p.transport.qos, false, bytes.Clone(message))
	if p.transport.qos == 0 {
		select {
		case <-token.Done():
			return token.Error()
		default:
			return nil
		}
	}
	p.unanswered.Go(func() {
		<-token.Done()
		acknowledged(clock.Now(), token.Error())
	})
	return nil
}

// Close waits for the broker's answers.
func (p *publisher) Close(ctx context.Context) error {
	answered := make(chan struct{})
	go func() {
		p.unanswered.Wait()
		close(answered)
	}()
	var err error
	select {
	case <-answered:
	case <-ctx.Done():
		err = fmt.Errorf("wait for the broker's acknowledgements: %w", ctx.Err())
	}
	p.Disconnect(quiesce)
	return err
}
