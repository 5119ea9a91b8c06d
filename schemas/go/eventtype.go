package llb

import (
	"encoding/binary"
	"math"
)

// Field is one field of an event type.
type Field struct {
	Type       FieldType
	Name, Unit string
}

// Constant is a field whose value is the same in every event of a type.
type Constant struct {
	Field
	Raw []byte // the value as in a little-endian record, without the length of strings and bytes
}

// Uint64 returns the value of a u32, u64 or bool, and the bits of any other number (an i32 is sign-extended).
func (c *Constant) Uint64() uint64 {
	switch len(c.Raw) {
	case 1:
		return uint64(c.Raw[0])
	case 4:
		if c.Type == I32 {
			return uint64(int32(binary.LittleEndian.Uint32(c.Raw)))
		}
		return uint64(binary.LittleEndian.Uint32(c.Raw))
	default:
		return binary.LittleEndian.Uint64(c.Raw)
	}
}

// Int64 returns the value of an i32 or i64.
func (c *Constant) Int64() int64 { return int64(c.Uint64()) }

// Float32 returns the value of an f32.
func (c *Constant) Float32() float32 { return math.Float32frombits(uint32(c.Uint64())) }

// Float64 returns the value of an f64.
func (c *Constant) Float64() float64 { return math.Float64frombits(c.Uint64()) }

// EventType holds what all events of a type have in common. It never changes. A Reader returns the same pointer for the
// same type in all its batches.
type EventType struct {
	Hash      uint64
	Level     Level
	Name      string
	Fields    []Field
	Constants []Constant

	places   []place // of the fields in a record, as far as they do not depend on its strings
	size     int     // of every record, padding included; 0 if it depends on strings or bytes
	hasBools bool
}

// place locates a field in its record.
type place struct {
	kind   FieldType
	offset uint16
}

// Descriptor is an event type with its number in one batch.
type Descriptor struct {
	Number uint16
	*EventType
}

// Identity returns the bytes that the hash covers, in little-endian order. FORMAT.md, section 4.
func (t *EventType) Identity() []byte {
	identity := []byte{byte(t.Level), byte(len(t.Fields)), byte(len(t.Constants)), 0}
	identity = appendStr16(identity, byteOrder{}, t.Name)
	for i := range t.Fields {
		identity = t.Fields[i].appendTo(identity, byteOrder{})
	}
	for i := range t.Constants {
		identity = t.Constants[i].appendTo(identity, byteOrder{})
	}
	return identity
}

func (f *Field) appendTo(to []byte, order byteOrder) []byte {
	to = append(to, byte(f.Type))
	to = appendStr16(to, order, f.Name)
	return appendStr16(to, order, f.Unit)
}

func (c *Constant) appendTo(to []byte, order byteOrder) []byte {
	to = c.Field.appendTo(to, order)
	switch fixedSizes[c.Type] {
	case 1:
		return append(to, c.Raw[0])
	case 4:
		return order.appendU32(to, binary.LittleEndian.Uint32(c.Raw))
	case 8:
		return order.appendU64(to, binary.LittleEndian.Uint64(c.Raw))
	default:
		return appendStr16(to, order, c.Raw)
	}
}

// fits returns whether every length can be written, and every constant has the size of its type.
func (t *EventType) fits() bool {
	ok := len(t.Name) <= math.MaxUint16
	part := func(f *Field) {
		ok = ok && int(f.Type) < len(fixedSizes) && len(f.Name) <= math.MaxUint16 && len(f.Unit) <= math.MaxUint16
	}
	for i := range t.Fields {
		part(&t.Fields[i])
	}
	for i := range t.Constants {
		c := &t.Constants[i]
		part(&c.Field)
		if !ok {
			return false
		}
		size := fixedSizes[c.Type]
		ok = len(c.Raw) == size || size == 0 && len(c.Raw) <= math.MaxUint16
	}
	return ok
}

// prepare computes values that speed up reading records.
func (t *EventType) prepare() {
	t.places = make([]place, len(t.Fields))
	at := 8
	fixed := true
	for i, field := range t.Fields {
		t.places[i] = place{field.Type, uint16(at)}
		at += fixedSizes[field.Type]
		fixed = fixed && fixedSizes[field.Type] > 0
		t.hasBools = t.hasBools || field.Type == Bool
	}
	if fixed {
		t.size = padded(at)
	}
}

// fixedSize returns the size of a record that is valid without a check of its fields, or 0.
func (t *EventType) fixedSize() int {
	if t.hasBools {
		return 0
	}
	return t.size
}

func fnv1a64(data []byte) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, b := range data {
		hash = (hash ^ uint64(b)) * 0x100000001b3
	}
	return hash
}
