#include "cli/element/writer.hpp"

namespace pmemcpy::cli {

namespace {

class JsonWriter : public Writer {
public:
    JsonWriter(Sink& sink, const Type& type, const Dimensions& shape)
        : sink_(sink), type_(type), frame_(shape) {}

    void add(std::span<const std::byte> element) override {
        const std::size_t opens = frame_.edges_at(written_);
        if (written_ != 0) text_ += ',';
        text_.append(opens, '[');
        text_ += dump(to_json(type_, element));
        ++written_;
        text_.append(frame_.edges_at(written_), ']');
        if (text_.size() >= most_kept_bytes) flush();
    }
    void finish() override {
        if (written_ == 0) text_ += "[]";
        flush();
    }

private:
    void flush() {
        sink_.write(text_);
        text_.clear();
    }

    Sink& sink_;
    Type type_;
    Frame frame_;
    Extent written_ = 0;
    std::string text_;
};

}  // namespace

std::unique_ptr<Writer> json_writer(Sink& sink, const Type& type, const Dimensions& shape) {
    return std::make_unique<JsonWriter>(sink, type, shape);
}

}  // namespace pmemcpy::cli
