package llb

import (
	"bytes"
	"testing"
)

func TestUnshuffleUndoesShuffleForEveryStrideAndRemainder(t *testing.T) {
	for stride := 8; stride <= maxShuffle; stride += 8 {
		for length := 0; length < 3*stride; length++ {
			rows := make([]byte, length)
			for i := range rows {
				rows[i] = byte(i * 7)
			}
			columns, again := make([]byte, length), make([]byte, length)
			shuffle(columns, rows, stride)
			unshuffle(again, columns, stride)
			if !bytes.Equal(again, rows) {
				t.Fatalf("stride %d, %d bytes: %v became %v", stride, length, rows, again)
			}
		}
	}
}

func TestShufflePutsTheFirstBytesOfAllRowsFirst(t *testing.T) {
	rows := []byte("abcdefghABCDEFGHxyz")
	columns := make([]byte, len(rows))
	shuffle(columns, rows, 8)
	if string(columns) != "aAbBcCdDeEfFgGhHxyz" {
		t.Fatalf("got %s", columns)
	}
}

func TestAnLZ4BlockOfLiteralsAloneDecompresses(t *testing.T) {
	var d decompressor
	for _, length := range []int{0, 8, 14, 15, 16, 269, 270, 271, 525, 70_000} {
		raw := bytes.Repeat([]byte("x"), length)
		if got, ok := d.expand(LZ4, 0, literalBlock(raw), length); !ok || !bytes.Equal(got, raw) {
			t.Fatalf("%d literals: ok=%v, %d bytes", length, ok, len(got))
		}
	}
}
