package kafkawire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	// An answer to a produce request of one partition has about 80 bytes; what is much longer is none.
	longestAnswer = 4 << 10
	// A broker's list of requests that it knows has about a kilobyte.
	longestGreeting = 64 << 10
	// What is read at once: kept small, because every connection has such a buffer.
	readAhead = 256
)

// link is an open connection to one broker.
type link struct {
	socket  net.Conn
	reader  *bufio.Reader
	address string
	last    int32 // correlation id of the latest request
	heard   bool  // a produce request was answered on it; only the goroutine that reads touches this
}

func newLink(socket net.Conn, address string) *link {
	return &link{socket: socket, reader: bufio.NewReaderSize(socket, readAhead), address: address}
}

// errProtocol is an answer that no broker gives which speaks this protocol.
var errProtocol = errors.New("the answer is not Kafka's")

// answer reads one answer of at most longest bytes: the correlation id, and what follows it. After os.ErrDeadlineExceeded the
// next call may go on.
func (l *link) answer(longest int) (int32, *fields, error) {
	head, err := l.reader.Peek(4)
	if err != nil {
		return 0, nil, err
	}
	length := int32(binary.BigEndian.Uint32(head))
	if length < 4 || int(length) > longest {
		return 0, nil, fmt.Errorf("%w: its length is %d, and 4 to %d is possible", errProtocol, length, longest)
	}
	bytes := make([]byte, 4+int(length))
	if _, err := io.ReadFull(l.reader, bytes); err != nil {
		// Not wrapped: half of an answer is no reason to wait for more, even when a deadline cut it.
		return 0, nil, fmt.Errorf("%w: it ends within %d bytes: %v", errProtocol, length, err)
	}
	answer := &fields{rest: bytes[4:]}
	return answer.int32(), answer, nil
}

// fields are taken from the front of an answer. Once one is missing, all that follow are zero and done returns the error.
type fields struct {
	rest   []byte
	failed bool
}

func (f *fields) take(count int) []byte {
	if f.failed || count < 0 || count > len(f.rest) {
		f.failed = true
		return nil
	}
	taken := f.rest[:count]
	f.rest = f.rest[count:]
	return taken
}

func (f *fields) int16() int16 {
	if bytes := f.take(2); bytes != nil {
		return int16(binary.BigEndian.Uint16(bytes))
	}
	return 0
}

func (f *fields) int32() int32 {
	if bytes := f.take(4); bytes != nil {
		return int32(binary.BigEndian.Uint32(bytes))
	}
	return 0
}

// text is a string of the protocol; a null one, length -1, is empty.
func (f *fields) text() string {
	length := f.int16()
	if length == -1 {
		return ""
	}
	return string(f.take(int(length)))
}

// count is the length of an array whose elements have at least size bytes each.
func (f *fields) count(size int) int {
	count := int(f.int32())
	if count < 0 || count*size > len(f.rest) {
		f.failed = true
		return 0
	}
	return count
}

// done reports whether everything was there, and nothing else.
func (f *fields) done() error {
	switch {
	case f.failed:
		return fmt.Errorf("%w: fields are missing", errProtocol)
	case len(f.rest) > 0:
		return fmt.Errorf("%w: %d bytes follow its last field", errProtocol, len(f.rest))
	}
	return nil
}
