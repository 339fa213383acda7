package main

// Frames of msgpack on stdin and stdout, with nothing but the standard library. A value is nil, bool, int64, float64,
// string, []any or Map.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// Pair is one entry of a Map.
type Pair struct {
	Key   string
	Value any
}

// Map keeps its entries in order.
type Map []Pair

// Get returns the value under a key, or nil.
func (m Map) Get(key string) any {
	for _, pair := range m {
		if pair.Key == key {
			return pair.Value
		}
	}
	return nil
}

var errShort = errors.New("not a whole value of a kind the arena uses")

type reader struct{ data []byte }

func (r *reader) take(n uint64) []byte {
	if uint64(len(r.data)) < n {
		panic(errShort)
	}
	head := r.data[:n]
	r.data = r.data[n:]
	return head
}

func (r *reader) number(n uint64) (sum uint64) {
	for _, b := range r.take(n) {
		sum = sum<<8 | uint64(b)
	}
	return
}

func (r *reader) list(n uint64) []any {
	items := []any{}
	for ; n > 0; n-- {
		items = append(items, r.value())
	}
	return items
}

func (r *reader) pairs(n uint64) Map {
	pairs := Map{}
	for ; n > 0; n-- {
		key, _ := r.value().(string)
		pairs = append(pairs, Pair{key, r.value()})
	}
	return pairs
}

func (r *reader) value() any {
	switch tag := r.number(1); {
	case tag < 0x80:
		return int64(tag)
	case tag < 0x90:
		return r.pairs(tag & 0x0f)
	case tag < 0xa0:
		return r.list(tag & 0x0f)
	case tag < 0xc0:
		return string(r.take(tag & 0x1f))
	case tag == 0xc0:
		return nil
	case tag == 0xc2 || tag == 0xc3:
		return tag == 0xc3
	case tag == 0xca:
		return float64(math.Float32frombits(uint32(r.number(4))))
	case tag == 0xcb:
		return math.Float64frombits(r.number(8))
	case tag >= 0xcc && tag <= 0xcf:
		return int64(r.number(1 << (tag - 0xcc)))
	case tag == 0xd0:
		return int64(int8(r.number(1)))
	case tag == 0xd1:
		return int64(int16(r.number(2)))
	case tag == 0xd2:
		return int64(int32(r.number(4)))
	case tag == 0xd3:
		return int64(r.number(8))
	case tag >= 0xd9 && tag <= 0xdb:
		return string(r.take(r.number(1 << (tag - 0xd9))))
	case tag == 0xdc || tag == 0xdd:
		return r.list(r.number(2 << (tag - 0xdc)))
	case tag == 0xde || tag == 0xdf:
		return r.pairs(r.number(2 << (tag - 0xde)))
	case tag >= 0xe0:
		return int64(int8(tag))
	}
	panic(errShort)
}

// Decode reads one value from its bytes.
func Decode(data []byte) (value any, err error) {
	defer func() {
		if recover() != nil {
			err = errShort
		}
	}()
	r := reader{data}
	return r.value(), nil
}

func sized(out []byte, n int, small byte, below int, one, two byte) []byte {
	switch {
	case n < below:
		return append(out, small|byte(n))
	case n < 256 && one != 0:
		return append(out, one, byte(n))
	case n < 65536:
		return binary.BigEndian.AppendUint16(append(out, two), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(out, two+1), uint32(n))
}

func encodeInt(out []byte, i int64) []byte {
	switch {
	case i >= -32 && i < 128:
		return append(out, byte(i))
	case i >= 0 && i <= math.MaxUint8:
		return append(out, 0xcc, byte(i))
	case i >= 0 && i <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(out, 0xcd), uint16(i))
	case i >= 0 && i <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(out, 0xce), uint32(i))
	case i >= 0:
		return binary.BigEndian.AppendUint64(append(out, 0xcf), uint64(i))
	case i >= math.MinInt8:
		return append(out, 0xd0, byte(i))
	case i >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(out, 0xd1), uint16(i))
	case i >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(out, 0xd2), uint32(i))
	}
	return binary.BigEndian.AppendUint64(append(out, 0xd3), uint64(i))
}

// Encode appends a value's bytes.
func Encode(out []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, 0xc0)
	case bool:
		if v {
			return append(out, 0xc3)
		}
		return append(out, 0xc2)
	case int:
		return encodeInt(out, int64(v))
	case int64:
		return encodeInt(out, v)
	case float64:
		return binary.BigEndian.AppendUint64(append(out, 0xcb), math.Float64bits(v))
	case string:
		return append(sized(out, len(v), 0xa0, 32, 0xd9, 0xda), v...)
	case []any:
		out = sized(out, len(v), 0x90, 16, 0, 0xdc)
		for _, item := range v {
			out = Encode(out, item)
		}
	case Map:
		out = sized(out, len(v), 0x80, 16, 0, 0xde)
		for _, pair := range v {
			out = Encode(Encode(out, pair.Key), pair.Value)
		}
	default:
		panic("no kind of value that the arena uses")
	}
	return out
}

// Frame returns a message as bytes.
func Frame(message Map) []byte {
	frame := Encode(make([]byte, 4), message)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// Send writes a message at once.
func Send(message Map) {
	if _, err := os.Stdout.Write(Frame(message)); err != nil {
		os.Exit(0)
	}
}

var input = bufio.NewReader(os.Stdin)

// Receive returns the next message, or nil when the arena has gone.
func Receive() Map {
	head := make([]byte, 4)
	if _, err := io.ReadFull(input, head); err != nil {
		return nil
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(input, body); err != nil {
		return nil
	}
	value, _ := Decode(body)
	message, _ := value.(Map)
	return message
}
