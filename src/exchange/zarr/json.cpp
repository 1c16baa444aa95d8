#include "exchange/zarr/json.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <functional>
#include <limits>
#include <pmemcpy/error.hpp>
#include <string_view>
#include <utility>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::uint64_t most_document_bytes = 64U << 20;
constexpr int most_depth = 100;

struct Token {
    std::string_view text;
    double value;
};
// The longer first.
constexpr std::array<Token, 3> tokens = {{{"-Infinity", -std::numeric_limits<double>::infinity()},
                                          {"Infinity", std::numeric_limits<double>::infinity()},
                                          {"NaN", std::numeric_limits<double>::quiet_NaN()}}};

/// The tokens outside of strings, each as a string that begins with `mark`.
std::string with_marked_tokens(const std::string& text, const std::string& mark) {
    std::string marked;
    bool is_quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') is_quoted = !is_quoted;
        if (is_quoted && c == '\\' && at + 1 < text.size()) {
            marked += c;
            marked += text[++at];
            continue;
        }
        const Token* found = nullptr;
        for (const Token& token : tokens) {
            if (!is_quoted && found == nullptr && text.compare(at, token.text.size(), token.text) == 0)
                found = &token;
        }
        if (found == nullptr) {
            marked += c;
            continue;
        }
        marked.append("\"").append(mark).append(found->text).append("\"");
        at += found->text.size() - 1;
    }
    return marked;
}

bool has_token(const std::string& text) {
    return text.find("NaN") != std::string::npos || text.find("Infinity") != std::string::npos;
}

/// Looks for integers beyond 64 bits, which the parser hands over as floats, and tells the keys that lead to each.
class LargeIntegers : public nlohmann::json_sax<Json> {
public:
    using Keys = std::vector<std::string>;
    explicit LargeIntegers(std::function<void(const Keys&)> visit) : visit_(std::move(visit)) {}

    bool number_float(number_float_t, const string_t& text) override {
        if (text.find_first_of(".eE") == std::string::npos) visit_(keys_);
        return true;
    }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        keys_.back() = name;
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

private:
    bool enter() {
        keys_.emplace_back();
        return true;
    }
    bool leave() {
        keys_.pop_back();
        return true;
    }

    std::function<void(const Keys&)> visit_;
    Keys keys_;  // of the objects and lists that are open, from the outermost on; of a list ""
};

/// Where this is false there is no integer beyond 64 bits.
bool has_many_digits(const std::string& text) {
    constexpr int fewest = 19;  // of 2^63
    int run = 0;
    for (const char c : text) {
        run = c >= '0' && c <= '9' ? run + 1 : 0;
        if (run == fewest) return true;
    }
    return false;
}

void write(const nlohmann::ordered_json& json, int depth, std::string& out) {
    if (json.is_number_float() && !std::isfinite(json.get<double>())) {
        const auto value = json.get<double>();
        out += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
        return;
    }
    if (!json.is_structured() || json.empty()) {
        out += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
        return;
    }
    const std::string indent(2 * static_cast<std::size_t>(depth + 1), ' ');
    const bool is_object = json.is_object();
    out += is_object ? '{' : '[';
    const char* separator = "\n";
    for (const auto& [key, value] : json.items()) {
        out.append(separator).append(indent);
        separator = ",\n";
        if (is_object)
            out.append(nlohmann::ordered_json(key).dump(-1, ' ', false,
                                                        nlohmann::ordered_json::error_handler_t::replace))
                .append(": ");
        write(value, depth + 1, out);
    }
    out.append("\n").append(indent.substr(2));
    out += is_object ? '}' : ']';
}

}  // namespace

std::string read_zarr_text(const std::string& file, std::uint64_t most_bytes) {
    // What is no file, such as a pipe, would be waited for.
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) fail_kernel("cannot read " + file, errno);
    std::string text;
    std::array<char, 1U << 14> part{};
    ssize_t got = 0;
    do {
        got = ::read(fd, part.data(), part.size());
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    } while ((got > 0 && text.size() <= most_bytes) || (got < 0 && errno == EINTR));
    const int error = errno;
    ::close(fd);
    if (got < 0) fail_kernel("cannot read " + file, error);
    if (text.size() > most_bytes) {
        throw Error(Code::corrupt,
                    file + ": more than " + std::to_string(most_bytes) + " bytes, and it has no such need");
    }
    return text;
}

ZarrDocument read_zarr_document(const std::string& file, bool is_attributes) {
    std::string text = read_zarr_text(file, most_document_bytes);
    std::string mark;
    if (has_token(text)) {
        for (int i = 0; mark.empty() || text.find(mark) != std::string::npos; ++i)
            mark = "number " + std::to_string(i) + ": ";
        text = with_marked_tokens(text, mark);
    }
    ZarrDocument document;
    bool in_attributes = is_attributes;
    const int depth_of_names = is_attributes ? 1 : 2;
    const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > most_depth)
            throw Error(Code::corrupt, file + ": nested more than " + std::to_string(most_depth) + " deep");
        if (event == Json::parse_event_t::key) {
            if (depth == depth_of_names && in_attributes)
                document.attributes.push_back(parsed.get<std::string>());
            if (depth == 1 && !is_attributes) {
                in_attributes = parsed == "attributes";
                if (parsed == "consolidated_metadata") return false;
            }
        } else if (event == Json::parse_event_t::value && !mark.empty() && parsed.is_string()) {
            const auto& string = parsed.get_ref<const std::string&>();
            for (const Token& token : tokens) {
                if (string.size() == mark.size() + token.text.size() && string.starts_with(mark) &&
                    string.ends_with(token.text)) {
                    parsed = token.value;
                    break;
                }
            }
        }
        return true;
    };
    try {
        document.json = Json::parse(text, look);
    } catch (const Json::parse_error& error) {  // its own text repeats bytes of the file
        throw Error(Code::corrupt, file + ": no JSON from byte " + std::to_string(error.byte) + " on");
    } catch (const Json::exception& error) {
        throw Error(Code::corrupt, file + ": " + error.what());
    }
    if (!document.json.is_object()) throw Error(Code::corrupt, file + ": no object of JSON");
    if (has_many_digits(text)) {
        LargeIntegers look_for([&](const LargeIntegers::Keys& keys) {
            const std::size_t at = is_attributes ? 0 : 1;
            if (keys.size() > at && (is_attributes || keys.front() == "attributes"))
                document.rounded.insert(keys[at]);
        });
        Json::sax_parse(text, &look_for);
    }
    return document;
}

bool has_large_integer(const std::string& text) {
    if (!has_many_digits(text)) return false;
    bool has = false;
    LargeIntegers look_for([&](const LargeIntegers::Keys&) { has = true; });
    Json::sax_parse(text, &look_for);
    return has;
}

std::string shown_json(const Json& json) {
    constexpr std::size_t most = 100;
    const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string text_of_zarr(const nlohmann::ordered_json& json) {
    std::string text;
    write(json, 0, text);
    return text + "\n";
}

}  // namespace pmemcpy::exchange
