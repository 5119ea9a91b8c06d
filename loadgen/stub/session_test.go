package stub

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"time"

	"lifeline/loadgen/transport/natsproto"
)

// greeting is the minimal INFO that clients accept.
const greeting = `INFO {"server_id":"STUB","server_name":"stub","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576}` +
	"\r\n"

// session is one client's connection.
type session struct {
	broker     *Broker
	connection net.Conn
	published  int
	held       *parcel // waits for the next message to overtake it
	newest     int     // the latest of its messages that were delivered; the broker's delivering guards it

	mutex sync.Mutex // of writing
}

// parcel is a message that a client published.
type parcel struct {
	from    *session
	nth     int
	copies  int
	kept    bool // back, from taken on
	taken   time.Time
	subject string
	payload []byte
}

func (s *session) serve() {
	s.send(greeting)
	frames := natsproto.NewReader(s.connection, nil, nil)
	for {
		frame, err := frames.Next()
		if err != nil {
			s.release()
			return
		}
		fields := frame.Fields()
		switch {
		case frame.Verb == "PING":
			s.send("PONG\r\n")
		case frame.Verb == "SUB" && len(fields) >= 2:
			s.broker.subscribe(s, string(fields[0]), string(fields[len(fields)-1]))
		case frame.Verb == "UNSUB" && len(fields) >= 1:
			s.broker.unsubscribe(s, string(fields[0]))
		case frame.Verb == "PUB" && len(fields) >= 2 && fields[0][0] == '$':
			s.broker.decline(string(fields[1])) // a question to the system account, which the stub does not have
		case frame.Verb == "PUB" && len(fields) >= 2:
			s.take(parcel{from: s, subject: string(fields[0]), payload: bytes.Clone(frame.Payload)})
		case frame.Verb != "CONNECT" && frame.Verb != "PONG":
			s.send("-ERR 'Unknown Protocol Operation'\r\n")
			return
		}
	}
}

// take treats a message according to the plan.
func (s *session) take(m parcel) {
	m.nth, m.taken = s.published, time.Now()
	s.published++
	t := s.broker.plan(m.nth)
	m.copies, m.kept = t.Copies, t.Delay > 0 || t.Behind
	s.broker.note(func(b *Counts) {
		if m.nth == 0 {
			b.Publishers++
		}
		b.Taken++
		if t.Lose {
			b.Lost++
		}
	})
	switch {
	case t.Lose:
	case t.Behind && s.held == nil:
		s.held = &m
	case t.Delay > 0:
		s.broker.note(func(b *Counts) { b.Delayed++ })
		time.AfterFunc(t.Delay, func() { s.broker.deliver(m) })
	default:
		s.broker.deliver(m)
		s.release()
	}
}

// release delivers what is held.
func (s *session) release() {
	if s.held != nil {
		s.broker.deliver(*s.held)
		s.held = nil
	}
}

// send writes to the client; a closed connection is noticed by the reader.
func (s *session) send(format string, arguments ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = fmt.Fprintf(s.connection, format, arguments...)
}
