package llb

import "unicode/utf8"

// cursor reads a section sequentially. Past its end it reads nothing and stays broken.
type cursor struct {
	data   []byte
	order  byteOrder
	at     int
	end    int
	broken bool
}

func (c *cursor) take(length int) []byte {
	if c.broken || length > c.end-c.at {
		c.broken = true
		return nil
	}
	taken := c.data[c.at : c.at+length : c.at+length]
	c.at += length
	return taken
}

func (c *cursor) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) str16() []byte {
	if b := c.take(2); b != nil {
		return c.take(int(c.order.u16(b)))
	}
	return nil
}

// Beyond this limit interned types are dropped, so that types cannot fill the reader's memory.
const maxInternedBytes = 8 << 20

// interner maps equal types of different batches to one pointer.
type interner struct {
	types    map[string]*EventType
	bytes    int    // of all identities in types
	identity []byte // of the type being read
}

// read checks the descriptor in c, and returns its type unless it has a fault.
func (n *interner) read(c *cursor, found *findings) *EventType {
	start := c.at
	head := c.take(entOffName)
	if c.broken {
		found.add(BadLength, start, "a descriptor is shorter than its fixed part")
		return nil
	}
	if c.order.u16(head[entOffReserved16:]) != 0 {
		found.add(BadFlag, start+entOffReserved16, "a reserved field of a descriptor is not zero")
	}
	if head[entOffReserved8] != 0 {
		found.add(BadFlag, start+entOffReserved8, "a reserved field of a descriptor is not zero")
	}
	if level := head[entOffIdentity]; level < byte(Fatal) || level > byte(Debug3) {
		found.add(BadDescriptor, start+entOffIdentity, "unknown level %d", level)
	}
	n.identity = append(n.identity[:0], head[entOffIdentity:]...)
	n.name(c, found, "a type's name")
	fields, constants := int(head[entOffIdentity+1]), int(head[entOffIdentity+2])
	for i := 0; i < fields+constants && !c.broken; i++ {
		n.part(c, found, i >= fields)
	}
	if c.broken {
		return nil
	}
	if padded(c.at-start) != c.end-start {
		found.add(BadLength, start, "a descriptor of %d bytes says that it has %d", padded(c.at-start), c.end-start)
		return nil
	}
	hash := c.order.u64(head[entOffHash:])
	if hash != fnv1a64(n.identity) {
		found.add(BadDescriptor, start+entOffHash, "the hash is not the type's")
		return nil
	}
	if found.first != nil {
		return nil
	}
	if known := n.types[string(n.identity)]; known != nil {
		return known
	}
	return n.intern(hash, start, found)
}

// name reads a name into the identity.
func (n *interner) name(c *cursor, found *findings, what string) {
	at := c.at
	text := c.str16()
	if c.broken {
		found.add(BadLength, at, "%s runs over its descriptor's end", what)
		return
	}
	if len(text) == 0 || len(text) > MaxNameLength || !utf8.Valid(text) {
		found.add(BadText, at, "%s must be 1 to %d bytes of UTF-8", what, MaxNameLength)
	}
	n.identity = appendStr16(n.identity, byteOrder{}, text)
}

// part reads a field or constant into the identity.
func (n *interner) part(c *cursor, found *findings, constant bool) {
	at := c.at
	code := c.u8()
	if c.broken {
		found.add(BadLength, at, "fields run over their descriptor's end")
		return
	}
	n.identity = append(n.identity, code)
	n.name(c, found, "a field's name")
	if c.broken {
		return
	}
	unitAt := c.at
	unit := c.str16()
	if c.broken {
		found.add(BadLength, unitAt, "a unit runs over its descriptor's end")
		return
	}
	if len(unit) > MaxNameLength || !utf8.Valid(unit) {
		found.add(BadText, unitAt, "a unit must be at most %d bytes of UTF-8", MaxNameLength)
	}
	n.identity = appendStr16(n.identity, byteOrder{}, unit)
	if code < byte(I32) || code > byte(Bytes) {
		found.add(BadDescriptor, at, "unknown field type %d", code)
		if constant { // of unknown length
			c.broken = true
		}
		return
	}
	if constant {
		n.value(c, found, FieldType(code))
	}
}

// value reads a constant's value into the identity.
func (n *interner) value(c *cursor, found *findings, kind FieldType) {
	at := c.at
	var raw []byte
	if size := fixedSizes[kind]; size > 0 {
		raw = c.take(size)
	} else {
		raw = c.str16()
	}
	if c.broken {
		found.add(BadLength, at, "a constant runs over its descriptor's end")
		return
	}
	switch kind {
	case String, Bytes:
		if kind == String && !utf8.Valid(raw) {
			found.add(BadText, at, "a string constant is not UTF-8")
		}
		n.identity = appendStr16(n.identity, byteOrder{}, raw)
	case Bool:
		if raw[0] > 1 {
			found.add(BadDescriptor, at, "a bool constant is neither 0 nor 1")
		}
		n.identity = append(n.identity, raw[0])
	case I32, U32, F32:
		n.identity = byteOrder{}.appendU32(n.identity, c.order.u32(raw))
	default:
		n.identity = byteOrder{}.appendU64(n.identity, c.order.u64(raw))
	}
}

// intern builds the type of the identity just read, whose only possible fault is a repeated name.
func (n *interner) intern(hash uint64, start int, found *findings) *EventType {
	identity := string(n.identity)
	c := cursor{data: []byte(identity), end: len(identity)}
	head := c.take(entOffName - entOffIdentity)
	fields, constants := int(head[1]), int(head[2])
	t := &EventType{Hash: hash, Level: Level(head[0]), Name: string(c.str16())}
	t.Fields = make([]Field, fields)
	t.Constants = make([]Constant, constants)
	seen := make(map[string]bool, fields+constants)
	for i := 0; i < fields+constants; i++ {
		field := Field{FieldType(c.u8()), string(c.str16()), string(c.str16())}
		if seen[field.Name] {
			found.add(BadDescriptor, start, "two fields or constants of a type have one name")
			return nil
		}
		seen[field.Name] = true
		if i < fields {
			t.Fields[i] = field
			continue
		}
		constant := &t.Constants[i-fields]
		constant.Field = field
		if size := fixedSizes[field.Type]; size > 0 {
			constant.Raw = c.take(size)
		} else {
			constant.Raw = c.str16()
		}
	}
	t.prepare()
	if n.bytes += len(identity); n.types == nil || n.bytes > maxInternedBytes {
		n.types = make(map[string]*EventType)
		n.bytes = len(identity)
	}
	n.types[identity] = t
	return t
}
