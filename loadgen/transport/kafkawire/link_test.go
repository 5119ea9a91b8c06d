package kafkawire

import (
	"bufio"
	"bytes"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzAnswer compares the decoding of arbitrary bytes with another decoder.
func FuzzAnswer(f *testing.F) {
	f.Add(framed(7, answerTo(0, topicOfTests)))
	f.Add(framed(7, answerTo(kerr.NotLeaderForPartition.Code, topicOfTests, topicOfTests)))
	f.Add(framed(7, greeting(3, 13)))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &link{reader: bufio.NewReaderSize(iotest.HalfReader(bytes.NewReader(data)), readAhead)}
		_, answer, err := l.answer(longestAnswer)
		if err != nil {
			return
		}
		body := bytes.Clone(answer.rest)
		if len(body) > len(data)-8 {
			t.Fatalf("%d bytes of %d", len(body), len(data))
		}
		refused, malformed := readProduced(answer, route{topic: topicOfTests, partition: 4})
		if malformed != nil {
			return
		}
		other := kmsg.NewPtrProduceResponse()
		other.Version = produceVersion
		if err := other.ReadFrom(body); err != nil || len(other.Topics) != 1 || len(other.Topics[0].Partitions) != 1 {
			t.Fatalf("taken, and it is %v, %+v", err, other)
		}
		partition := other.Topics[0].Partitions[0]
		if other.Topics[0].Topic != topicOfTests || partition.Partition != 4 || kerr.ErrorForCode(partition.ErrorCode) != refused {
			t.Errorf("%v was taken from %+v", refused, other)
		}
	})
}
