package natsproto_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"lifeline/loadgen/transport/natsproto"
)

const conversation = "INFO {\"a\":1}\r\nPING\r\nMSG a.b 1 5\r\nhello\r\nMSG a.b 1 reply 0\r\n\r\nHMSG a 2 12 14\r\nNATS/1.0\r\n\r\nhi\r\n-ERR 'no'\r\n"

func TestFramesAreTheSameHoweverTheBytesArrive(t *testing.T) {
	for name, arriving := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "by halves": iotest.HalfReader,
	} {
		reader := natsproto.NewReader(arriving(strings.NewReader(conversation)), nil, nil)
		var raw, payloads []string
		for {
			frame, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			raw = append(raw, string(frame.Raw))
			if frame.Payload != nil {
				payloads = append(payloads, frame.Verb+" "+string(frame.Payload))
			}
		}
		if got := strings.Join(raw, ""); got != conversation {
			t.Errorf("%s: %q", name, got)
		}
		if got := strings.Join(payloads, "|"); got != "MSG hello|MSG |HMSG NATS/1.0\r\n\r\nhi" {
			t.Errorf("%s: payloads %q", name, got)
		}
	}
}

func TestAFrameLongerThanTheBufferIsReadWhole(t *testing.T) {
	payload := bytes.Repeat([]byte("x"), 300_000)
	text := append([]byte("MSG a 1 300000\r\n"), payload...)
	reader := natsproto.NewReader(bytes.NewReader(append(text, "\r\nPING\r\n"...)), []byte("PONG\r\n"), nil)
	for _, verb := range []string{"PONG", "MSG", "PING"} {
		frame, err := reader.Next()
		if err != nil || frame.Verb != verb {
			t.Fatalf("%q, %v instead of %s", frame.Verb, err, verb)
		}
		if verb == "MSG" && !bytes.Equal(frame.Payload, payload) {
			t.Error("the payload is another")
		}
	}
}

func TestWhatIsNotTheProtocolIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"no size": "MSG a 1 x\r\n", "a negative size": "MSG a 1 -1\r\n", "a huge size": "PUB a 99999999999\r\n",
		"a wrong end": "MSG a 1 2\r\nabXX", "an endless line": strings.Repeat("x", 70_000),
	} {
		if frame, err := natsproto.NewReader(strings.NewReader(text), nil, nil).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: frame %q, error %v", name, frame.Raw, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(conversation))
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := natsproto.NewReader(iotest.HalfReader(bytes.NewReader(data)), nil, nil)
		var raw []byte
		for {
			frame, err := reader.Next()
			if err != nil {
				break
			}
			raw = append(raw, frame.Raw...)
		}
		if !bytes.HasPrefix(data, raw) {
			t.Errorf("%q is not the beginning of %q", raw, data)
		}
	})
}
