package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// RowColumns are the columns of a row in ksqlDB's words: the fields of an event. RUN is a word of ksqlDB's own.
const RowColumns = "generator INT, sequence INT, intended BIGINT, fleet_run BIGINT, " +
	"power DOUBLE, voltage DOUBLE, current DOUBLE, frequency DOUBLE, temperature DOUBLE, " +
	"energy DOUBLE, longitude DOUBLE, latitude DOUBLE, " +
	"site VARCHAR, model VARCHAR, owner VARCHAR, state VARCHAR"

// row is the study's message as ksqlDB reads it.
type row struct {
	Generator   uint32  `json:"generator"`
	Sequence    uint32  `json:"sequence"`
	Intended    int64   `json:"intended"`
	Run         uint32  `json:"fleet_run"`
	Power       float32 `json:"power"`
	Voltage     float32 `json:"voltage"`
	Current     float32 `json:"current"`
	Frequency   float32 `json:"frequency"`
	Temperature float32 `json:"temperature"`
	Energy      float64 `json:"energy"`
	Longitude   float64 `json:"longitude"`
	Latitude    float64 `json:"latitude"`
	Site        string  `json:"site"`
	Model       string  `json:"model"`
	Owner       string  `json:"owner"`
	State       string  `json:"state"`
}

type rows struct{ random *rand.Rand }

// NewRow makes rows in JSON, one in each message.
func NewRow(seed uint64) Builder {
	return &rows{rand.New(rand.NewPCG(seed, 2))}
}

func (b *rows) Build(identity Identity) ([]byte, error) {
	r := newReading(b.random)
	message, err := json.Marshal(row{
		identity.Generator, identity.Sequence, identity.Intended, identity.Run,
		r.floats[0], r.floats[1], r.floats[2], r.floats[3], r.floats[4],
		r.doubles[0], r.doubles[1], r.doubles[2],
		r.strings[0], r.strings[1], r.strings[2], r.strings[3],
	})
	if err != nil {
		return nil, fmt.Errorf("a row: %w", err)
	}
	return message, nil
}

// RowParser reads rows, and what ksqlDB makes of them: the same with names in capital letters, or, as the answer to a query, an
// array of the key and the columns.
type RowParser struct{}

// Parse takes the identity; of the other columns it only asks that the text is JSON.
func (RowParser) Parse(message []byte) (Identity, error) {
	var found struct {
		Generator *uint32 `json:"generator"`
		Sequence  *uint32 `json:"sequence"`
		Intended  *int64  `json:"intended"`
		Run       *uint32 `json:"fleet_run"`
	}
	var err error
	if bytes.HasPrefix(message, []byte("[")) {
		key := json.RawMessage{}
		err = json.Unmarshal(message, &[...]any{&key, &found.Generator, &found.Sequence, &found.Intended, &found.Run})
	} else {
		err = json.Unmarshal(message, &found)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if found.Generator == nil || found.Sequence == nil || found.Intended == nil || found.Run == nil {
		return Identity{}, ErrForeign
	}
	return Identity{Run: *found.Run, Generator: *found.Generator, Sequence: *found.Sequence, Intended: *found.Intended}, nil
}
