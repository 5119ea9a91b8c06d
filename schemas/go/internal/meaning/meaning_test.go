package meaning_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	llb "lifeline/schemas/go"
	"lifeline/schemas/go/internal/meaning"
)

const vectors = "../../../vectors"

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{vectors}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func index(t *testing.T) map[string]struct{ Encode string } {
	t.Helper()
	entries := make(map[string]struct{ Encode string })
	if err := json.Unmarshal(read(t, "index.json"), &entries); err != nil || len(entries) == 0 {
		t.Fatalf("%d vectors: %v", len(entries), err)
	}
	return entries
}

func fromJSON(t *testing.T, text []byte) *meaning.Batch {
	t.Helper()
	batch, err := meaning.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func TestEncodingTheMeaningOfAVectorGivesItsBytes(t *testing.T) {
	for name, entry := range index(t) {
		if entry.Encode != "identical" {
			continue
		}
		got, err := meaning.Encode(fromJSON(t, read(t, "valid", name+".json")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(got, read(t, "valid", name+".llb")) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

func TestDecodingAndEncodingAgainGivesTheSameBytes(t *testing.T) {
	var reader llb.Reader
	for name, entry := range index(t) {
		golden := read(t, "valid", name+".llb")
		if err := reader.Read(golden); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(meaning.Decode(&reader))
		if err != nil {
			t.Fatal(err)
		}
		got, err := meaning.Encode(fromJSON(t, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if entry.Encode == "identical" && !bytes.Equal(got, golden) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

func TestAMeaningThatIsNoneIsRefused(t *testing.T) {
	text := string(read(t, "valid", "every-type-little.json"))
	for before, after := range map[string]string{
		`"byte_order": "little"`: `"byte_order": "middle"`,
		`"level": "info"`:        `"level": "loud"`,
		`"events": 2`:            `"events": 3`,
		`"00ff10"`:               `"0"`,
		`"fields": [-2, `:        `"fields": [`,
		`[-2, `:                  `["-2", `,
		`0.5, -0.25`:             `"nan:3f800000", -0.25`,
		`4000000000`:             `4300000000`,
		`"00112233`:              `"0011223`,
	} {
		changed := bytes.Replace([]byte(text), []byte(before), []byte(after), 1)
		if bytes.Equal(changed, []byte(text)) {
			t.Fatalf("%s is not in the vector", before)
		}
		if _, err := meaning.Encode(fromJSON(t, changed)); err == nil {
			t.Errorf("%s was taken for %s", after, before)
		}
	}
}
