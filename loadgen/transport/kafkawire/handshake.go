package kafkawire

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/sasl"
)

// Requests of Kafka's protocol, and the version of each that is spoken here: ones that brokers from 2.1 on take, from before the
// compact encoding, and no newer than their fields are of use to us.
const (
	produce, produceVersion                   = 0, 7
	saslHandshake, saslHandshakeVersion       = 17, 1
	apiVersions, apiVersionsVersion           = 18, 0
	saslAuthenticate, saslAuthenticateVersion = 36, 0
)

// clientID is what a broker's logs and quotas know these connections by.
const clientID = "fleet"

// appendHeader begins a request; the four bytes of its length are filled in by finish.
func appendHeader(to []byte, request, version int16, correlation int32) []byte {
	to = append(to, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint16(to, uint16(request))
	to = binary.BigEndian.AppendUint16(to, uint16(version))
	to = binary.BigEndian.AppendUint32(to, uint32(correlation))
	return appendText(to, clientID)
}

func finish(request []byte) []byte {
	binary.BigEndian.PutUint32(request, uint32(len(request)-4))
	return request
}

func appendText(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(to, uint16(len(text))), text...)
}

// next numbers requests.
func (l *link) next() int32 {
	l.last = (l.last + 1) & 0x7fffffff
	return l.last
}

// handshake makes sure that a broker is there which takes our requests, and signs in where there is a mechanism; nil: there is no
// user.
func (l *link) handshake(ctx context.Context, mechanism sasl.Mechanism) error {
	if err := l.greet(); err != nil {
		return err
	}
	if mechanism == nil {
		return nil
	}
	if err := l.signIn(ctx, mechanism); err != nil {
		return fmt.Errorf("SASL %s: %w", mechanism.Name(), err)
	}
	return nil
}

func (l *link) call(request, version int16, body []byte) (*fields, error) {
	correlation := l.next()
	if _, err := l.socket.Write(finish(append(appendHeader(nil, request, version, correlation), body...))); err != nil {
		return nil, err
	}
	got, answer, err := l.answer(longestGreeting)
	if err == nil && got != correlation {
		err = fmt.Errorf("%w: it is number %d, and number %d was asked for", errProtocol, got, correlation)
	}
	return answer, err
}

func (l *link) greet() error {
	answer, err := l.call(apiVersions, apiVersionsVersion, nil)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(answer.int16()); err != nil {
		return fmt.Errorf("asking for its versions: %w", err)
	}
	var oldest, newest int16 = 0, -1
	for range answer.count(6) {
		request, from, to := answer.int16(), answer.int16(), answer.int16()
		if request == produce {
			oldest, newest = from, to
		}
	}
	if err := answer.done(); err != nil {
		return err
	}
	if oldest > produceVersion || newest < produceVersion {
		return fmt.Errorf("the broker takes versions %d to %d of Produce, and this client has version %d: take client: library",
			oldest, newest, produceVersion)
	}
	return nil
}

// signIn has the mechanism answer the broker's questions until it is content.
func (l *link) signIn(ctx context.Context, mechanism sasl.Mechanism) error {
	answer, err := l.call(saslHandshake, saslHandshakeVersion, appendText(nil, mechanism.Name()))
	if err != nil {
		return err
	}
	code := answer.int16()
	var mechanisms []string
	for range answer.count(2) {
		mechanisms = append(mechanisms, answer.text())
	}
	if err := firstError(code, answer); err != nil {
		return fmt.Errorf("%w; the broker has the mechanisms %q", err, mechanisms)
	}
	session, message, err := mechanism.Authenticate(ctx, l.address)
	for done := false; err == nil && !done; {
		var question []byte
		if question, err = l.authenticate(message); err == nil {
			done, message, err = session.Challenge(question)
		}
	}
	return err
}

// authenticate sends a message of the mechanism and returns what the broker says to it.
func (l *link) authenticate(message []byte) ([]byte, error) {
	answer, err := l.call(saslAuthenticate, saslAuthenticateVersion,
		append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	if err != nil {
		return nil, err
	}
	code := answer.int16()
	answer.text() // the broker's words for the same
	said := answer.take(int(answer.int32()))
	return said, firstError(code, answer)
}

// firstError is a malformed answer's, then the broker's own.
func firstError(code int16, answer *fields) error {
	if err := answer.done(); err != nil {
		return err
	}
	return kerr.ErrorForCode(code)
}
