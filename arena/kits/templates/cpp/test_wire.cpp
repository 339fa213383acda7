// The codec against the golden frames.
#include <fstream>
#include <iostream>
#include <sstream>

#include "wire.hpp"

struct Show {
    std::ostream &out;
    void operator()(std::nullptr_t) { out << "null"; }
    void operator()(bool yes) { out << (yes ? "true" : "false"); }
    void operator()(std::int64_t number) { out << number; }
    void operator()(double real) { out << real; }
    void operator()(const std::string &text) { out << '"' << text << '"'; }
    void operator()(const List &list) {
        const char *before = "[";
        for (const auto &item : list) { out << before; std::visit(*this, item); before = ","; }
        out << (list.empty() ? "[]" : "]");
    }
    void operator()(const Map &map) {
        const char *before = "{";
        for (const auto &[key, value] : map) { out << before << '"' << key << "\":"; std::visit(*this, value); before = ","; }
        out << (map.empty() ? "{}" : "}");
    }
};

int main() {
    std::ifstream file("golden_frames.txt");
    std::string line;
    int count = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream parts(line);
        std::string name, hex, text, bytes;
        std::getline(std::getline(std::getline(parts, name, ' '), hex, ' '), text);
        for (std::size_t k = 0; k < hex.size(); k += 2) bytes += char(std::stoi(hex.substr(k, 2), nullptr, 16));
        const std::string body = bytes.substr(4);
        const Value value = Reader(body).value();
        std::ostringstream shown;
        std::visit(Show{shown}, value);
        if (shown.str() != text) { std::cerr << name << ": read as " << shown.str() << "\n"; return 1; }
        if (frame(value) != bytes) { std::cerr << name << ": written differently\n"; return 1; }
        count++;
    }
    std::cout << count << " frames are read and written as they should be\n";
    return count == 0;
}
