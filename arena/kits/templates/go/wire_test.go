package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

func show(value any) string {
	parts := []string{}
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return `"` + v + `"`
	case []any:
		for _, item := range v {
			parts = append(parts, show(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case Map:
		for _, pair := range v {
			parts = append(parts, `"`+pair.Key+`":`+show(pair.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(value)
}

func TestGoldenFrames(t *testing.T) {
	file, err := os.ReadFile("golden_frames.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, line := range strings.Split(string(file), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		frame, _ := hex.DecodeString(parts[1])
		value, err := Decode(frame[4:])
		if err != nil || show(value) != parts[2] {
			t.Errorf("%s: read as %s (%v)", parts[0], show(value), err)
		} else if !bytes.Equal(Frame(value.(Map)), frame) {
			t.Errorf("%s: written differently", parts[0])
		}
		count++
	}
	if count == 0 {
		t.Error("no frames")
	}
	fmt.Println(count, "frames are read and written as they should be")
}
