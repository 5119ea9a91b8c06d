package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/absence"
	"lifeline/loadgen/transport/interest"
)

// refusedSubscription is what SUBACK says instead of a granted quality of service.
const refusedSubscription = 0x80

// Subscribe returns when every node of the cluster knows the subscription.
func (t *Transport) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	receive := func(ctx context.Context, l *link) error {
		return l.subscribe(ctx, channel, func(message []byte) { deliver(message, l.lastRead()) })
	}
	// The broker forgets a clean session with its connection. One that has just lost a node may not grant it at once.
	again := func(l *link) {
		for l.IsConnectionOpen() {
			generation := l.absent.Generation()
			ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
			err := receive(ctx, l)
			cancel()
			if err == nil {
				l.absent.End(generation)
				return
			}
			time.Sleep(retryPause)
		}
	}
	l, err := t.connect(ctx, node, &absence.Log{}, again)
	if err != nil {
		return nil, err
	}
	err = receive(ctx, l)
	if err == nil {
		err = l.awaitInterest(ctx, node)
	}
	if err != nil {
		l.Disconnect(quiesce)
		return nil, fmt.Errorf("subscribe to %s: %w", t.topic(channel), err)
	}
	return &subscription{link: l}, nil
}

// subscribe returns when the broker has granted the subscription.
func (l *link) subscribe(ctx context.Context, channel string, receive func(message []byte)) error {
	topic := l.transport.topic(channel)
	token := l.Client.Subscribe(topic, l.transport.qos, func(_ paho.Client, message paho.Message) {
		receive(message.Payload())
	})
	if err := wait(ctx, token); err != nil {
		return err
	}
	if granted, is := token.(*paho.SubscribeToken); is && granted.Result()[topic] == refusedSubscription {
		return errors.New("the broker does not allow it")
	}
	return nil
}

// awaitInterest returns when every node knows what l has subscribed to.
func (l *link) awaitInterest(ctx context.Context, node int) error {
	nodes := len(l.transport.settings.Servers)
	if nodes == 1 {
		return nil
	}
	inbox, arrived := interest.Channel(), make(chan string, 1)
	if err := l.subscribe(ctx, inbox, func(message []byte) { interest.Offer(arrived, message) }); err != nil {
		return err
	}
	if err := interest.Await(ctx, l.transport, nodes, node, inbox, arrived); err != nil {
		return err
	}
	return wait(ctx, l.Unsubscribe(l.transport.topic(inbox)))
}

// subscription is a link that delivers until it is closed.
type subscription struct{ *link }

func (s *subscription) Close(context.Context) error {
	s.Disconnect(quiesce)
	return nil
}

// Missed implements transport.Interrupted.
func (s *subscription) Missed(sent int64) transport.Presence { return s.absent.Missed(sent) }
