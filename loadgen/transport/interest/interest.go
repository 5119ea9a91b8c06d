// Package interest waits until every node of a cluster knows a subscription. Messages published elsewhere before that
// would be lost, and counted as the broker's fault.
package interest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nuid"

	"lifeline/loadgen/transport"
)

const (
	// pause is the interval of probes to one node.
	pause = 20 * time.Millisecond
	// awaitTimeout is far longer than a cluster takes; servers that form no cluster never forward a message.
	awaitTimeout = 30 * time.Second
)

// Channel is a name without other subscribers.
func Channel() string { return "interest-" + nuid.Next() }

// Await returns when a message to the channel, published on any node but home, comes out of arrived. Servers tell each other
// of subscriptions in their order, so that what was subscribed to before the channel is known by then as well.
func Await(ctx context.Context, t transport.Transport, nodes, home int, channel string, arrived <-chan string) error {
	for node := range nodes {
		if node == home {
			continue
		}
		waiting, cancel := context.WithTimeout(ctx, awaitTimeout)
		err := from(waiting, t, node, channel, arrived)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("what was published on node %d did not come out at node %d in time: are the servers one cluster, and "+
				"may this user publish?", node, home)
		case err != nil:
			return fmt.Errorf("await that node %d knows of the subscription: %w", node, err)
		}
	}
	return nil
}

func from(ctx context.Context, t transport.Transport, node int, channel string, arrived <-chan string) error {
	connection, err := t.Connect(ctx, node)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(ctx) }()
	again := time.NewTicker(pause)
	defer again.Stop()
	question := nuid.Next()
	for {
		if err := connection.Publish(channel, []byte(question), func(int64, error) {}); err != nil {
			return err
		}
		for waiting := true; waiting; {
			select {
			case answer := <-arrived:
				if answer == question {
					return nil
				}
			case <-again.C:
				waiting = false
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// Offer hands an arrival to Await, or drops it, as it drops the copies of a question that has been answered.
func Offer(arrived chan<- string, message []byte) {
	select {
	case arrived <- string(message):
	default:
	}
}
