package copy

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// The frames of examples/remote-copy/wire.h, written here from their description and not from the program's code.
const (
	kindHello = iota + 1
	kindFile
	kindBlock
	kindFileEnd
	kindDone
	kindResult
)

const (
	transfer   = 7
	blockBytes = 4096
)

type frame struct {
	Magic, Kind   uint32
	ID, Offset    uint64
	NBytes, Value uint32
}

func encode(kind uint32, id, offset uint64, value uint32, payload string) []byte {
	var buffer bytes.Buffer
	binary.Write(&buffer, binary.BigEndian, frame{0x4c524331, kind, id, offset, uint32(len(payload)), value})
	buffer.WriteString(payload)
	return buffer.Bytes()
}

func hello() []byte           { return encode(kindHello, transfer, 0, blockBytes, "") }
func file(path string) []byte { return encode(kindFile, 0, 0, 0o644, path) }
func block(n, offset uint64, data string) []byte {
	return encode(kindBlock, transfer<<32|n, offset, 0, data)
}
func fileEnd(data string) []byte {
	sum := crc32.Checksum([]byte(data), crc32.MakeTable(crc32.Castagnoli))
	return encode(kindFileEnd, 0, uint64(len(data)), sum, "")
}
func done(files, bytes uint64) []byte { return encode(kindDone, files, bytes, 0, "") }

// converse sends frames to the server and returns its answer: "" when it is content, its complaint otherwise.
func converse(t *testing.T, address string, frames ...[]byte) string {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(limit))
	connection.Write(bytes.Join(frames, nil)) // the server may hang up early
	connection.(*net.TCPConn).CloseWrite()
	var answer frame
	if err := binary.Read(connection, binary.BigEndian, &answer); err != nil {
		t.Fatalf("no answer: %v", err)
	}
	message := make([]byte, answer.NBytes)
	if _, err := io.ReadFull(connection, message); err != nil || answer.Kind != kindResult {
		t.Fatalf("bad answer: %+v, %v", answer, err)
	}
	if answer.Value == 0 {
		return ""
	}
	return string(message)
}

func TestAnHonestStreamOfFramesIsAccepted(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil)
	if complaint := converse(t, server.Address, hello(), file("a/b"), block(0, 0, "bytes"), fileEnd("bytes"), done(1, 5)); complaint != "" {
		t.Fatalf("refused: %s", complaint)
	}
	if data, err := os.ReadFile(filepath.Join(server.Into, "a", "b")); err != nil || string(data) != "bytes" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestAHostileSenderWritesNothingAndTheServerServesOn(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(server.Into, "link")); err != nil {
		t.Fatal(err)
	}
	endless := strings.Repeat("x", blockBytes)
	for _, attack := range []struct {
		name, complaint string
		frames          [][]byte
	}{
		{"a path with ..", "leads out", [][]byte{hello(), file("../escaped")}},
		{"a path with .. inside", "leads out", [][]byte{hello(), file("a/../../escaped")}},
		{"an absolute path", "leads out", [][]byte{hello(), file("/etc/escaped")}},
		{"an empty component", "leads out", [][]byte{hello(), file("a//b")}},
		{"a trailing slash", "leads out", [][]byte{hello(), file("a/")}},
		{"a zero byte in the path", "zero byte", [][]byte{hello(), file("a\x00b")}},
		{"a symbolic link on the way", "cannot make the directory", [][]byte{hello(), file("link/escaped")}},
		{"no hello", "does not speak", [][]byte{file("a")}},
		{"another protocol", "does not speak", [][]byte{[]byte("GET / HTTP/1.1\r\nHost: somebody\r\n\r\n")}},
		{"a block size that is none", "does not speak", [][]byte{encode(kindHello, transfer, 0, 1000, "")}},
		{"a block larger than announced", "more bytes", [][]byte{hello(), file("a"), block(0, 0, endless+"y")}},
		{"a length out of bounds", "connection broke", [][]byte{hello(), encode(99, 0, 0, 0, "")}},
		{"a block without a file", "before any file", [][]byte{hello(), block(0, 0, "x")}},
		{"a block at the wrong offset", "wrong offset", [][]byte{hello(), file("a"), block(0, 10, "x")}},
		{"a block out of order", "out of order", [][]byte{hello(), file("a"), block(1, 0, "x")}},
		{"a file inside a file", "inside another", [][]byte{hello(), file("a"), file("b")}},
		{"a wrong checksum", "checksum of a is wrong", [][]byte{hello(), file("a"), block(0, 0, "x"), fileEnd("y")}},
		{"a wrong size", "another size", [][]byte{hello(), file("a"), block(0, 0, "x"), fileEnd("xx")}},
		{"a wrong count", "another number", [][]byte{hello(), file("a"), block(0, 0, "x"), fileEnd("x"), done(2, 1)}},
		{"a hang-up in the middle", "connection broke", [][]byte{hello(), file("a"), block(0, 0, "x")}},
		{"the end inside a file", "end inside", [][]byte{hello(), file("a"), done(0, 0)}},
	} {
		if complaint := converse(t, server.Address, attack.frames...); !strings.Contains(complaint, attack.complaint) {
			t.Errorf("%s: the server says %q, which should hold %q", attack.name, complaint, attack.complaint)
		}
		os.Remove(filepath.Join(server.Into, "a")) // of the one attack whose only lie comes after a whole file
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("a file was written through the link: %v", entries)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(server.Into), "escaped")); err == nil {
		t.Errorf("a file was written outside")
	}
	os.Remove(filepath.Join(server.Into, "link"))
	server.IsEmpty(t)
	if complaint := converse(t, server.Address, hello(), done(0, 0)); complaint != "" {
		t.Errorf("afterwards an honest sender is refused: %s", complaint)
	}
}
