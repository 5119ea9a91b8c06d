package natswire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/natsproto"
)

// handshakeBuffers are used again, because a fleet shakes hands tens of thousands of times.
var handshakeBuffers = sync.Pool{New: func() any { return new(make([]byte, 4<<10)) }}

// socket is a connection after its handshake.
type socket struct {
	net.Conn                   // plain, or TLS
	arrival  transport.Arrival // of the TCP connection below
	rest     []byte            // what came behind the handshake
}

// info is what this client has to know of the server's greeting.
type info struct {
	Nonce       string `json:"nonce"`
	TLSRequired bool   `json:"tls_required"`
	MaxPayload  int64  `json:"max_payload"`
}

// login is the client's answer. Protocol 0 asks the server to keep news of the cluster to itself.
type login struct {
	Verbose     bool   `json:"verbose"`
	Pedantic    bool   `json:"pedantic"`
	TLSRequired bool   `json:"tls_required"`
	Protocol    int    `json:"protocol"`
	Echo        bool   `json:"echo"`
	Language    string `json:"lang"`
	Name        string `json:"name"`
	User        string `json:"user,omitempty"`
	Password    string `json:"pass,omitempty"`
	Token       string `json:"auth_token,omitempty"`
	JWT         string `json:"jwt,omitempty"`
	NKey        string `json:"nkey,omitempty"`
	Signature   string `json:"sig,omitempty"`
}

// handshake dials the node and logs in; errors are those of dial.Classify, or a result.Failure for a server that refuses.
func (t *Transport) handshake(ctx context.Context, node int) (socket, error) {
	address := t.settings.Servers[node]
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	connection, err := t.settings.Dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return socket{}, err
	}
	arrival, stamps := connection.(transport.Arrival)
	if !stamps {
		connection.Close()
		return socket{}, errors.New("the dialler's connections do not stamp arrivals")
	}
	deadline, _ := ctx.Deadline()
	_ = connection.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { connection.Close() })
	made, err := t.logIn(ctx, connection, address)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		connection.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return socket{}, dial.Classify(address, err)
	}
	_ = connection.SetDeadline(time.Time{})
	made.arrival = arrival
	return made, nil
}

func (t *Transport) logIn(ctx context.Context, connection net.Conn, address string) (socket, error) {
	buffer := handshakeBuffers.Get().(*[]byte)
	defer handshakeBuffers.Put(buffer)
	server := natsproto.NewReader(connection, nil, *buffer)
	greeting, err := expect(server, "INFO")
	if err != nil {
		return socket{}, err
	}
	var wants info
	if err := json.Unmarshal(greeting, &wants); err != nil {
		return socket{}, fmt.Errorf("the server's INFO: %w", err)
	}
	if wants.TLSRequired && t.settings.TLS == nil {
		return socket{}, refuse(address, refusal("that it wants TLS"))
	}
	if t.settings.TLS != nil {
		if connection, err = t.settings.Secure(ctx, connection, address); err != nil {
			return socket{}, err
		}
		server = natsproto.NewReader(connection, nil, *buffer)
	}
	proof, err := t.settings.Login.Prove(wants.Nonce)
	if err != nil {
		return socket{}, err
	}
	answer := login{
		TLSRequired: t.settings.TLS != nil, Echo: true, Language: "go", Name: "fleet-" + t.settings.Run,
		User: t.settings.Login.User, JWT: proof.JWT, NKey: proof.NKey,
		Signature: base64.RawURLEncoding.EncodeToString(proof.Signature),
	}
	if answer.Token = t.settings.Login.Token(); answer.Token == "" {
		answer.Password = t.settings.Login.Password
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return socket{}, err
	}
	if _, err := fmt.Fprintf(connection, "CONNECT %s\r\nPING\r\n", text); err != nil {
		return socket{}, err
	}
	_, err = expect(server, "PONG")
	var refused refusal
	if errors.As(err, &refused) {
		return socket{}, refuse(address, refused)
	}
	if err != nil {
		return socket{}, err
	}
	t.largest.Store(wants.MaxPayload)
	return socket{Conn: connection, rest: bytes.Clone(server.Rest())}, nil
}

func refuse(address string, why refusal) error {
	return &result.Failure{Cause: result.Refused, Message: "connect to " + address + ": " + why.Error()}
}

// refusal is the text of the server's -ERR.
type refusal string

func (r refusal) Error() string { return "the server says " + string(r) }

// expect skips frames until one has the given verb, and returns its arguments.
func expect(server *natsproto.Reader, verb string) ([]byte, error) {
	for {
		frame, err := server.Next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("wait for %s: %w", verb, err)
		case frame.Verb == "-ERR":
			return nil, refusal(frame.Arguments)
		case frame.Verb == verb:
			return frame.Arguments, nil
		}
	}
}
