//! The codec against the golden frames.
mod wire;
use wire::{decode, frame, Value};

fn show(value: &Value) -> String {
    match value {
        Value::Nil => "null".to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(",")),
        Value::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("\"{key}\":{}", show(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
    }
}

fn main() {
    let file = std::fs::read_to_string("golden_frames.txt").expect("run this in the bot's directory");
    let mut count = 0;
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, ' ').collect();
        let bytes: Vec<u8> =
            (0..parts[1].len()).step_by(2).map(|k| u8::from_str_radix(&parts[1][k..k + 2], 16).unwrap()).collect();
        let value = decode(&mut &bytes[4..]).expect(parts[0]);
        assert_eq!(show(&value), parts[2], "{}: read differently", parts[0]);
        assert_eq!(frame(&value), bytes, "{}: written differently", parts[0]);
        count += 1;
    }
    assert!(count > 0);
    println!("{count} frames are read and written as they should be");
}
