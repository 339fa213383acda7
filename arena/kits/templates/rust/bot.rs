//! @NAME@: a bot in Rust without any crate. Print to stderr only: stdout belongs to the arena.
mod wire;
use wire::{receive, send, Value};

/// xorshift64 (Marsaglia 2003): small, and the same in every language.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed ^ 0x9E3779B97F4A7C15)
    }
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit as u64) as usize
    }
}

/// Returns an action: here any of the legal ones.
///
/// game.get("game"), .get("options") and .get("seat") say what is played; act.get("observation") is the position,
/// act.get("clock").get("seconds") what this action may take.
fn choose(_game: &Value, act: &Value, random: &mut Random) -> Value {
    let legal = act.get("legal").list();
    // YOUR IDEA GOES HERE: return the action you like best instead.
    legal[random.below(legal.len())].clone()
}

fn map(pairs: &[(&str, Value)]) -> Value {
    Value::Map(pairs.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn main() -> std::io::Result<()> {
    let (mut game, mut random) = (Value::Nil, Random::new(0));
    while let Some(message) = receive() {
        match message.get("type").text() {
            "hello" => send(&map(&[("type", text("ready")), ("protocol", Value::Int(1)), ("name", text("@NAME@"))]))?,
            "match" => {
                // begin afresh: the same process plays many matches
                random = Random::new(message.get("rng_seed").int() as u64);
                game = message;
            }
            "act" => {
                let action = choose(&game, &message, &mut random);
                send(&map(&[("type", text("action")), ("ply", message.get("ply").clone()), ("action", action)]))?
            }
            "quit" => break,
            _ => (),
        }
    }
    Ok(())
}
