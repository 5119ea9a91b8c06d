package kafkawire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Where things are in a record batch of format 2.
const (
	batchLength   = 8  // counts from the byte behind it
	batchCRC      = 17 // covers everything behind it
	batchContents = 21
)

// appendProduce appends a request that stores messages, which share a key, in one partition.
func appendProduce(to []byte, correlation int32, acks int16, at route, key string, messages []message) []byte {
	start := len(to)
	to = appendHeader(to, produce, produceVersion, correlation)
	to = binary.BigEndian.AppendUint16(to, 0xffff) // no transactional id
	to = binary.BigEndian.AppendUint16(to, uint16(acks))
	to = binary.BigEndian.AppendUint32(to, uint32(brokerTimeout/time.Millisecond))
	to = binary.BigEndian.AppendUint32(to, 1) // topics
	to = appendText(to, at.topic)
	to = binary.BigEndian.AppendUint32(to, 1) // partitions
	to = binary.BigEndian.AppendUint32(to, uint32(at.partition))
	to = append(to, 0, 0, 0, 0) // length of the batch
	batch := len(to)
	to = appendBatch(to, key, messages)
	binary.BigEndian.PutUint32(to[batch-4:], uint32(len(to)-batch))
	finish(to[start:])
	return to
}

// appendBatch appends a record batch of format 2, without compression and without a producer id.
func appendBatch(to []byte, key string, messages []message) []byte {
	now := uint64(time.Now().UnixMilli())
	start := len(to)
	to = binary.BigEndian.AppendUint64(to, 0)                       // offset of the first record: the broker's to give
	to = binary.BigEndian.AppendUint32(to, 0)                       // length, below
	to = binary.BigEndian.AppendUint32(to, 0xffffffff)              // leader epoch: unknown
	to = append(to, 2)                                              // format
	to = binary.BigEndian.AppendUint32(to, 0)                       // CRC, below
	to = binary.BigEndian.AppendUint16(to, 0)                       // attributes
	to = binary.BigEndian.AppendUint32(to, uint32(len(messages)-1)) // offset of the last record
	to = binary.BigEndian.AppendUint64(to, now)                     // time of the first record
	to = binary.BigEndian.AppendUint64(to, now)                     // latest time
	to = binary.BigEndian.AppendUint64(to, ^uint64(0))              // producer id: none
	to = binary.BigEndian.AppendUint16(to, 0xffff)                  // its epoch
	to = binary.BigEndian.AppendUint32(to, 0xffffffff)              // first sequence number
	to = binary.BigEndian.AppendUint32(to, uint32(len(messages)))
	for i, message := range messages {
		to = appendRecord(to, int64(i), key, message.bytes)
	}
	batch := to[start:]
	binary.BigEndian.PutUint32(batch[batchLength:], uint32(len(batch)-batchLength-4))
	binary.BigEndian.PutUint32(batch[batchCRC:], crc32.Checksum(batch[batchContents:], castagnoli))
	return to
}

func appendRecord(to []byte, offset int64, key string, value []byte) []byte {
	// attributes, time since the batch's, and number of headers are one zero byte each.
	length := 3 + varintLength(offset) + varintLength(int64(len(key))) + len(key) + varintLength(int64(len(value))) + len(value)
	to = binary.AppendVarint(to, int64(length))
	to = append(to, 0, 0)
	to = binary.AppendVarint(to, offset)
	to = append(binary.AppendVarint(to, int64(len(key))), key...)
	to = append(binary.AppendVarint(to, int64(len(value))), value...)
	return append(to, 0)
}

func varintLength(value int64) int {
	var buffer [binary.MaxVarintLen64]byte
	return binary.PutVarint(buffer[:], value)
}

// readProduced takes the answer to a produce request of one partition. malformed is an answer to something else; refused is the
// broker's own error.
func readProduced(answer *fields, from route) (refused, malformed error) {
	topics := answer.count(6)
	name := answer.text()
	partitions := answer.count(30)
	number := answer.int32()
	code := answer.int16()
	answer.take(8 + 8 + 8) // offset of the first record, time of the append, first offset of the log
	answer.int32()         // the broker's wish for a pause; it enforces that itself
	if err := answer.done(); err != nil {
		return nil, err
	}
	if topics != 1 || partitions != 1 || name != from.topic || number != from.partition {
		return nil, fmt.Errorf("%w: it is about %d partitions, the first %q/%d, and %q/%d was written to",
			errProtocol, topics*partitions, name, number, from.topic, from.partition)
	}
	return kerr.ErrorForCode(code), nil
}
