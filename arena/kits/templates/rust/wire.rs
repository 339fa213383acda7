//! Frames of msgpack on stdin and stdout, with nothing but the standard library.
use std::io::{self, Read, Write};

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}
use Value::*;

#[allow(dead_code)]
impl Value {
    pub fn get(&self, key: &str) -> &Value {
        match self {
            Map(pairs) => pairs.iter().find(|(name, _)| name == key).map_or(&Nil, |(_, value)| value),
            _ => &Nil,
        }
    }
    pub fn text(&self) -> &str {
        if let Text(text) = self { text } else { "" }
    }
    pub fn int(&self) -> i64 {
        if let Int(number) = self { *number } else { 0 }
    }
    pub fn list(&self) -> &[Value] {
        if let List(items) = self { items } else { &[] }
    }
}

/// Reads one value from the front of `data` and moves past it; None if it is cut short or of no kind the arena uses.
pub fn decode(data: &mut &[u8]) -> Option<Value> {
    let tag = take(data, 1)?[0];
    Some(match tag {
        0x00..=0x7f => Int(tag as i64),
        0x80..=0x8f => map(data, (tag & 0x0f) as u64)?,
        0x90..=0x9f => list(data, (tag & 0x0f) as u64)?,
        0xa0..=0xbf => text(data, (tag & 0x1f) as u64)?,
        0xc0 => Nil,
        0xc2 | 0xc3 => Bool(tag == 0xc3),
        0xca => Real(f32::from_bits(number(data, 4)? as u32) as f64),
        0xcb => Real(f64::from_bits(number(data, 8)?)),
        0xcc..=0xcf => Int(number(data, 1 << (tag - 0xcc))? as i64),
        0xd0 => Int(number(data, 1)? as i8 as i64),
        0xd1 => Int(number(data, 2)? as i16 as i64),
        0xd2 => Int(number(data, 4)? as i32 as i64),
        0xd3 => Int(number(data, 8)? as i64),
        0xd9..=0xdb => { let n = number(data, 1 << (tag - 0xd9))?; text(data, n)? }
        0xdc | 0xdd => { let n = number(data, 2 << (tag - 0xdc))?; list(data, n)? }
        0xde | 0xdf => { let n = number(data, 2 << (tag - 0xde))?; map(data, n)? }
        0xe0..=0xff => Int(tag as i8 as i64),
        _ => return None,
    })
}

fn take<'a>(data: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    if data.len() < n { return None; }
    let (head, rest) = data.split_at(n);
    *data = rest;
    Some(head)
}
fn number(data: &mut &[u8], n: usize) -> Option<u64> {
    Some(take(data, n)?.iter().fold(0, |sum, byte| sum << 8 | *byte as u64))
}
fn text(data: &mut &[u8], n: u64) -> Option<Value> {
    String::from_utf8(take(data, n as usize)?.to_vec()).ok().map(Text)
}
fn list(data: &mut &[u8], n: u64) -> Option<Value> {
    (0..n).map(|_| decode(data)).collect::<Option<Vec<_>>>().map(List)
}
fn map(data: &mut &[u8], n: u64) -> Option<Value> {
    let pair = |_| Some((decode(data)?.text().to_string(), decode(data)?));
    (0..n).map(pair).collect::<Option<Vec<_>>>().map(Map)
}

pub fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Nil => out.push(0xc0),
        Bool(yes) => out.push(0xc2 + *yes as u8),
        Real(real) => { out.push(0xcb); out.extend(real.to_bits().to_be_bytes()) }
        Int(i @ -32..=127) => out.push(*i as u8),
        Int(i @ 128..=0xff) => out.extend([0xcc, *i as u8]),
        Int(i @ 0x100..=0xffff) => { out.push(0xcd); out.extend((*i as u16).to_be_bytes()) }
        Int(i @ 0x10000..=0xffff_ffff) => { out.push(0xce); out.extend((*i as u32).to_be_bytes()) }
        Int(i) if *i > 0 => { out.push(0xcf); out.extend(i.to_be_bytes()) }
        Int(i @ -128..=-33) => out.extend([0xd0, *i as u8]),
        Int(i @ -0x8000..=-129) => { out.push(0xd1); out.extend((*i as i16).to_be_bytes()) }
        Int(i @ -0x8000_0000..=-0x8001) => { out.push(0xd2); out.extend((*i as i32).to_be_bytes()) }
        Int(i) => { out.push(0xd3); out.extend(i.to_be_bytes()) }
        Text(text) => { size(text.len(), 0xa0, 32, Some(0xd9), 0xda, out); out.extend(text.as_bytes()) }
        List(items) => { size(items.len(), 0x90, 16, None, 0xdc, out); items.iter().for_each(|item| encode(item, out)) }
        Map(pairs) => {
            size(pairs.len(), 0x80, 16, None, 0xde, out);
            pairs.iter().for_each(|(key, value)| { encode(&Text(key.clone()), out); encode(value, out) })
        }
    }
}

fn size(n: usize, small: u8, below: usize, one_byte: Option<u8>, two_bytes: u8, out: &mut Vec<u8>) {
    match (n, one_byte) {
        (n, _) if n < below => out.push(small | n as u8),
        (n, Some(tag)) if n < 256 => out.extend([tag, n as u8]),
        (n, _) if n < 65536 => { out.push(two_bytes); out.extend((n as u16).to_be_bytes()) }
        (n, _) => { out.push(two_bytes + 1); out.extend((n as u32).to_be_bytes()) }
    }
}

pub fn frame(message: &Value) -> Vec<u8> {
    let mut body = Vec::new();
    encode(message, &mut body);
    let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
    bytes.append(&mut body);
    bytes
}

#[allow(dead_code)]
pub fn send(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(&frame(message))?;
    out.flush()
}

/// The next message, or None when the arena has gone.
#[allow(dead_code)]
pub fn receive() -> Option<Value> {
    let (mut head, mut input) = ([0; 4], io::stdin().lock());
    input.read_exact(&mut head).ok()?;
    let mut body = vec![0; u32::from_be_bytes(head) as usize];
    input.read_exact(&mut body).ok()?;
    decode(&mut &body[..])
}
