#pragma once

#include <nlohmann/json.hpp>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <utility>

// JSON-shaped structures as values and attributes: pmem.set_attribute("run", "config", nlohmann::json{{"dt", 0.1}}).
// They are stored as JSON text, which any language reads.

namespace pmemcpy {

template <>
struct TypeOf<nlohmann::json> {
    static Type make() { return Type::opaque(1, "json"); }
};

/// Encodes a JSON value as text. The text is made in memory first: attributes are small.
class JsonEncoder final : public Encoder {
public:
    explicit JsonEncoder(const nlohmann::json& value) : text_(value.dump()) {}
    std::uint64_t size_bytes() const override { return text_.size(); }
    std::span<const std::byte> in_one_piece() const override { return std::as_bytes(std::span(text_)); }
    void encode(std::span<std::byte> out) const override { BytesEncoder(in_one_piece()).encode(out); }

private:
    std::string text_;
};

template <>
struct Serializer<SerializerType::none, nlohmann::json> {
    static JsonEncoder encoder(const nlohmann::json& value) { return JsonEncoder(value); }

    /// Errors: corrupt
    static void decode(std::span<const std::byte> bytes, nlohmann::json& value) {
        const auto* text = reinterpret_cast<const char*>(bytes.data());
        nlohmann::json parsed = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
        if (parsed.is_discarded()) throw Error(Code::corrupt, "a value recorded as JSON is no JSON text");
        value = std::move(parsed);
    }
};

}  // namespace pmemcpy
