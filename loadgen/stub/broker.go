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
	books       Books
	held        []Held
	closed      bool
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

// Books are what has been done so far.
func (b *Broker) Books() Books {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.books
}

// Held are the messages that were kept back and have been delivered.
func (b *Broker) Held() []Held {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return slices.Clone(b.held)
}

// Close hangs up on everybody.
func (b *Broker) Close() error {
	err := b.listener.Close()
	b.mutex.Lock()
	b.closed = true
	for connection := range b.connections {
		connection.Close()
	}
	b.mutex.Unlock()
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

// welcome remembers who Close has to hang up on; false: it has begun to.
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
	b.subscribers[subject] = append(b.subscribers[subject], subscriber{s, id})
}

func (b *Broker) unsubscribe(s *session, id string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.forget(func(one subscriber) bool { return one.session == s && one.id == id })
}

// forget makes new lists, because deliver may be on its way through the old ones. The mutex is held.
func (b *Broker) forget(gone func(subscriber) bool) {
	for subject, all := range b.subscribers {
		b.subscribers[subject] = slices.DeleteFunc(slices.Clone(all), gone)
	}
}

// deliver sends a message and its copies to every subscriber. One message is delivered at a time, so that the books know the
// order in which they left, whatever the plan wanted it to be; and they know it before a subscriber does.
func (b *Broker) deliver(m message) {
	b.delivering.Lock()
	defer b.delivering.Unlock()
	var receivers []subscriber
	b.note(func(books *Books) {
		books.Delivered++
		books.Copies += m.copies
		if m.nth < m.from.newest {
			books.Overtaken++
		}
		if m.kept {
			b.held = append(b.held, Held{Payload: m.payload, For: time.Since(m.taken)})
		}
		receivers = b.subscribers[m.subject]
	})
	m.from.newest = max(m.from.newest, m.nth)
	for range 1 + m.copies {
		for _, one := range receivers {
			one.session.send("MSG %s %s %d\r\n%s\r\n", m.subject, one.id, len(m.payload), m.payload)
		}
	}
}

// decline tells who waits for an answer that nobody is there to give one.
func (b *Broker) decline(inbox string) {
	const nobody = "NATS/1.0 503\r\n\r\n"
	b.mutex.Lock()
	receivers := b.subscribers[inbox]
	b.mutex.Unlock()
	for _, one := range receivers {
		one.session.send("HMSG %s %s %d %d\r\n%s\r\n", inbox, one.id, len(nobody), len(nobody), nobody)
	}
}

// note changes the books.
func (b *Broker) note(change func(*Books)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	change(&b.books)
}
