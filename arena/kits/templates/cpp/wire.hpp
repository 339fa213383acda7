// Frames of msgpack on stdin and stdout, with nothing but the standard library.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct Value;
using List = std::vector<Value>;
using Map = std::vector<std::pair<std::string, Value>>;

struct Value : std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Map> {
    using variant::variant;
    Value(const char *text) : variant(std::string(text)) {}
    Value(int number) : variant(std::int64_t(number)) {}
    std::int64_t integer() const { return std::get<std::int64_t>(*this); }
    const std::string &text() const { return std::get<std::string>(*this); }
    const List &list() const { return std::get<List>(*this); }
    const Value &operator[](const std::string &key) const {
        for (const auto &[name, value] : std::get<Map>(*this))
            if (name == key) return value;
        throw std::out_of_range("no " + key + " in this message");
    }
};

class Reader {
    const std::string &data;
    std::size_t here = 0;

    std::string bytes(std::size_t n) {
        if (data.size() - here < n) throw std::runtime_error("the message ends too early");
        here += n;
        return data.substr(here - n, n);
    }
    std::uint64_t number(int n) {
        std::uint64_t result = 0;
        for (unsigned char byte : bytes(n)) result = result << 8 | byte;
        return result;
    }
    List list(std::uint64_t n) {
        List items;
        while (n--) items.push_back(value());
        return items;
    }
    Map map(std::uint64_t n) {
        Map pairs;
        while (n--) { std::string key = value().text(); pairs.emplace_back(key, value()); }
        return pairs;
    }

public:
    explicit Reader(const std::string &data) : data(data) {}
    Value value() {
        const int tag = int(number(1));
        if (tag < 0x80) return std::int64_t(tag);
        if (tag < 0x90) return map(tag & 0x0f);
        if (tag < 0xa0) return list(tag & 0x0f);
        if (tag < 0xc0) return bytes(tag & 0x1f);
        if (tag >= 0xe0) return std::int64_t(tag) - 256;
        switch (tag) {
            case 0xc0: return nullptr;
            case 0xc2: case 0xc3: return tag == 0xc3;
            case 0xca: { std::uint32_t bits = std::uint32_t(number(4)); float real; std::memcpy(&real, &bits, 4); return double(real); }
            case 0xcb: { std::uint64_t bits = number(8); double real; std::memcpy(&real, &bits, 8); return real; }
            case 0xcc: case 0xcd: case 0xce: case 0xcf: return std::int64_t(number(1 << (tag - 0xcc)));
            case 0xd0: return std::int64_t(std::int8_t(number(1)));
            case 0xd1: return std::int64_t(std::int16_t(number(2)));
            case 0xd2: return std::int64_t(std::int32_t(number(4)));
            case 0xd3: return std::int64_t(number(8));
            case 0xd9: case 0xda: case 0xdb: return bytes(number(1 << (tag - 0xd9)));
            case 0xdc: case 0xdd: return list(number(2 << (tag - 0xdc)));
            case 0xde: case 0xdf: return map(number(2 << (tag - 0xde)));
        }
        throw std::runtime_error("a kind of value that the arena does not use");
    }
};

class Writer {
    void put(int tag, int n, std::uint64_t number) {
        body += char(tag);
        while (n--) body += char(number >> 8 * n);
    }
    void sized(std::uint64_t n, unsigned small, int tag, unsigned below, int first) {
        if (n < below) put(int(small | n), 0, 0);
        else if (first == 1 && n < 256) put(tag, 1, n);
        else if (n < 65536) put(tag + (first == 1), 2, n);
        else put(tag + 1 + (first == 1), 4, n);
    }

public:
    std::string body;
    void operator()(std::nullptr_t) { put(0xc0, 0, 0); }
    void operator()(bool yes) { put(yes ? 0xc3 : 0xc2, 0, 0); }
    void operator()(double real) { std::uint64_t bits; std::memcpy(&bits, &real, 8); put(0xcb, 8, bits); }
    void operator()(const std::string &text) { sized(text.size(), 0xa0, 0xd9, 32, 1); body += text; }
    void operator()(const List &list) { sized(list.size(), 0x90, 0xdc, 16, 2); for (const auto &item : list) std::visit(*this, item); }
    void operator()(const Map &map) {
        sized(map.size(), 0x80, 0xde, 16, 2);
        for (const auto &[key, value] : map) { (*this)(key); std::visit(*this, value); }
    }
    void operator()(std::int64_t i) {
        if (i >= -32 && i < 128) put(int(i), 0, 0);
        else if (i >= 0) put(i < 256 ? 0xcc : i < 65536 ? 0xcd : i <= UINT32_MAX ? 0xce : 0xcf, i < 256 ? 1 : i < 65536 ? 2 : i <= UINT32_MAX ? 4 : 8, std::uint64_t(i));
        else put(i >= INT8_MIN ? 0xd0 : i >= INT16_MIN ? 0xd1 : i >= INT32_MIN ? 0xd2 : 0xd3, i >= INT8_MIN ? 1 : i >= INT16_MIN ? 2 : i >= INT32_MIN ? 4 : 8, std::uint64_t(i));
    }
};

inline std::string frame(const Value &message) {
    Writer writer;
    std::visit(writer, message);
    std::string head;
    for (int shift = 24; shift >= 0; shift -= 8) head += char(writer.body.size() >> shift);
    return head + writer.body;
}

inline void send(const Value &message) {
    const std::string bytes = frame(message);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
}

inline std::optional<Value> receive() {  // nothing when the arena has gone
    unsigned char head[4];
    if (std::fread(head, 1, 4, stdin) < 4) return std::nullopt;
    std::string body(std::size_t(head[0]) << 24 | head[1] << 16 | head[2] << 8 | head[3], '\0');
    if (std::fread(body.data(), 1, body.size(), stdin) < body.size()) return std::nullopt;
    return Reader(body).value();
}
