package kafkawire

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// What is spoken here brokers take from 2.1 on: version 7 of Produce, from before the compact encoding; version 1 of the SASL
// handshake, which has requests of its own follow; version 0 of the others.
const (
	produce, produceVersion = 0, 7
	saslHandshakeVersion    = 1
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

// requests writes what is rare through the library's encoder; the answers are small.
var requests = kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))

// call returns the broker's answer to a request of any kind but Produce.
func call[R kmsg.Response](l *link, request kmsg.Request, answer R) (R, error) {
	correlation := l.next()
	if _, err := l.socket.Write(requests.AppendRequest(nil, request, correlation)); err != nil {
		return answer, err
	}
	got, found, err := l.answer(longestGreeting)
	switch {
	case err != nil:
		return answer, err
	case got != correlation:
		return answer, fmt.Errorf("%w: it is number %d, and number %d was asked for", errProtocol, got, correlation)
	}
	answer.SetVersion(request.GetVersion())
	if err := answer.ReadFrom(found.rest); err != nil {
		return answer, fmt.Errorf("%w: fields are missing: %v", errProtocol, err)
	}
	if more := len(found.rest) - len(answer.AppendTo(nil)); more > 0 {
		return answer, fmt.Errorf("%w: %d bytes follow its last field", errProtocol, more)
	}
	return answer, nil
}

func (l *link) greet() error {
	answer, err := call(l, kmsg.NewPtrApiVersionsRequest(), kmsg.NewPtrApiVersionsResponse())
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return fmt.Errorf("asking for its versions: %w", err)
	}
	var oldest, newest int16 = 0, -1
	for _, known := range answer.ApiKeys {
		if known.ApiKey == produce {
			oldest, newest = known.MinVersion, known.MaxVersion
		}
	}
	if oldest > produceVersion || newest < produceVersion {
		return fmt.Errorf("the broker takes versions %d to %d of Produce, and this client has version %d: take client: library",
			oldest, newest, produceVersion)
	}
	return nil
}

// signIn has the mechanism answer the broker's questions until it is content.
func (l *link) signIn(ctx context.Context, mechanism sasl.Mechanism) error {
	begin := kmsg.NewPtrSASLHandshakeRequest()
	begin.Version, begin.Mechanism = saslHandshakeVersion, mechanism.Name()
	offered, err := call(l, begin, kmsg.NewPtrSASLHandshakeResponse())
	if err == nil {
		err = kerr.ErrorForCode(offered.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("%w; the broker has the mechanisms %q", err, offered.SupportedMechanisms)
	}
	session, message, err := mechanism.Authenticate(ctx, l.address)
	for done := false; err == nil && !done; {
		next := kmsg.NewPtrSASLAuthenticateRequest()
		next.SASLAuthBytes = message
		var answer *kmsg.SASLAuthenticateResponse
		if answer, err = call(l, next, kmsg.NewPtrSASLAuthenticateResponse()); err == nil {
			err = kerr.ErrorForCode(answer.ErrorCode)
		}
		if err == nil {
			done, message, err = session.Challenge(answer.SASLAuthBytes)
		}
	}
	return err
}
