package harness

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
)

// Proxy stands between clients and a broker, and is the network, or the broker, at its worst.
type Proxy struct {
	listener net.Listener
	target   string
	kind     string

	lock        sync.Mutex
	changed     *sync.Cond
	silent      bool
	limit       int64 // bytes from the client after which a connection is closed; 0 for none
	certificate tls.Certificate
	connections map[net.Conn]bool
}

// NewProxy listens; To sets its target. A Kafka broker must advertise the proxy's port.
func NewProxy(t T) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("no proxy: %v", err)
	}
	p := &Proxy{listener: listener, connections: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.lock)
	t.Cleanup(p.close)
	return p
}

// Port is where it listens.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// To lets clients through to the broker, from now on.
func (p *Proxy) To(broker *Broker) {
	p.target, p.kind = broker.address(), broker.Kind
	go p.serve()
}

// URL is the broker's, by way of the proxy.
func (p *Proxy) URL() string { return fmt.Sprintf("%s://127.0.0.1:%d", p.kind, p.Port()) }

// Silence has it accept and read nothing, and pass nothing on, until Speak.
func (p *Proxy) Silence() { p.change(func() { p.silent = true }) }

// Speak ends every misbehaviour but the certificate.
func (p *Proxy) Speak() { p.change(func() { p.silent, p.limit = false, 0 }) }

// CutAfter closes each connection once its client has sent so many bytes.
func (p *Proxy) CutAfter(bytes int64) { p.change(func() { p.limit = bytes }) }

// Certify has it speak TLS with this certificate to clients that come from now on, and with an empty one no TLS.
func (p *Proxy) Certify(certificate tls.Certificate) {
	p.change(func() { p.certificate = certificate })
}

// Hangup closes all connections. Clients may come again.
func (p *Proxy) Hangup() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for connection := range p.connections {
		connection.Close()
	}
}

func (p *Proxy) change(how func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	how()
	p.changed.Broadcast()
}

func (p *Proxy) close() {
	p.listener.Close()
	p.Speak()
	p.Hangup()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.carry(client)
	}
}

// carry is the life of one connection.
func (p *Proxy) carry(client net.Conn) {
	defer p.forget(client)
	p.remember(client)
	p.mayPass(0)
	broker, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer p.forget(broker)
	p.remember(broker)
	fromBroker := bufio.NewReader(broker)
	if client, err = p.secure(client, fromBroker); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	go func() { p.pump(broker, client, true); ended <- struct{}{} }()
	go func() { p.pump(client, fromBroker, false); ended <- struct{}{} }()
	<-ended
}

func (p *Proxy) remember(connection net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.connections[connection] = true
}

func (p *Proxy) forget(connection net.Conn) {
	connection.Close()
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.connections, connection)
}

// mayPass waits while the proxy is silent, and is false when the connection has had its share.
func (p *Proxy) mayPass(carried int64) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.silent {
		p.changed.Wait()
	}
	return p.limit == 0 || carried < p.limit
}

func (p *Proxy) pump(to io.Writer, from io.Reader, limited bool) {
	buffer := make([]byte, 64<<10)
	var carried int64
	for {
		count, err := from.Read(buffer)
		if limited {
			carried += int64(count)
		}
		if !p.mayPass(carried) || err != nil {
			return
		}
		if _, err = to.Write(buffer[:count]); err != nil {
			return
		}
	}
}

// secure puts TLS on the client's side, when there is a certificate: with Kafka from the first byte on, with NATS after
// the server's greeting, which announces it.
func (p *Proxy) secure(client net.Conn, fromBroker *bufio.Reader) (net.Conn, error) {
	p.lock.Lock()
	certificate := p.certificate
	p.lock.Unlock()
	if certificate.Certificate == nil {
		return client, nil
	}
	if p.kind == "nats" {
		greeting, err := fromBroker.ReadBytes('\n')
		if err == nil {
			greeting, err = announceTLS(greeting)
		}
		if err == nil {
			_, err = client.Write(greeting)
		}
		if err != nil {
			return nil, err
		}
	}
	secured := tls.Server(client, &tls.Config{Certificates: []tls.Certificate{certificate}})
	return secured, secured.Handshake()
}

func announceTLS(greeting []byte) ([]byte, error) {
	var info map[string]any
	if err := json.Unmarshal(bytes.TrimPrefix(greeting, []byte("INFO ")), &info); err != nil {
		return nil, err
	}
	info["tls_required"] = true
	text, err := json.Marshal(info)
	return fmt.Appendf(nil, "INFO %s\r\n", text), err
}
