// Package format writes figures the way people read them, the same in tables, pictures and the live view.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Count groups thousands: 1,234,567.
func Count[N ~int | ~int64 | ~uint64](n N) string {
	digits := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Some counts things by their name: 1 message, 1,234 messages.
func Some[N ~int | ~int64 | ~uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Number keeps three significant digits, or all digits before the point: 0.123, 12.3, 1,234.
func Number(value float64) string {
	if math.Abs(value) >= 999.5 {
		return Count(int64(math.Round(value)))
	}
	// Rounded before its magnitude is looked at: 0.9997 becomes 1.00, not 1.000.
	value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
	magnitude := math.Abs(value)
	switch {
	case magnitude == 0:
		return "0"
	case magnitude < 0.001:
		return strconv.FormatFloat(value, 'g', 2, 64)
	default:
		decimals := 2 - int(math.Floor(math.Log10(magnitude)))
		return strconv.FormatFloat(value, 'f', min(decimals, 3), 64)
	}
}

// Millis are nanoseconds as a number of milliseconds, without the unit, for a column of one unit.
func Millis(ns float64) string { return Number(ns / 1e6) }

// Duration picks the unit: 131 µs, 4.2 ms, 35 s.
func Duration(ns float64) string {
	switch magnitude := math.Abs(ns); {
	case magnitude == 0:
		return "0"
	case magnitude < 999.5:
		return Number(ns) + " ns"
	case magnitude < 999.5e3:
		return Number(ns/1e3) + " µs"
	case magnitude < 999.5e6:
		return Number(ns/1e6) + " ms"
	default:
		return Number(ns/1e9) + " s"
	}
}

// Bytes picks the unit, in powers of 1,000 as disks and networks are sold: 45.2 kB.
func Bytes(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	for math.Abs(bytes) >= 999.5 && len(units) > 1 {
		bytes, units = bytes/1000, units[1:]
	}
	return Number(bytes) + " " + units[0]
}

// Percent of a share between 0 and 1. A share that is not whole is never rounded to 0 % or 100 %.
func Percent(share float64) string {
	decimals := 1
	for ; decimals < 6 && share != 0 && share != 1; decimals++ {
		if rounded := strconv.FormatFloat(100*share, 'f', decimals, 64); strings.Trim(rounded, "0.") != "" && !strings.HasPrefix(rounded, "100") {
			break
		}
	}
	text := strconv.FormatFloat(100*share, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " %"
}

// Clock writes a span as m:ss or h:mm:ss.
func Clock(span time.Duration) string {
	seconds := int(span.Round(time.Second) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// Trim takes the zeros behind the point from what the functions above return, for axes and round figures: 1 ms, 0.5 GB.
func Trim(text string) string {
	number, unit, separated := strings.Cut(text, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if !separated {
		return number
	}
	return number + " " + unit
}

// Tick is Duration, trimmed.
func Tick(ns float64) string { return Trim(Duration(ns)) }

// Span writes a time that people set: 10 s, 2 min, 1 min 30 s, 500 ms.
func Span(span time.Duration) string {
	if span < time.Minute {
		return Tick(float64(span))
	}
	var parts []string
	if hours := span / time.Hour; hours > 0 {
		parts = append(parts, fmt.Sprintf("%d h", hours))
	}
	if minutes := span % time.Hour / time.Minute; minutes > 0 {
		parts = append(parts, fmt.Sprintf("%d min", minutes))
	}
	if rest := span % time.Minute; rest > 0 {
		parts = append(parts, Tick(float64(rest)))
	}
	return strings.Join(parts, " ")
}

// OneLine is a text of somebody else for a line of a report or a terminal: with U+FFFD for what controls a terminal, ends a line or
// changes the direction of writing, and for what is no character: XML takes neither.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r&0xfffe == 0xfffe {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
