// @NAME@: a bot for Node without any package. Print with console.error only: stdout belongs to the arena.
"use strict";
const { receive, send } = require("./wire.js");

// xorshift64 (Marsaglia 2003): small, and the same in every language.
class Random {
  constructor(seed) {
    this.state = BigInt(seed) ^ 0x9e3779b97f4a7c15n;
  }
  below(limit) {
    this.state ^= BigInt.asUintN(64, this.state << 13n);
    this.state ^= this.state >> 7n;
    this.state ^= BigInt.asUintN(64, this.state << 17n);
    return Number((this.state >> 11n) % BigInt(limit));
  }
}

// Return an action: here any of the legal ones.
// match.game, match.options and match.seat say what is played; act.observation is the position,
// act.clock.seconds what this action may take.
function choose(match, act, random) {
  // YOUR IDEA GOES HERE: return the action you like best instead.
  return act.legal[random.below(act.legal.length)];
}

let match = null;
let random = new Random(0);
for (let message = receive(); message !== null; message = receive()) {
  if (message.type === "hello") {
    send({ type: "ready", protocol: 1, name: "@NAME@" });
  } else if (message.type === "match") {
    match = message; // begin afresh: the same process plays many matches
    random = new Random(message.rng_seed);
  } else if (message.type === "act") {
    send({ type: "action", ply: message.ply, action: choose(match, message, random) });
  } else if (message.type === "quit") {
    break;
  }
}
