package llb

import "unicode/utf8"

// AppendText appends an event's string as text: each byte that is not part of a well-formed UTF-8 sequence becomes
// U+FFFD, because programs may emit any bytes.
func AppendText(to, raw []byte) []byte {
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw) // of size 1 for a byte outside a sequence
		to = utf8.AppendRune(to, r)
		raw = raw[size:]
	}
	return to
}

// Text returns the same text as a new string.
func Text(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return string(AppendText(nil, raw))
}
