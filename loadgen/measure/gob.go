package measure

import (
	"bytes"
	"encoding/gob"
	"fmt"
)

// snapshot is a Recorder on its way through a pipe: a few hundred bytes to some ten kilobytes instead of 180 KB.
type snapshot struct {
	Positive, Negative string
	Sum, Squares       wide
	Min, Max, Clamped  int64
}

// GobEncode writes the whole Recorder, exact sums included. Give gob a pointer to the structure that holds Recorders.
func (r *Recorder) GobEncode() ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(snapshot{encode(r.positive), encode(r.negative), r.sum, r.squares, r.min, r.max, r.clamped})
	if err != nil {
		return nil, fmt.Errorf("writing a recorder: %w", err)
	}
	return out.Bytes(), nil
}

// GobDecode reads what GobEncode wrote; r's earlier content is lost.
func (r *Recorder) GobDecode(data []byte) error {
	var s snapshot
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return fmt.Errorf("reading a recorder: %w", err)
	}
	positive, err := decode(s.Positive)
	if err != nil {
		return err
	}
	negative, err := decode(s.Negative)
	if err != nil {
		return err
	}
	*r = Recorder{positive: positive, negative: negative, sum: s.Sum, squares: s.Squares, min: s.Min, max: s.Max, clamped: s.Clamped}
	return nil
}
