// Frames of msgpack on stdin and stdout, without any package. Whole numbers beyond 2^53 are read as BigInt.
"use strict";
const fs = require("node:fs");

function decode(data) {
  let here = 0;
  const take = (n) => {
    if (data.length - here < n) throw new Error("the message ends too early");
    here += n;
    return data.subarray(here - n, here);
  };
  const unsigned = (n) => {
    if (n < 8) return take(n).readUIntBE(0, n);
    const big = take(8).readBigUInt64BE(0);
    return big <= Number.MAX_SAFE_INTEGER ? Number(big) : big;
  };
  const signed = (n) => {
    if (n < 8) return take(n).readIntBE(0, n);
    const big = take(8).readBigInt64BE(0);
    return big >= Number.MIN_SAFE_INTEGER && big <= Number.MAX_SAFE_INTEGER ? Number(big) : big;
  };
  const text = (n) => take(n).toString("utf8");
  const list = (n) => Array.from({ length: n }, value);
  const map = (n) => Object.fromEntries(Array.from({ length: n }, () => [value(), value()]));
  function value() {
    const tag = unsigned(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return map(tag & 0x0f);
    if (tag < 0xa0) return list(tag & 0x0f);
    if (tag < 0xc0) return text(tag & 0x1f);
    if (tag >= 0xe0) return tag - 256;
    switch (tag) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xca: return new Real(take(4).readFloatBE(0));
      case 0xcb: return new Real(take(8).readDoubleBE(0));
      case 0xcc: case 0xcd: case 0xce: case 0xcf: return unsigned(1 << (tag - 0xcc));
      case 0xd0: case 0xd1: case 0xd2: case 0xd3: return signed(1 << (tag - 0xd0));
      case 0xd9: case 0xda: case 0xdb: return text(unsigned(1 << (tag - 0xd9)));
      case 0xdc: case 0xdd: return list(unsigned(2 << (tag - 0xdc)));
      case 0xde: case 0xdf: return map(unsigned(2 << (tag - 0xde)));
    }
    throw new Error("a kind of value that the arena does not use");
  }
  return value();
}

// A number that travels as a float even where it is whole. It counts like a number: new Real(2) * 3 is 6.
class Real extends Number {}

function bytes(tag, n, number) {
  const buffer = Buffer.alloc(1 + n);
  buffer[0] = tag;
  if (n === 8) buffer.writeBigUInt64BE(BigInt.asUintN(64, BigInt(number)), 1);
  else if (n) number < 0 ? buffer.writeIntBE(number, 1, n) : buffer.writeUIntBE(number, 1, n);
  return buffer;
}

function sized(n, small, below, one, two) {
  if (n < below) return bytes(small | n, 0);
  if (one && n < 256) return bytes(one, 1, n);
  return n < 65536 ? bytes(two, 2, n) : bytes(two + 1, 4, n);
}

function integer(i) {
  if (i >= -32 && i < 128) return bytes(Number(i) & 0xff, 0);
  if (i >= 0) return i < 256 ? bytes(0xcc, 1, i) : i < 65536 ? bytes(0xcd, 2, i) : i < 2 ** 32 ? bytes(0xce, 4, i) : bytes(0xcf, 8, i);
  return i >= -128 ? bytes(0xd0, 1, i) : i >= -32768 ? bytes(0xd1, 2, i) : i >= -(2 ** 31) ? bytes(0xd2, 4, i) : bytes(0xd3, 8, i);
}

function encode(value) {
  if (value === null || value === undefined) return bytes(0xc0, 0);
  if (typeof value === "boolean") return bytes(value ? 0xc3 : 0xc2, 0);
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return integer(value);
  if (typeof value === "number" || value instanceof Real) {
    const buffer = bytes(0xcb, 8, 0);
    buffer.writeDoubleBE(Number(value), 1);
    return buffer;
  }
  if (typeof value === "string") {
    const text = Buffer.from(value, "utf8");
    return Buffer.concat([sized(text.length, 0xa0, 32, 0xd9, 0xda), text]);
  }
  if (Array.isArray(value)) return Buffer.concat([sized(value.length, 0x90, 16, 0, 0xdc), ...value.map(encode)]);
  const pairs = Object.entries(value);
  return Buffer.concat([sized(pairs.length, 0x80, 16, 0, 0xde), ...pairs.flat().map(encode)]);
}

function frame(message) {
  const body = encode(message);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

function send(message) {
  fs.writeSync(1, frame(message));
}

function read(n) {
  const buffer = Buffer.alloc(n);
  for (let have = 0; have < n; ) {
    const more = fs.readSync(0, buffer, have, n - have, null);
    if (more === 0) return null;
    have += more;
  }
  return buffer;
}

// The next message, or null when the arena has gone.
function receive() {
  const head = read(4);
  const body = head && read(head.readUInt32BE(0));
  return body && decode(body);
}

module.exports = { Real, decode, encode, frame, receive, send };
