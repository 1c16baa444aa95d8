#include "cli/element/writer.hpp"

namespace pmemcpy::cli {

namespace {

class TextWriter : public Writer {
public:
    TextWriter(Sink& sink, const Type& type, const Dimensions& shape, Precision precision)
        : sink_(sink),
          type_(type),
          frame_(shape),
          elements_(shape.elements()),
          is_list_(shape.size() <= 1),
          precision_(precision) {}

    void add(std::span<const std::byte> element) override {
        append_text(text_, type_, element, precision_);
        ++written_;
        const std::size_t edges = frame_.edges_at(written_);
        if (!is_list_ && edges == 0) {
            text_ += ' ';
        } else {
            text_ += '\n';
            if (!is_list_ && edges >= 2 && written_ != elements_) text_ += '\n';
        }
        if (text_.size() >= most_kept_bytes) finish();
    }
    void finish() override {
        sink_.write(text_);
        text_.clear();
    }

private:
    Sink& sink_;
    Type type_;
    Frame frame_;
    Extent elements_;
    Extent written_ = 0;
    bool is_list_;
    Precision precision_;
    std::string text_;
};

}  // namespace

Frame::Frame(const Dimensions& shape) {
    Extent inner = 1;
    for (int d = shape.size(); d-- > 0;) sizes_.push_back(inner *= shape[d]);
}

std::size_t Frame::edges_at(Extent k) const {
    std::size_t edges = 0;
    while (edges < sizes_.size() && k % sizes_[edges] == 0) ++edges;
    return edges;
}

std::unique_ptr<Writer> text_writer(Sink& sink, const Type& type, const Dimensions& shape,
                                    Precision precision) {
    return std::make_unique<TextWriter>(sink, type, shape, precision);
}

}  // namespace pmemcpy::cli
