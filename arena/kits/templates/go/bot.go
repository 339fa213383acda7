// @NAME@: a bot in Go without any module. Print to stderr only: stdout belongs to the arena.
package main

// Random is xorshift64 (Marsaglia 2003): small, and the same in every language.
type Random struct{ state uint64 }

// NewRandom seeds a generator.
func NewRandom(seed int64) *Random { return &Random{uint64(seed) ^ 0x9E3779B97F4A7C15} }

// Below returns a number from 0 to limit - 1.
func (r *Random) Below(limit int) int {
	r.state ^= r.state << 13
	r.state ^= r.state >> 7
	r.state ^= r.state << 17
	return int((r.state >> 11) % uint64(limit))
}

// choose returns an action: here any of the legal ones.
//
// match.Get("game"), "options" and "seat" say what is played; act.Get("observation") is the position,
// act.Get("clock").(Map).Get("seconds") what this action may take.
func choose(match, act Map, random *Random) any {
	legal := act.Get("legal").([]any)
	// YOUR IDEA GOES HERE: return the action you like best instead.
	return legal[random.Below(len(legal))]
}

func main() {
	match, random := Map{}, NewRandom(0)
	for message := Receive(); message != nil; message = Receive() {
		switch message.Get("type") {
		case "hello":
			Send(Map{{"type", "ready"}, {"protocol", 1}, {"name", "@NAME@"}})
		case "match": // begin afresh: the same process plays many matches
			match, random = message, NewRandom(message.Get("rng_seed").(int64))
		case "act":
			Send(Map{{"type", "action"}, {"ply", message.Get("ply")}, {"action", choose(match, message, random)}})
		case "quit":
			return
		}
	}
}
