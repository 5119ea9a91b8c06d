package format

import (
	"testing"
	"time"
)

func TestFiguresReadAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(uint64(1234567)), "1,234,567"}, {Count(-1000), "-1,000"},
		{Some(1, "message"), "1 message"}, {Some(0, "message"), "0 messages"}, {Some(uint64(1234), "message"), "1,234 messages"},
		{Number(0), "0"}, {Number(0.1234), "0.123"}, {Number(12.345), "12.3"}, {Number(123.45), "123"}, {Number(-4321.9), "-4,322"},
		{Number(0.00012), "0.00012"}, {Number(999.6), "1,000"},
		{Millis(483_000), "0.483"}, {Millis(-20_000), "-0.020"},
		{Duration(131_071), "131 µs"}, {Duration(4_200_000), "4.20 ms"}, {Duration(35e9), "35.0 s"}, {Duration(-1500), "-1.50 µs"}, {Duration(64), "64.0 ns"},
		{Bytes(45_234), "45.2 kB"}, {Bytes(999.7), "1.00 kB"}, {Bytes(2.5e10), "25.0 GB"},
		{Percent(0), "0 %"}, {Percent(1), "100 %"}, {Percent(0.995), "99.5 %"}, {Percent(0.99999), "99.999 %"}, {Percent(0.0006), "0.1 %"}, {Percent(0.00001), "0.001 %"},
		{Tick(1e6), "1 ms"}, {Tick(0), "0"}, {Trim(Bytes(5e8)), "500 MB"}, {Trim(Number(0.05)), "0.05"}, {Tick(1e11), "100 s"},
		{Span(10 * time.Second), "10 s"}, {Span(90 * time.Second), "1 min 30 s"}, {Span(2 * time.Hour), "2 h"}, {Span(500 * time.Millisecond), "500 ms"},
		{Clock(84 * time.Second), "1:24"}, {Clock(3723 * time.Second), "1:02:03"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
