// Package transport is what a fleet needs of a client library: a connection that publishes, and a subscription that
// delivers. Each subpackage speaks one protocol with one client; none of them knows generators, schedules or histograms.
package transport

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"lifeline/loadgen/login"
)

// Settings say where and how the connections of one transport go.
type Settings struct {
	Servers         []string      // host:port of every broker node, in the order of the topology's nodes
	TLS             *tls.Config   // nil: plain
	Login           login.Login   // zero: no authentication
	Path            string        // of the broker's URL, such as the name of a database; mostly empty
	Acknowledgement string        // what scenario.Acknowledgement holds, e.g. "none", "qos1", "all", "transaction"
	Replicas        int           // of streams and topics
	Retention       int64         // bytes that a stream or topic of the run may hold; 0: the broker's default
	Poll            time.Duration // 0: subscriptions are pushed to; else they ask so often for what has come
	Confirm         bool          // subscriptions acknowledge each message that they have delivered
	Dialer          Dialer        // opens every connection: it chooses the source address and stamps arrivals
	Run             string        // short id of this run, part of every subject, stream and topic name
}

// Dialer opens a connection to one of Settings.Servers. The connection that it returns implements Arrival.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Arrival tells when bytes last came in: CLOCK_MONOTONIC nanoseconds at the return of the last Read that had any, the study's
// "before receiving". Where a client library reads ahead in a goroutine of its own, it may be later than the read that
// carried a certain message, never earlier than the message's arrival at this process.
type Arrival interface {
	LastRead() int64
}

// Transport makes connections. Its methods may be called from any goroutine.
//
// A channel is what one worker's generators of one broker node publish into, such as "w0-n1": letters, digits and hyphens. A
// transport puts "fleet" and the run in front, so that two runs on one broker never meet: NATS subject fleet.RUN.w0-n1, MQTT
// topic fleet/RUN/w0-n1, Kafka topic fleet-RUN-w0-n1.
type Transport interface {
	// Prepare creates what the channels need on the broker (streams, topics), once per run, before any worker starts.
	Prepare(ctx context.Context, channels []string) error
	// Connect opens one connection; node is an index into Settings.Servers. It returns when messages can be published.
	Connect(ctx context.Context, node int) (Connection, error)
	// Subscribe delivers every message of the channel to deliver from the moment on when it returns. One subscription calls
	// deliver from one goroutine at a time; message is valid during the call only.
	Subscribe(ctx context.Context, node int, channel string, deliver Deliver) (Subscription, error)
	// Remove deletes what Prepare made, also where that failed half-way.
	Remove(ctx context.Context) error
}

// Deliver takes one message; beforeReceive is CLOCK_MONOTONIC nanoseconds, see Arrival.
type Deliver func(message []byte, beforeReceive int64)

// Connection publishes; one goroutine at a time calls Publish of one connection unless the connection is pooled, then
// several do.
type Connection interface {
	// Publish hands a message over and returns when the client library's call returns: for a library that publishes
	// in the background that is after a copy. The message belongs to the caller again once Publish has returned.
	//
	// Where the transport acknowledges, acknowledged is called exactly once for each Publish that returned nil, from any
	// goroutine, with the time of the acknowledgement or the error; it may run before Publish returns. Where the transport
	// does not acknowledge, it is never called. An error of Publish means that the message was not sent.
	Publish(channel string, message []byte, acknowledged Acknowledged) error
	// Close ends the connection after everything published so far has left, or when ctx ends.
	Close(ctx context.Context) error
}

// Acknowledged reports when (CLOCK_MONOTONIC nanoseconds) the broker acknowledged a message, or why it did not.
type Acknowledged func(at int64, err error)

// Subscription is a running delivery.
type Subscription interface {
	Close(ctx context.Context) error
}

// Interrupted is a Subscription to a broker that keeps nothing for a subscriber who is away.
type Interrupted interface {
	// Missed reports whether the subscription was in force for a message that was sent at a time (CLOCK_MONOTONIC nanoseconds).
	Missed(sent int64) Presence
}

// Presence is whether a subscription was in force for a message.
type Presence int

// The presences. Unclear is within a second before or after an absence: the message may have been under way when the connection
// broke, or met a node that did not know yet of the subscription's return; or the broker may have lost it.
const (
	Present Presence = iota
	Unclear
	Away
)

// Traits are what the fleet has to know of a transport before it uses it.
type Traits struct {
	Client       string // name and version of the client library, for the report
	Acknowledges bool   // acknowledged is called
	Blocks       bool   // Publish waits for the broker (a transaction): each call gets a goroutine of its own
	Durable      bool   // what was acknowledged survives the death of a broker node
	Descriptors  int    // most file descriptors that one connection holds
	ClientBytes  int    // memory of one connection in the client, roughly, for the preflight
	BrokerBytes  int    // the same in the broker
}
