// Package stub is a broker that misbehaves by plan and counts exactly what it did, to verify the harness's reports. It
// serves core NATS to any client: CONNECT, PING, SUB, UNSUB and PUB, subjects without wildcards.
package stub

import "time"

// Treatment is what happens to one message. The zero value delivers it once, at once.
type Treatment struct {
	Lose   bool
	Copies int           // in addition to the one
	Delay  time.Duration // before it is delivered
	Behind bool          // it is delivered after the next message of its publisher that is delivered at once
}

// Plan is the treatment of the nth message of each publisher, that is, of each connection; the first is message 0. It may be
// called from several goroutines.
type Plan func(nth int) Treatment

// Counts are what a broker did, in messages; a copy is no message. Taken = Lost + Delivered + Missed once nothing is held any more.
type Counts struct {
	Publishers int // connections that published
	Taken      int
	Lost       int
	Delivered  int // to each subscriber
	Missed     int // there was no subscriber
	Copies     int
	Delayed    int
	Overtaken  int // delivered after a later message of the same publisher
}

// Held is a message that the broker kept back, by a Delay or Behind another.
type Held struct {
	Payload []byte
	For     time.Duration // from taking it to delivering it, by the broker's own clock
}
