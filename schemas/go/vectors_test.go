package llb_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	llb "lifeline/schemas/go"
)

const vectors = "../vectors"

// batches returns the vectors of a folder by name.
func batches(tb testing.TB, folder string) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(vectors, folder, "*.llb"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no vectors in %s: %v", folder, err)
	}
	found := make(map[string][]byte)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(path), ".llb")] = data
	}
	return found
}

func TestEveryInvalidVectorIsRejectedWithItsCode(t *testing.T) {
	var reader llb.Reader
	for name, data := range batches(t, "invalid") {
		var want struct {
			Code llb.Code
			Why  string
		}
		text, err := os.ReadFile(filepath.Join(vectors, "invalid", name+".json"))
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		var rejection *llb.Rejection
		if err := reader.Read(data); !errors.As(err, &rejection) {
			t.Errorf("%s: got %v, want %s: %s", name, err, want.Code, want.Why)
		} else if rejection.Code != want.Code {
			t.Errorf("%s: got %v, want %s: %s", name, rejection, want.Code, want.Why)
		}
		if reader.Next() || len(reader.Types()) != 0 {
			t.Errorf("%s: delivers events or types after the rejection", name)
		}
	}
}

func TestEveryPrefixOfAValidVectorIsTruncated(t *testing.T) {
	var reader llb.Reader
	for name, data := range batches(t, "valid") {
		for length := range min(len(data), 2000) {
			var rejection *llb.Rejection
			if err := reader.Read(data[:length:length]); !errors.As(err, &rejection) || rejection.Code != llb.Truncated {
				t.Fatalf("%s cut to %d bytes: got %v", name, length, err)
			}
		}
	}
}

func TestEveryTurnedBitOfABatchIsNoticed(t *testing.T) {
	var reader llb.Reader
	batch := batches(t, "valid")["every-type-big"]
	for bit := range 8 * len(batch) {
		batch[bit/8] ^= 1 << (bit % 8)
		if reader.Read(batch) == nil {
			t.Fatalf("bit %d of byte %d was turned, and the batch accepted", bit%8, bit/8)
		}
		batch[bit/8] ^= 1 << (bit % 8)
	}
	if err := reader.Read(batch); err != nil {
		t.Fatalf("the batch as it was is refused: %v", err)
	}
}

func TestARejectionNeverQuotesTheBatch(t *testing.T) {
	data := batches(t, "invalid")["text-host"]
	err := new(llb.Reader).Read(data)
	if err == nil || strings.Contains(err.Error(), "caf") {
		t.Fatalf("got %v", err)
	}
}

func TestATypeIsTheSamePointerInAllBatchesOfAReaderWhateverTheirByteOrder(t *testing.T) {
	valid := batches(t, "valid")
	var reader llb.Reader
	var seen []*llb.EventType
	for _, name := range []string{"every-type-little", "every-type-big", "every-type-little"} {
		if err := reader.Read(valid[name]); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, reader.Types()[0].EventType)
	}
	if seen[0] != seen[1] || seen[1] != seen[2] {
		t.Fatal("equal types have different pointers")
	}
}

func TestReadingDoesNotAllocatePerEvent(t *testing.T) {
	var reader llb.Reader
	for _, name := range []string{"table1-64k", "lz4-shuffle", "zstd", "every-type-big"} {
		batch := batches(t, "valid")[name]
		perBatch := testing.AllocsPerRun(20, func() {
			if err := reader.Read(batch); err != nil {
				t.Fatal(err)
			}
			for reader.Next() {
				consumeEveryField(&reader)
			}
		})
		if perBatch > 0 {
			t.Errorf("%s: %v allocations per batch that repeats", name, perBatch)
		}
	}
}

// consumed keeps what consumeEveryField reads alive.
var consumed uint64

func consumeEveryField(r *llb.Reader) {
	sum := uint64(r.TimeNs()) + r.Thread() + r.Tick() + uint64(r.Index()) + uint64(r.Number())
	for i := range r.Type().Fields {
		switch r.Type().Fields[i].Type {
		case llb.I32:
			sum += uint64(r.Int32(i))
		case llb.I64:
			sum += uint64(r.Int64(i))
		case llb.F32:
			sum += uint64(r.Float32(i))
		case llb.F64:
			sum += uint64(r.Float64(i))
		case llb.String:
			sum += uint64(len(r.RawString(i)))
		case llb.U32:
			sum += uint64(r.Uint32(i))
		case llb.U64:
			sum += r.Uint64(i)
		case llb.Bool:
			if r.Bool(i) {
				sum++
			}
		case llb.Bytes:
			sum += uint64(len(r.Bytes(i)))
		}
	}
	consumed += sum
}

func TestAGetterOfTheWrongTypePanicsWithTheFieldsName(t *testing.T) {
	var reader llb.Reader
	if err := reader.Read(batches(t, "valid")["table1"]); err != nil || !reader.Next() {
		t.Fatal(err)
	}
	defer func() {
		if told := recover(); told != "llb: field i of MY_EVENT is of type i32, not u64" {
			t.Fatalf("got %v", told)
		}
	}()
	reader.Uint64(0)
}

func TestTable1EventsCostAtMost16AndAHalfBytesEachIn64KiB(t *testing.T) {
	var reader llb.Reader
	batch := batches(t, "valid")["table1-64k"]
	if err := reader.Read(batch); err != nil {
		t.Fatal(err)
	}
	if each := float64(len(batch)) / float64(reader.Header().EventCount); len(batch) > 65536 || each > 16.5 {
		t.Fatalf("%.2f bytes for each of %d events", each, reader.Header().EventCount)
	}
}
