#include "owners.hpp"

#include <optional>

#include "array/selection.hpp"
#include "layout/payload_name.hpp"
#include "layout/place.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::faults {
namespace {

using catalog::Catalog;
using heap::Link;
using heap::RecordHeader;

class Follower {
public:
    Follower(const std::string& folder, const std::string& records, const std::vector<Piece>& pieces)
        : records_(records), pieces_(pieces), inside_(folder + "/" + records) {}

    std::map<Page, Owners> follow() {
        inside_.catalog().for_each([&](const std::string& id, Link entry) { follow_entry(id, entry); });
        return std::move(owners_);
    }

private:
    /// Which pieces need a record.
    struct Needs {
        std::string id;
        std::string attribute{};         // only this one of it
        std::optional<Selection> box{};  // only what meets it
        bool names = false;              // and the id is known from there alone
    };

    void follow_entry(const std::string& id, Link entry) {
        mark_record(entry, {id, {}, {}, true});
        const auto& identity = inside_.pool().as<catalog::Entry>(entry.offset());
        if (identity.moved.is_record()) mark_record(identity.moved, {id, {}, {}, true});
        follow_definition(*inside_.catalog().definition(entry), {id});
        inside_.catalog().for_each_attribute(entry, [&](const std::string& name, Link attribute) {
            mark_record(attribute, {id, name});
            follow_definition(*inside_.catalog().definition(attribute), {id, name});
        });
    }

    void follow_definition(Link definition, const Needs& needs) {
        const auto& header = inside_.pool().as<RecordHeader>(definition.offset());
        if (static_cast<heap::RecordKind>(header.kind) == heap::RecordKind::array)
            return follow_array(definition, needs);
        mark_record(definition, needs);  // the versions before it are for readers of a step that has passed
    }

    void follow_array(Link array, const Needs& needs) {
        mark_record(array, needs);
        const bool reversed = inside_.pool().as<catalog::Array>(array.offset()).order == 1;
        for (Link segment{inside_.pool().as<catalog::Array>(array.offset()).header.word}; segment.is_record();
             segment = {inside_.pool().as<catalog::Segment>(segment.offset()).header.word}) {
            mark_record(segment, needs);
            const auto& record = inside_.pool().as<catalog::Segment>(segment.offset());
            const auto* slots = reinterpret_cast<const std::uint64_t*>(&record + 1);
            for (std::uint32_t i = 0; i < record.slots; ++i) {
                if (!Link{slots[i]}.is_live()) continue;
                mark_record(Link{slots[i]}, {needs.id, {}, box_of(Link{slots[i]}, reversed)});
            }
        }
    }

    Selection box_of(Link link, bool reversed) {
        const auto& block = inside_.pool().as<catalog::Block>(link.offset());
        const auto* numbers = reinterpret_cast<const std::uint64_t*>(&block + 1);
        Selection box(Dimensions::filled(block.dimensions, 0), Dimensions::filled(block.dimensions, 0));
        for (int d = 0; d < block.dimensions; ++d) {
            box.offset[d] = numbers[d];
            box.count[d] = numbers[block.dimensions + d];
        }
        return reversed ? array::reversed(box) : box;
    }

    void mark_record(Link record, const Needs& needs) {
        const auto& header = inside_.pool().as<RecordHeader>(record.offset());
        mark(records_, record.offset(), header.length, needs);
        const heap::Extent extent = Catalog::extent_of(header);
        if (extent.length == 0) return;
        const bool is_block = static_cast<heap::RecordKind>(header.kind) == heap::RecordKind::block;
        const std::uint64_t bytes = is_block ? reinterpret_cast<const catalog::Block&>(header).stored_bytes
                                             : reinterpret_cast<const catalog::Value&>(header).bytes;
        if (extent.target == 0) return mark(records_, extent.offset, bytes, needs);
        mark(std::string(layout::data_name) + "/" + layout::name_of_payload(extent.offset), 0, bytes, needs);
    }

    void mark(const std::string& file, std::uint64_t offset, std::uint64_t length, const Needs& needs) {
        for (std::uint64_t page = offset / pool::page_bytes; page <= (offset + length - 1) / pool::page_bytes;
             ++page) {
            Owners& owners = owners_[{file, page}];
            if (needs.names) owners.names.insert(needs.id);
            for (std::size_t i = 0; i < pieces_.size(); ++i) {
                if (is_needed(needs, pieces_[i])) owners.pieces.insert(i);
            }
        }
    }

    static bool is_needed(const Needs& needs, const Piece& piece) {
        if (piece.id != needs.id) return false;
        if (!needs.attribute.empty()) return piece.attribute == needs.attribute;
        if (!needs.box) return true;
        // Older steps are kept of the array as a whole.
        return piece.kind == Piece::Kind::box &&
               (piece.is_old || array::covered(piece.box, *needs.box).has_value());
    }

    std::string records_;
    const std::vector<Piece>& pieces_;
    Inside inside_;
    std::map<Page, Owners> owners_;
};

}  // namespace

std::map<Page, Owners> owners_of(const std::string& folder, const std::string& records,
                                 const std::vector<Piece>& pieces) {
    return Follower(folder, records, pieces).follow();
}

}  // namespace pmemcpy::faults
