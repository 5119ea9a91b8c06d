package message

import (
	"fmt"
	"strconv"
	"strings"
)

// Selector is a condition on a generator's number, such as the study's "id < 10000". Neither NATS nor Kafka looks into a
// message, so the subscriber evaluates it, after the message has travelled.
type Selector struct {
	operator string
	bound    uint64
}

// ParseSelector reads "id OPERATOR NUMBER" with one of < <= > >= == !=; the empty text selects everything.
func ParseSelector(text string) (Selector, error) {
	if strings.TrimSpace(text) == "" {
		return Selector{operator: ">="}, nil
	}
	rest, isID := strings.CutPrefix(strings.TrimSpace(text), "id")
	rest = strings.TrimSpace(rest)
	number := strings.TrimLeft(rest, "<>=!")
	operator := strings.TrimSpace(rest[:len(rest)-len(number)])
	bound, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	selector := Selector{operator, bound}
	if !isID || err != nil || !selector.known() {
		return Selector{}, fmt.Errorf(`selector %q: write "id" (a generator's number), one of < <= > >= == != and a number, such as "id < 10000"`, text)
	}
	return selector, nil
}

func (s Selector) known() bool {
	switch s.operator {
	case "<", "<=", ">", ">=", "==", "!=":
		return true
	}
	return false
}

// Selects reports whether the messages of a generator are wanted.
func (s Selector) Selects(generator uint32) bool {
	id := uint64(generator)
	switch s.operator {
	case "<":
		return id < s.bound
	case "<=":
		return id <= s.bound
	case ">":
		return id > s.bound
	case "==":
		return id == s.bound
	case "!=":
		return id != s.bound
	}
	return id >= s.bound
}
