#include "catalog/catalog.hpp"

namespace pmemcpy::catalog {

Draft::Draft(heap::Heap& heap, std::uint64_t length) : heap_(heap), offset_(heap.allocate_record(length)) {}

Draft::~Draft() {
    if (!kept_) heap_.abandon_record(offset_, extent_);
}

void Draft::write(std::uint64_t at, const void* bytes, std::uint64_t length) {
    if (length > 0) heap_.pool().medium().write(heap_.pool().at(offset_ + at), bytes, length);
}

void Draft::write_header(heap::RecordKind kind, std::uint8_t mutable_words, std::uint64_t length,
                         std::uint64_t incarnation, std::uint64_t home, std::uint64_t fields) {
    auto& header = as<RecordHeader>();
    RecordHeader fresh{};
    fresh.kind = static_cast<std::uint8_t>(kind);
    fresh.mutable_words = mutable_words;
    fresh.fields = static_cast<std::uint16_t>(fields);
    fresh.length = static_cast<std::uint32_t>(length);
    fresh.incarnation = incarnation;
    fresh.home = home;
    // `state` is this process's claim on the unit and stays.
    heap_.pool().medium().write(&header, &fresh, offsetof(RecordHeader, state));
    heap_.pool().medium().write(&header.word, &fresh.word, sizeof fresh.word);
}

Link Draft::seal(std::uint64_t version) {
    heap::seal(heap_.pool(), offset_, version);
    return Link::to(offset_, version);
}

}  // namespace pmemcpy::catalog
