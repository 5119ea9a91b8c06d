package llb

import (
	"bytes"
	"math"
	"testing"
)

func TestUnshuffleUndoesShuffleForEveryStrideAndRemainder(t *testing.T) {
	for stride := 8; stride <= maxStride; stride += 8 {
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

func TestTicksComeBackFromTheirDifferences(t *testing.T) {
	words := []uint64{5<<16 | 3, 7<<16 | 2, 6<<16 | 2, math.MaxUint64, 0, 1 << 63, 1<<63 - 1}
	for _, big := range []bool{false, true} {
		order := byteOrder{big}
		for stride := 8; stride <= maxStride; stride += 8 {
			var rows []byte
			for _, word := range words {
				rows = append(order.appendU64(rows, word), make([]byte, stride-8)...)
			}
			rows = append(rows, "rest"...)
			stored := bytes.Clone(rows)
			ticksToDifferences(stored, stride, order)
			if got := order.u64(stored[2*stride:]); got != 0xffff_ffff_ffff_0002 {
				t.Fatalf("big %v, stride %d: the third difference is %x", big, stride, got)
			}
			if differencesToTicks(stored, stride, order); !bytes.Equal(stored, rows) {
				t.Fatalf("big %v, stride %d: %x became %x", big, stride, rows, stored)
			}
		}
	}
}

func TestAnLZ4BlockOfLiteralsAloneDecompresses(t *testing.T) {
	var d decompressor
	for _, length := range []int{0, 8, 14, 15, 16, 269, 270, 271, 525, 70_000} {
		raw := bytes.Repeat([]byte("x"), length)
		if got, ok := d.expand(&Header{Compression: LZ4}, literalBlock(raw), length); !ok || !bytes.Equal(got, raw) {
			t.Fatalf("%d literals: ok=%v, %d bytes", length, ok, len(got))
		}
	}
}
