package message

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"

	llb "lifeline/schemas/go"
)

// generatorReading is the study's message as an event type: what stream jobs, ksqlDB and SQL see of a fleet.
var generatorReading = &llb.EventType{
	Name:  "generator.reading",
	Level: llb.Info,
	Fields: []llb.Field{
		{Type: llb.I32, Name: "generator"},
		{Type: llb.I32, Name: "sequence"},
		{Type: llb.I64, Name: "intended", Unit: "ns"},
		{Type: llb.I64, Name: "run"},
		{Type: llb.F32, Name: "power", Unit: "kW"},
		{Type: llb.F32, Name: "voltage", Unit: "V"},
		{Type: llb.F32, Name: "current", Unit: "A"},
		{Type: llb.F32, Name: "frequency", Unit: "Hz"},
		{Type: llb.F32, Name: "temperature", Unit: "Cel"},
		{Type: llb.F64, Name: "energy", Unit: "kWh"},
		{Type: llb.F64, Name: "longitude", Unit: "deg"},
		{Type: llb.F64, Name: "latitude", Unit: "deg"},
		{Type: llb.String, Name: "site"},
		{Type: llb.String, Name: "model"},
		{Type: llb.String, Name: "owner"},
		{Type: llb.String, Name: "state"},
	},
}

const (
	readingNumber = 1
	nanosPerTick  = 1_000_000_000
)

type batch struct {
	events int
	header llb.Header
	random *rand.Rand
}

// NewBatch makes Lifeline batches of so many events. Each generator is an emitter: its incarnation comes from run and generator,
// its batches are numbered by the messages' sequence, and Emitted counts all its events so far, so that a ledger over a fleet
// closes.
func NewBatch(events int, seed uint64) Builder {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return &batch{
		events: events,
		header: llb.Header{
			TickHz: nanosPerTick, Clock: llb.Monotonic, PID: uint32(os.Getpid()), RouteName: "default", Host: host,
			Program: "fleet", Counters: make([]uint64, llb.KnownCounters), Calibrations: make([]llb.Calibration, 1),
		},
		random: rand.New(rand.NewPCG(seed, 1)),
	}
}

func (b *batch) Build(identity Identity) ([]byte, error) {
	at, realtime, err := readClocks()
	if err != nil {
		return nil, err
	}
	b.header.BaseTick = uint64(at)
	b.header.Sequence = uint64(identity.Sequence) + 1 // batches are counted from 1, a generator's messages from 0
	b.header.Counters[llb.Emitted] = b.header.Sequence * uint64(b.events)
	b.header.Calibrations[0] = llb.Calibration{
		Tick: uint64(at), MonotonicNs: uint64(at), RealtimeOffsetNs: realtime - at, ErrorNs: 1000,
	}
	b.header.Incarnation = incarnation(identity)
	writer := llb.NewWriter(b.header)
	writer.AddType(readingNumber, generatorReading)
	writer.BeginSegment(uint64(b.header.PID))
	for range b.events {
		b.write(writer, identity, at)
	}
	message, err := writer.Bytes()
	if err != nil {
		return nil, fmt.Errorf("a batch of %d events: %w", b.events, err)
	}
	return message, nil
}

func (b *batch) write(writer *llb.Writer, identity Identity, at int64) {
	r := newReading(b.random)
	writer.BeginEvent(readingNumber, uint64(at))
	writer.Int32(int32(identity.Generator))
	writer.Int32(int32(identity.Sequence))
	writer.Int64(identity.Intended)
	writer.Int64(int64(identity.Run))
	for _, value := range r.floats {
		writer.Float32(value)
	}
	for _, value := range r.doubles {
		writer.Float64(value)
	}
	for _, text := range r.strings {
		writer.String(text)
	}
}

// incarnation is a different one for each run and generator; its first bytes say whose it is.
func incarnation(identity Identity) [16]byte {
	var id [16]byte
	copy(id[:], "fleet")
	binary.BigEndian.PutUint32(id[8:], identity.Run)
	binary.BigEndian.PutUint32(id[12:], identity.Generator)
	return id
}

// readClocks returns CLOCK_MONOTONIC_RAW, a batch's clock, and CLOCK_REALTIME beside it.
func readClocks() (monotonic, realtime int64, err error) {
	var raw, wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &raw); err != nil {
		return 0, 0, fmt.Errorf("CLOCK_MONOTONIC_RAW cannot be read: %w", err)
	}
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &wall); err != nil {
		return 0, 0, fmt.Errorf("CLOCK_REALTIME cannot be read: %w", err)
	}
	return raw.Nano(), wall.Nano(), nil
}

// BatchParser reads batches of one fleet.
type BatchParser struct{ reader llb.Reader }

// Parse checks the batch as every reader does and takes the identity from its first event.
func (p *BatchParser) Parse(message []byte) (Identity, error) {
	if err := p.reader.Read(message); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if !p.reader.Next() || p.reader.Type().Name != generatorReading.Name ||
		len(p.reader.Type().Fields) != len(generatorReading.Fields) {
		return Identity{}, ErrForeign
	}
	for i, field := range p.reader.Type().Fields {
		if field.Type != generatorReading.Fields[i].Type {
			return Identity{}, ErrForeign
		}
	}
	return Identity{
		Generator: uint32(p.reader.Int32(0)),
		Sequence:  uint32(p.reader.Int32(1)),
		Intended:  p.reader.Int64(2),
		Run:       uint32(p.reader.Int64(3)),
	}, nil
}
