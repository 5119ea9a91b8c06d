package stub

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// Broker is one that listens on a free port of 127.0.0.1.
type Broker struct {
	plan     Plan
	listener net.Listener
	sessions sync.WaitGroup

	delivering sync.Mutex

	mutex       sync.Mutex
	counts      Counts
	held        []Held
	closed      bool
	shut        bool // to subscribers
	connections map[net.Conn]bool
	subscribers map[string][]subscriber // by subject
}

// subscriber is one SUB of a session.
type subscriber struct {
	session *session
	id      string
}

// Start begins to serve.
func Start(plan Plan) (*Broker, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the stub's clients: %w", err)
	}
	b := &Broker{
		plan: plan, listener: listener,
		connections: map[net.Conn]bool{}, subscribers: map[string][]subscriber{},
	}
	b.sessions.Go(b.accept)
	return b, nil
}

// Address is host:port.
func (b *Broker) Address() string { return b.listener.Addr().String() }

// Counts are what has been done so far.
func (b *Broker) Counts() Counts {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.counts
}

// Held are the messages that were kept back and have been delivered.
func (b *Broker) Held() []Held {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return slices.Clone(b.held)
}

// DropSubscribers closes the connections of those who receive messages, behind all that has been delivered to them, and admits no
// new ones until AdmitSubscribers.
func (b *Broker) DropSubscribers() {
	b.delivering.Lock()
	defer b.delivering.Unlock()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.shut = true
	for subject, all := range b.subscribers {
		for _, one := range all {
			one.session.connection.Close()
		}
		delete(b.subscribers, subject)
	}
}

// AdmitSubscribers ends what DropSubscribers began.
func (b *Broker) AdmitSubscribers() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.shut = false
}

// Close closes all connections, behind all that has been delivered over them.
func (b *Broker) Close() error {
	err := b.listener.Close()
	b.delivering.Lock()
	b.mutex.Lock()
	b.closed = true
	for connection := range b.connections {
		connection.Close()
	}
	clear(b.subscribers)
	b.mutex.Unlock()
	b.delivering.Unlock()
	b.sessions.Wait()
	return err
}

func (b *Broker) accept() {
	for {
		connection, err := b.listener.Accept()
		if err != nil {
			return
		}
		if !b.welcome(connection) {
			connection.Close()
			return
		}
		b.sessions.Go(func() {
			s := &session{broker: b, connection: connection}
			s.serve()
			b.leave(s)
		})
	}
}

// welcome registers a session for Close; false if the broker is closing.
func (b *Broker) welcome(connection net.Conn) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.closed {
		b.connections[connection] = true
	}
	return !b.closed
}

func (b *Broker) leave(s *session) {
	s.connection.Close()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.connections, s.connection)
	b.forget(func(one subscriber) bool { return one.session == s })
}

func (b *Broker) subscribe(s *session, subject, id string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.shut {
		s.connection.Close()
		return
	}
	b.subscribers[subject] = append(b.subscribers[subject], subscriber{s, id})
}

func (b *Broker) unsubscribe(s *session, id string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.forget(func(one subscriber) bool { return one.session == s && one.id == id })
}

// forget copies the lists, because deliver may be iterating over the old ones. The mutex is held.
func (b *Broker) forget(gone func(subscriber) bool) {
	for subject, all := range b.subscribers {
		b.subscribers[subject] = slices.DeleteFunc(slices.Clone(all), gone)
	}
}

// deliver sends a message and its copies to every subscriber, one message at a time: the counters must record the actual
// order, and before a subscriber sees the message.
func (b *Broker) deliver(m parcel) {
	b.delivering.Lock()
	defer b.delivering.Unlock()
	var receivers []subscriber
	b.note(func(counts *Counts) {
		if receivers = b.subscribers[m.subject]; len(receivers) == 0 {
			counts.Missed++
			return
		}
		counts.Delivered++
		counts.Copies += m.copies
		if m.nth < m.from.newest {
			counts.Overtaken++
		}
		if m.kept {
			b.held = append(b.held, Held{Payload: m.payload, For: time.Since(m.taken)})
		}
	})
	m.from.newest = max(m.from.newest, m.nth)
	for range 1 + m.copies {
		for _, one := range receivers {
			one.session.send("MSG %s %s %d\r\n%s\r\n", m.subject, one.id, len(m.payload), m.payload)
		}
	}
}

// decline answers a request with 503, no responders.
func (b *Broker) decline(inbox string) {
	const nobody = "NATS/1.0 503\r\n\r\n"
	b.mutex.Lock()
	receivers := b.subscribers[inbox]
	b.mutex.Unlock()
	for _, one := range receivers {
		one.session.send("HMSG %s %s %d %d\r\n%s\r\n", inbox, one.id, len(nobody), len(nobody), nobody)
	}
}

func (b *Broker) note(change func(*Counts)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	change(&b.counts)
}
