package message

import (
	"errors"
	"testing"
)

var someone = Identity{Run: 0xCAFEF00D, Generator: 19_799, Sequence: 7, Intended: 123_456_789_012}

func kinds() map[string]struct {
	Builder
	Parser
} {
	type kind = struct {
		Builder
		Parser
	}
	return map[string]kind{
		"raw":                     {NewRaw(1, 1), RawParser{}},
		"raw, three times":        {NewRaw(3, 1), RawParser{}},
		"a batch of one event":    {NewBatch(1, 1), &BatchParser{}},
		"a batch of 1,000 events": {NewBatch(1000, 1), &BatchParser{}},
	}
}

func TestEveryKindSaysWhoseItIs(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			first := someone
			first.Sequence = 0
			for _, identity := range []Identity{first, someone} {
				message, err := kind.Build(identity)
				if err != nil {
					t.Fatal(err)
				}
				got, err := kind.Parse(message)
				if err != nil || got != identity {
					t.Errorf("built from %+v, parsed as %+v, %v", identity, got, err)
				}
			}
		})
	}
}

func TestEveryKindKnowsTruncatedAndEmptyBytesAsForeign(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			message, err := kind.Build(someone)
			if err != nil {
				t.Fatal(err)
			}
			for _, length := range []int{0, 1, 16, len(message) - 1} {
				if _, err := kind.Parse(message[:length:length]); !errors.Is(err, ErrForeign) {
					t.Errorf("of %d bytes %d: %v", len(message), length, err)
				}
			}
		})
	}
}

func TestTheStudysMessageHasAboutItsSize(t *testing.T) {
	for multiple, want := range map[int]int{1: 132, 3: 348} {
		message, err := NewRaw(multiple, 1).Build(someone)
		if err != nil || len(message) != want || RawLength(multiple) != want {
			t.Errorf("%d times: %d bytes, %v; want %d", multiple, len(message), err, want)
		}
	}
}

func TestBatchesCountWhatTheirGeneratorEmitted(t *testing.T) {
	built, err := NewBatch(10, 1).Build(someone)
	if err != nil {
		t.Fatal(err)
	}
	parser := &BatchParser{}
	if _, err := parser.Parse(built); err != nil {
		t.Fatal(err)
	}
	if header := parser.reader.Header(); header.Counters[0] != 80 || header.Sequence != 8 || header.EventCount != 10 {
		t.Errorf("emitted %d, sequence %d, events %d; want 80, 8, 10", header.Counters[0], header.Sequence, header.EventCount)
	}
}

func TestSelectorsSelectByTheGeneratorsNumber(t *testing.T) {
	for text, want := range map[string][3]bool{ // of generators 9, 10, 11
		"": {true, true, true}, "id < 10": {true, false, false}, "id<=10": {true, true, false}, "id > 10": {false, false, true},
		" id >= 10 ": {false, true, true}, "id == 10": {false, true, false}, "id != 10": {true, false, true},
	} {
		selector, err := ParseSelector(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for i, generator := range []uint32{9, 10, 11} {
			if got := selector.Selects(generator); got != want[i] {
				t.Errorf("%q selects %d: %v", text, generator, got)
			}
		}
	}
}

func TestASelectorThatCannotBeReadIsRefused(t *testing.T) {
	for _, text := range []string{"id", "id <", "id < ten", "name < 10", "id =< 10", "id < -1", "id < 99999999999", "<>"} {
		if selector, err := ParseSelector(text); err == nil {
			t.Errorf("%q was read as %+v", text, selector)
		}
	}
}
