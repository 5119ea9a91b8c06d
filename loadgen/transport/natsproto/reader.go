// Package natsproto cuts what comes over a NATS connection, in either direction, into the protocol's frames.
package natsproto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// readAhead is what a Reader asks of its connection at once, unless its buffer is given.
	readAhead = 64 << 10
	// longestLine bounds a line; INFO of a large cluster is the longest.
	longestLine = 64 << 10
	// largestPayload is more than any server allows (its own limit is a 32-bit setting of 1 MiB by default).
	largestPayload = 64 << 20
)

// Frame is one line of the protocol, with the payload that MSG, HMSG, PUB and HPUB carry. Its slices are valid until the next
// call of Next.
type Frame struct {
	Verb      string // "MSG", "PING", "-ERR", ...
	Arguments []byte // the rest of the line
	Payload   []byte // nil where the verb has none
	Raw       []byte // all of it, as it came
}

// Fields splits the arguments.
func (f Frame) Fields() [][]byte { return bytes.Fields(f.Arguments) }

// Reader reads frames. Its buffer grows to the longest frame.
type Reader struct {
	from       io.Reader
	buffer     []byte
	start, end int
}

// NewReader returns a Reader that sees begun before what it reads of from. It reads into buffer, which nobody else may use
// meanwhile, until a frame needs a longer one; nil: one of a size for many small frames.
func NewReader(from io.Reader, begun, buffer []byte) *Reader {
	if len(buffer) < max(len(begun), 1) {
		buffer = make([]byte, max(readAhead, len(begun)))
	}
	return &Reader{from: from, buffer: buffer, end: copy(buffer, begun)}
}

// Rest returns the bytes read after the last frame.
func (r *Reader) Rest() []byte { return r.buffer[r.start:r.end] }

// Next waits for a whole frame. It returns the error of the connection as it is, io.EOF included, or one that says what is
// wrong with the bytes.
func (r *Reader) Next() (Frame, error) {
	for {
		frame, length, err := cut(r.buffer[r.start:r.end])
		if err != nil {
			return Frame{}, err
		}
		if frame.Raw != nil {
			r.start += length
			return frame, nil
		}
		if err := r.fill(length); err != nil {
			return Frame{}, err
		}
	}
}

// fill reads more, after making room for a frame of the given length.
func (r *Reader) fill(length int) error {
	if r.start == r.end {
		r.start, r.end = 0, 0
	}
	if r.end == len(r.buffer) || r.start+length > len(r.buffer) {
		into := r.buffer
		if length > len(into) || r.start == 0 {
			into = make([]byte, max(length, 2*len(r.buffer)))
		}
		r.start, r.end = 0, copy(into, r.buffer[r.start:r.end])
		r.buffer = into
	}
	n, err := r.from.Read(r.buffer[r.end:])
	r.end += n
	if n > 0 {
		return nil
	}
	return err
}

var (
	lineEnd     = []byte("\r\n")
	errBadFrame = errors.New("nats: a payload that does not end with CR LF")
	errLine     = fmt.Errorf("nats: a line of more than %d bytes", longestLine)
	hasPayload  = map[string]bool{"MSG": true, "PUB": true, "HMSG": true, "HPUB": true}
)

// cut takes the first frame off data. When data ends before that does, Raw is nil, and length is how long the frame is at
// least.
func cut(data []byte) (frame Frame, length int, err error) {
	line, _, found := bytes.Cut(data, lineEnd)
	if !found {
		if len(data) > longestLine {
			return Frame{}, 0, errLine
		}
		return Frame{}, len(data) + 1, nil
	}
	verb, arguments, _ := bytes.Cut(line, []byte(" "))
	frame = Frame{Verb: verbOf(verb), Arguments: arguments}
	length = len(line) + len(lineEnd)
	if hasPayload[frame.Verb] {
		size, err := payloadSize(arguments)
		if err != nil {
			return Frame{}, 0, fmt.Errorf("nats: %s: %w", frame.Verb, err)
		}
		begin := length
		length += size + len(lineEnd)
		if len(data) < length {
			return Frame{}, length, nil
		}
		if !bytes.Equal(data[begin+size:length], lineEnd) {
			return Frame{}, 0, errBadFrame
		}
		frame.Payload = data[begin : begin+size]
	}
	frame.Raw = data[:length]
	return frame, length, nil
}

// verbOf saves the copy of a string for the verbs that come often.
func verbOf(word []byte) string {
	switch string(word) {
	case "MSG":
		return "MSG"
	case "PUB":
		return "PUB"
	case "HMSG":
		return "HMSG"
	case "HPUB":
		return "HPUB"
	case "PING":
		return "PING"
	case "PONG":
		return "PONG"
	case "+OK":
		return "+OK"
	}
	return string(word)
}

// payloadSize is the last argument, of headers and payload together.
func payloadSize(arguments []byte) (int, error) {
	text := arguments[bytes.LastIndexByte(arguments, ' ')+1:]
	size, err := strconv.Atoi(string(text))
	if err != nil || size < 0 || size > largestPayload {
		return 0, fmt.Errorf("%.20q is no size of a payload", text)
	}
	return size, nil
}
