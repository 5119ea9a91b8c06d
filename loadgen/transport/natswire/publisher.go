package natswire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/transport"
)

var (
	errDisconnected = errors.New("nats: not connected")
	errClosed       = errors.New("nats: the connection is closed")
	errBusy         = errors.New("nats: the server does not read: the socket's buffer is full")
)

// stallTimeout is how long a message may wait for room in a socket before the connection is given up; over TLS only, whose
// records cannot be tried.
const stallTimeout = 10 * time.Second

// buffers hold a message with its line while it is written.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 1024)) }}

// publisher is a connection that publishes. It is small on purpose: there are tens of thousands.
type publisher struct {
	transport *Transport
	node      int

	mutex      sync.Mutex
	socket     net.Conn // nil while there is none
	descriptor int      // of the socket while watched, else -1
	begun      []byte   // a line that has not ended yet
	unsent     []byte   // the end of a message for which the socket had no room
	refused    error    // the server does not let us publish
	closed     bool
	pong       chan struct{}      // closed by PONG, or by the socket's end
	stop       context.CancelFunc // ends the dialling anew
}

// attach starts to use a socket to the node.
func (p *publisher) attach(s socket, node int) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return errClosed
	}
	p.node, p.descriptor = node, -1
	if _, secured := s.Conn.(*tls.Conn); secured {
		p.socket = s.Conn
		go p.read(s.Conn)
	} else {
		descriptor, err := descriptorOf(s.Conn)
		if err != nil {
			return err
		}
		if err := p.transport.watch.add(descriptor, p); err != nil {
			return err
		}
		p.socket, p.descriptor = s.Conn, descriptor
	}
	p.hear(s.rest)
	return nil
}

func descriptorOf(connection net.Conn) (int, error) {
	owner, has := connection.(syscall.Conn)
	if !has {
		return 0, errors.New("the dialler's connections have no descriptor")
	}
	raw, err := owner.SyscallConn()
	if err != nil {
		return 0, err
	}
	var number int
	err = raw.Control(func(descriptor uintptr) { number = int(descriptor) })
	return number, err
}

// Publish writes the message to the socket. It does not wait for a server that does not read: then it fails.
func (p *publisher) Publish(channel string, message []byte, _ transport.Acknowledged) error {
	if largest := p.transport.largest.Load(); largest > 0 && int64(len(message)) > largest {
		return fmt.Errorf("nats: %d bytes are more than the server's max_payload of %d", len(message), largest)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text := append((*buffer)[:0], "PUB fleet."...)
	text = append(text, p.transport.settings.Run...)
	text = append(text, '.')
	text = append(text, channel...)
	text = append(text, ' ')
	text = strconv.AppendInt(text, int64(len(message)), 10)
	text = append(text, "\r\n"...)
	text = append(text, message...)
	text = append(text, "\r\n"...)
	*buffer = text

	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case p.closed:
		return errClosed
	case p.refused != nil:
		return p.refused
	}
	return p.write(text)
}

// write sends text whole, or nothing of it, or gives the socket up. The mutex is held.
func (p *publisher) write(text []byte) error {
	switch {
	case p.socket == nil:
		return errDisconnected
	case len(p.unsent) > 0:
		return errBusy
	case p.descriptor < 0:
		_ = p.socket.SetWriteDeadline(time.Now().Add(stallTimeout))
		if _, err := p.socket.Write(text); err != nil {
			p.lose()
			return fmt.Errorf("nats: %w", err)
		}
		return nil
	}
	n, err := unix.Write(p.descriptor, text)
	switch {
	case n == len(text):
		return nil
	case n > 0:
		p.unsent = bytes.Clone(text[n:])
		p.transport.watch.expect(p.descriptor, unix.EPOLLIN|unix.EPOLLOUT)
		return nil
	case err == unix.EAGAIN || err == unix.EINTR:
		return errBusy
	}
	p.lose()
	return fmt.Errorf("nats: %w", os.NewSyscallError("write", err))
}

// say sends a protocol line, after what waits for room. The mutex is held.
func (p *publisher) say(line string) error {
	if len(p.unsent) > 0 {
		p.unsent = append(p.unsent, line...)
		return nil
	}
	return p.write([]byte(line))
}

// ready is called by watch.
func (p *publisher) ready(descriptor int, events uint32, buffer []byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.descriptor != descriptor {
		return // it was another's, or is lost
	}
	if events&unix.EPOLLOUT != 0 && len(p.unsent) > 0 {
		n, err := unix.Write(descriptor, p.unsent)
		if n < 0 && err != unix.EAGAIN && err != unix.EINTR {
			p.lose()
			return
		}
		if p.unsent = p.unsent[max(n, 0):]; len(p.unsent) == 0 {
			p.unsent = nil
			p.transport.watch.expect(descriptor, unix.EPOLLIN)
		}
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	n, err := unix.Read(descriptor, buffer)
	switch {
	case n > 0:
		p.hear(buffer[:n])
	case err != unix.EAGAIN && err != unix.EINTR:
		p.lose()
	}
}

// read waits for what comes over TLS, whose records only a goroutine of its own can wait for.
func (p *publisher) read(from net.Conn) {
	buffer := make([]byte, 512)
	for {
		n, err := from.Read(buffer)
		p.mutex.Lock()
		if p.socket != from {
			p.mutex.Unlock()
			return
		}
		p.hear(buffer[:n])
		if err != nil {
			p.lose()
		}
		p.mutex.Unlock()
	}
}

// hear takes what the server says, in pieces of any length. The mutex is held.
func (p *publisher) hear(data []byte) {
	if len(p.begun) > 0 {
		data = append(p.begun, data...)
		p.begun = nil
	}
	for {
		line, rest, found := bytes.Cut(data, []byte("\r\n"))
		if !found {
			break
		}
		data = rest
		switch {
		case bytes.Equal(line, []byte("PING")):
			_ = p.say("PONG\r\n")
		case bytes.Equal(line, []byte("PONG")):
			p.answered()
		case bytes.HasPrefix(line, []byte("-ERR 'Permissions Violation for Publish")):
			p.refused = refusal(line[len("-ERR "):])
		}
	}
	if len(data) > 0 && p.socket != nil {
		p.begun = bytes.Clone(data)
	}
}

func (p *publisher) answered() {
	if p.pong != nil {
		close(p.pong)
		p.pong = nil
	}
}

// lose gives the socket up and dials anew in the background. The mutex is held.
func (p *publisher) lose() {
	if !p.release() || p.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	lost := p.node
	go func() {
		select {
		case <-time.After(publishersWait + rand.N(publishersWait)):
			_ = p.transport.dialAnew(ctx, lost, publishersWait, p.transport.dialInTurn, p.attach)
		case <-ctx.Done():
		}
	}()
}

// release closes the socket, if there is one. The mutex is held.
func (p *publisher) release() bool {
	if p.socket == nil {
		return false
	}
	if p.descriptor >= 0 {
		p.transport.watch.remove(p.descriptor)
	}
	p.socket.Close()
	p.socket, p.descriptor, p.begun, p.unsent = nil, -1, nil, nil
	p.answered()
	return true
}

// Close returns when the server has answered to a PING behind the last message.
func (p *publisher) Close(ctx context.Context) error {
	p.mutex.Lock()
	if p.closed {
		p.mutex.Unlock()
		return nil
	}
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
	pong := make(chan struct{})
	p.pong = pong
	err := p.say("PING\r\n")
	p.mutex.Unlock()
	if err == nil {
		select {
		case <-pong:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.release() && err == nil {
		err = errDisconnected
	}
	if err != nil {
		return fmt.Errorf("flush before closing: %w", err)
	}
	return nil
}
