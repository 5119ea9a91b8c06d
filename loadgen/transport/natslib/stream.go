package natslib

import (
	"context"

	"lifeline/loadgen/transport"
)

func (t *Transport) createStream(context.Context) error                  { return nil }
func (t *Transport) deleteStream(context.Context) error                  { return nil }
func newStreamPublisher(*Transport, *link) (transport.Connection, error) { return nil, nil }
func (t *Transport) subscribeStream(ctx context.Context, l *link, node int, channel string, deliver transport.Deliver) (
	transport.Subscription, error,
) {
	return nil, nil
}
