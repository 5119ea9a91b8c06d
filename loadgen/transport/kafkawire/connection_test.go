package kafkawire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
)

func connectTo(t *testing.T, s *stub) transport.Connection {
	t.Helper()
	connection, err := s.transport(t).Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := connection.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return connection
}

// publish returns where the acknowledgement comes; a second one would find no room and block the connection's Close.
func publish(t *testing.T, connection transport.Connection, message string) <-chan error {
	t.Helper()
	acknowledged := make(chan error, 1)
	if err := connection.Publish("channel", []byte(message), func(_ int64, err error) { acknowledged <- err }); err != nil {
		t.Fatal(err)
	}
	return acknowledged
}

func verdict(t *testing.T, acknowledged <-chan error) error {
	t.Helper()
	select {
	case err := <-acknowledged:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("no acknowledgement came")
		return nil
	}
}

func TestAnswersThatAreNotKafkasAreNotBelievedAndTheMessageGoesAgain(t *testing.T) {
	good := answerTo(0, topicOfTests)
	edited := func(at int, value byte) func(int32) []byte {
		return func(correlation int32) []byte {
			frame := framed(correlation, slices.Clone(good))
			frame[at] = value
			return frame
		}
	}
	endOfTopic := 8 + 4 + 2 + len(topicOfTests)
	for name, hostile := range map[string]func(int32) []byte{
		"length of 2 GB":          edited(0, 0x7f),
		"negative length":         edited(0, 0xff),
		"length of 3":             func(int32) []byte { return []byte{0, 0, 0, 3, 0, 0, 0} },
		"other correlation id":    func(correlation int32) []byte { return framed(correlation+1, good) },
		"other topic":             edited(endOfTopic-1, 'L'),
		"other partition":         edited(endOfTopic+4+3, 5),
		"a topic too many":        func(correlation int32) []byte { return framed(correlation, answerTo(0, topicOfTests, topicOfTests)) },
		"no topic":                func(correlation int32) []byte { return framed(correlation, answerTo(0)) },
		"name longer than answer": edited(8+4, 0x7f),
		"more topics than bytes":  edited(8, 0x7f),
		"missing end":             func(correlation int32) []byte { return framed(correlation, good[:len(good)-1]) },
		"bytes behind the end":    func(correlation int32) []byte { return framed(correlation, append(slices.Clone(good), 0)) },
		"nothing at all":          func(int32) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			acknowledged := publish(t, connectTo(t, s), "once more")
			first := s.next(t)
			first.socket.Write(hostile(first.correlation))
			if name == "nothing at all" {
				first.socket.Close()
			}
			second := s.next(t)
			if !slices.Equal(second.values, []string{"once more"}) || second.socket == first.socket {
				t.Errorf("the second request holds %q", second.values)
			}
			second.socket.Write(framed(second.correlation, good))
			if err := verdict(t, acknowledged); err != nil {
				t.Errorf("acknowledged with %v", err)
			}
		})
	}
}

func TestABrokerThatBreaksOffAtEachRequestIsNotHammered(t *testing.T) {
	s := newStub(t)
	acknowledged := publish(t, connectTo(t, s), "again and again")
	began := time.Now()
	const times = 3
	for range times {
		s.next(t).socket.Close()
	}
	last := s.next(t)
	if passed := time.Since(began); passed < times*shortestPause/2 {
		t.Errorf("%d attempts within %s", times, passed)
	}
	last.socket.Write(framed(last.correlation, answerTo(0, topicOfTests)))
	if err := verdict(t, acknowledged); err != nil {
		t.Errorf("acknowledged with %v", err)
	}
}

func TestMessagesExpireAlthoughTheBrokerGreetsEveryNewConnection(t *testing.T) {
	s := newStub(t)
	c := connectTo(t, s).(*connection)
	acknowledged := publish(t, c, "never answered")
	request := s.next(t)
	c.mutex.Lock()
	c.flight[0].until = 0
	c.mutex.Unlock()
	request.socket.Close()
	if err := verdict(t, acknowledged); !errors.Is(err, io.EOF) {
		t.Errorf("acknowledged with %v", err)
	}
}

func TestErrorsThatPassAreTriedAgainOnTheSameConnection(t *testing.T) {
	s := newStub(t)
	acknowledged := publish(t, connectTo(t, s), "patient")
	first := s.next(t)
	first.socket.Write(framed(first.correlation, answerTo(kerr.NotEnoughReplicas.Code, topicOfTests)))
	second := s.next(t)
	if second.socket != first.socket || second.correlation == first.correlation {
		t.Error("the request was not repeated as a new one on the same connection")
	}
	second.socket.Write(framed(second.correlation, answerTo(0, topicOfTests)))
	if err := verdict(t, acknowledged); err != nil {
		t.Errorf("acknowledged with %v", err)
	}
}

func TestErrorsThatStayAreTheAcknowledgement(t *testing.T) {
	s := newStub(t)
	connection := connectTo(t, s)
	acknowledged := publish(t, connection, "too large")
	request := s.next(t)
	request.socket.Write(framed(request.correlation, answerTo(kerr.MessageTooLarge.Code, topicOfTests)))
	if err := verdict(t, acknowledged); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("acknowledged with %v", err)
	}
}

func TestMessagesGatherInOneBatchWhileARequestIsUnderWay(t *testing.T) {
	s := newStub(t)
	connection := connectTo(t, s)
	var want []string
	var acknowledged []<-chan error
	for i := range 6 {
		want = append(want, fmt.Sprint("message ", i))
		acknowledged = append(acknowledged, publish(t, connection, want[i]))
	}
	first := s.next(t)
	first.socket.Write(framed(first.correlation, answerTo(0, topicOfTests)))
	second := s.next(t)
	second.socket.Write(framed(second.correlation, answerTo(0, topicOfTests)))
	if got := append(first.values, second.values...); len(first.values) != 1 || !slices.Equal(got, want) {
		t.Errorf("the requests hold %q and %q", first.values, second.values)
	}
	for _, each := range acknowledged {
		if err := verdict(t, each); err != nil {
			t.Errorf("acknowledged with %v", err)
		}
	}
}

func TestALargeBatchIsSplitBelowWhatBrokersTake(t *testing.T) {
	s := newStub(t)
	connection := connectTo(t, s)
	large := strings.Repeat("x", largestRequest/2+1)
	var acknowledged []<-chan error
	for range 3 {
		acknowledged = append(acknowledged, publish(t, connection, large))
	}
	for range acknowledged {
		request := s.next(t)
		if len(request.values) != 1 || request.values[0] != large {
			t.Fatalf("a request holds %d messages", len(request.values))
		}
		request.socket.Write(framed(request.correlation, answerTo(0, topicOfTests)))
	}
	for _, each := range acknowledged {
		if err := verdict(t, each); err != nil {
			t.Errorf("acknowledged with %v", err)
		}
	}
}

func TestCloseThatMayNotWaitAcknowledgesTheRestAsLost(t *testing.T) {
	s := newStub(t)
	connection, err := s.transport(t).Connect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := publish(t, connection, "never answered")
	s.next(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := connection.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("closed with %v", err)
	}
	if err := verdict(t, acknowledged); !errors.Is(err, errClosed) {
		t.Errorf("acknowledged with %v", err)
	}
}

func TestOnlyABrokerThatTakesOurRequestsIsConnectedTo(t *testing.T) {
	tooMany := greeting(3, 13)
	binary.BigEndian.PutUint32(tooMany[2:], 1<<30)
	for want, greeting := range map[string][]byte{
		"versions 9 to 13":           greeting(9, 13),
		"versions 0 to -1":           {0, 0, 0, 0, 0, 0},
		"UNSUPPORTED_VERSION":        {0, 35, 0, 0, 0, 0},
		"fields are missing":         tooMany,
		"bytes follow":               append(greeting(3, 13), 0),
		"and 4 to 65536 is possible": make([]byte, longestGreeting),
	} {
		s := newStub(t)
		s.greeting = greeting
		_, err := s.transport(t).Connect(context.Background(), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("instead of %q: %v", want, err)
		}
	}
}

func TestAConnectionIsGivenUpWhenItsContextEnds(t *testing.T) {
	s := newStub(t)
	s.greeting = nil
	ctx, cancel := context.WithCancel(context.Background())
	made := s.transport(t)
	done := make(chan error)
	go func() {
		_, err := made.Connect(ctx, 0)
		done <- err
	}()
	cancel()
	if err := verdict(t, done); err == nil {
		t.Error("connected although nobody greeted")
	}
}

func TestABrokerThatAcceptsAndStaysSilentIsAnAcceptTimeout(t *testing.T) {
	s := newStub(t)
	s.greeting = nil
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := s.transport(t).Connect(ctx, 0)
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.AcceptTimeout {
		t.Errorf("got %v", err)
	}
}
