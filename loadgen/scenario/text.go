package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Seconds makes a Duration of whole seconds.
func Seconds(n int) Duration { return Duration{time.Duration(n) * time.Second} }

// String is the form that YAML files use: 10s, 1m30s, 5m; without the zeros that time.Duration writes.
func (d Duration) String() string {
	text := d.Duration.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText is String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what String writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as 10s, 500ms or 1m30s", text)
	}
	d.Duration = parsed
	return nil
}

// MarshalJSON writes a range as YAML does, as a list of two.
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal([]Duration{r.From, r.To}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Range) UnmarshalJSON(text []byte) error {
	var both []Duration
	if err := json.Unmarshal(text, &both); err != nil {
		return err
	}
	return r.set(both)
}

// MarshalYAML writes a list of two.
func (r Range) MarshalYAML() (any, error) {
	var node yaml.Node
	err := node.Encode([]Duration{r.From, r.To})
	node.Style = yaml.FlowStyle
	return &node, err
}

// UnmarshalYAML reads a list of two.
func (r *Range) UnmarshalYAML(node *yaml.Node) error {
	var both []Duration
	if err := node.Decode(&both); err != nil {
		return err
	}
	return r.set(both)
}

func (r *Range) set(both []Duration) error {
	if len(both) != 2 {
		return fmt.Errorf("a range has two ends, not %d", len(both))
	}
	r.From, r.To = both[0], both[1]
	return nil
}

// String is "dedicated" or "pooled:M".
func (c Connections) String() string {
	if c.Pool == 0 {
		return "dedicated"
	}
	return "pooled:" + strconv.Itoa(c.Pool)
}

// MarshalText is String.
func (c Connections) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what String writes.
func (c *Connections) UnmarshalText(text []byte) error {
	if string(text) == "dedicated" {
		c.Pool = 0
		return nil
	}
	size, pooled := strings.CutPrefix(string(text), "pooled:")
	pool, err := strconv.Atoi(size)
	if !pooled || err != nil || pool < 1 {
		return fmt.Errorf("%q is neither dedicated nor pooled:M", text)
	}
	c.Pool = pool
	return nil
}
