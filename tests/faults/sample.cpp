#include "sample.hpp"

#include "ramp.hpp"

#include <numeric>
#include <span>

namespace pmemcpy::faults {
namespace {

PMEM::Decode write_into(std::string& content) {
    return [&content](const Type& type, SerializerType, std::span<const std::byte> bytes) {
        content = type.name() + ' ';
        content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
}

std::string load_box(const PMEM& pmem, const Piece& piece, const Type& type,
                     std::optional<std::uint64_t> step) {
    std::string content(piece.box.elements() * type.size(), '\0');
    pmem.load(piece.id, type, content.data(), piece.box, step);
    return content;
}

std::string describe_array(const PMEM& pmem, const std::string& id) {
    Info info = pmem.info(id);
    if (info.is_unlimited) info.dims[0] = 0;  // as long as its blocks make it
    return info.type.name() + to_string(info.dims) + to_string(info.codec) +
           (info.fill_value.empty() ? "" : " filled") + (info.order == Order::c ? " c" : " fortran");
}

void add_attributes(const PMEM& pmem, const std::string& id, std::vector<Piece>& pieces) {
    for (const std::string& name : pmem.attributes(id)) {
        pieces.push_back({Piece::Kind::attribute, id, name, {}, false, [id, name](const PMEM& p) {
                              std::string content;
                              p.get_attribute_encoded(id, name, write_into(content));
                              return content;
                          }});
    }
}

void add_boxes(const PMEM& pmem, const Info& info, std::vector<Piece>& pieces) {
    const std::uint64_t newest = pmem.info().committed_step;
    for (const BlockInfo& block : pmem.blocks(info.id)) {
        for (std::uint64_t step = 0; step < newest; ++step) {
            Piece piece{Piece::Kind::box, info.id, {}, block.box, step != 0, {}};
            const std::optional<std::uint64_t> asked = step == 0 ? std::nullopt : std::optional(step);
            piece.load = [piece, type = info.type, asked](const PMEM& p) {
                return load_box(p, piece, type, asked);
            };
            try {
                piece.load(pmem);
            } catch (const Error&) {
                continue;  // no older step knows this box
            }
            pieces.push_back(std::move(piece));
        }
    }
}

void fill_arrays(PMEM& pmem) {
    pmem.alloc<double>("A", Dimensions{16, 16});
    for (const std::uint64_t row : {0U, 8U}) {
        for (const std::uint64_t column : {0U, 8U})
            store_box(pmem, "A", Box{{row, column}, {8, 8}}, static_cast<double>(10 * row + column));
    }
    pmem.alloc<double>("g/growing", Dimensions{unlimited, 16});
    for (std::uint64_t row = 0; row < 12; ++row)
        store_box(pmem, "g/growing", Box{{row, 0}, {1, 16}}, 1000.0 * static_cast<double>(row));
    ArrayOptions filled;
    filled.fill(-1.0);
    filled.order = Order::fortran;
    pmem.alloc<double>("filled", Dimensions{20, 20}, filled);
    store_box(pmem, "filled", Box{{0, 0}, {20, 5}}, 7);
    store_box(pmem, "filled", Box{{5, 10}, {10, 10}}, 500);
    ArrayOptions in_place;
    in_place.contiguous = true;
    pmem.alloc<double>("in_place", Dimensions{30, 30}, in_place);
    {
        const auto whole = pmem.update<double>("in_place");
        std::iota(whole.begin(), whole.end(), 0.0);
    }
    pmem.freeze("in_place");
    if (is_available(Codec::Kind::zstd)) {
        ArrayOptions packed;
        packed.codec = parse_codec("zstd");
        pmem.alloc<double>("packed", Dimensions{2, 2000}, packed);
        for (const std::uint64_t row : {0U, 1U})
            store_box(pmem, "packed", Box{{row, 0}, {1, 2000}}, 3.0 * static_cast<double>(row));
    }
    pmem.alloc<double>("large", Dimensions{4000});
    store_box(pmem, "large", Box{{0}, {2500}}, 1);
    store_box(pmem, "large", Box{{2500}, {1500}}, 2);
    pmem.alloc<double>("overlapping", Dimensions{100});
    store_box(pmem, "overlapping", Box{{0}, {60}}, 1);
    store_box(pmem, "overlapping", Box{{40}, {60}}, 200);
}

}  // namespace

std::string Piece::name() const {
    std::string text = "'" + id + "'";
    if (kind == Kind::attribute) text += "@" + attribute;
    if (kind == Kind::box) text += " " + to_string(box);
    if (is_old) text += " of an older step";
    return text;
}

void fill_sample(PMEM& pmem) {
    pmem.store("v", 1);
    pmem.set_attribute("v", "units", "K");
    pmem.set_attribute("v", "valid", std::vector<double>{1.5, 2.5});
    pmem.store("w", std::string(5'000, 'w'));
    pmem.set_attribute("w", "note", std::string(3'000, 'n'));
    pmem.store("inline", std::string(400, 'i'));
    pmem.store("g/u", std::string(1'000, 'u'));
    pmem.store("g/h/deep", numbers(700, 3));
    pmem.set_attribute("g/h", "title", "of a group");
    pmem.set_attribute("/", "creator", "of all");
    pmem.store("before", std::string(900, 'r'));
    pmem.rename("before", "renamed");
    fill_arrays(pmem);
    for (int i = 0; i < 12; ++i) pmem.store("many/" + std::to_string(i), i);
    pmem.store("gone", std::string(2'500, 'g'));
    pmem.erase("gone");
    pmem.alloc<double>("T", Dimensions{2, 40});
    for (const std::uint64_t step : {1U, 2U}) {
        pmem.begin(step);
        pmem.store("s", static_cast<int>(step));
        for (const std::uint64_t row : {0U, 1U})
            store_box(pmem, "T", Box{{row, 0}, {1, 40 - 20 * (step - 1)}}, 100 * static_cast<double>(step));
        pmem.commit(step);
    }
}

std::vector<Piece> pieces_of(const PMEM& pmem) {
    std::vector<Piece> pieces;
    for (const std::string& id : pmem.ids()) {
        const Info info = pmem.info(id);
        if (info.kind == VariableKind::array) {
            pieces.push_back({Piece::Kind::array, id, {}, {}, false, [id](const PMEM& p) {
                                  return describe_array(p, id);
                              }});
            add_boxes(pmem, info, pieces);
        } else {
            pieces.push_back({Piece::Kind::value, id, {}, {}, false, [id](const PMEM& p) {
                                  std::string content;
                                  p.load_encoded(id, write_into(content));
                                  return content;
                              }});
        }
        add_attributes(pmem, id, pieces);
    }
    for (const std::string& id : pmem.groups()) {
        pieces.push_back({Piece::Kind::group, id, {}, {}, false, [id](const PMEM& p) {
                              return std::string(p.exists(id) ? "there"
                                                              : throw Error(Code::not_found, "no group"));
                          }});
        add_attributes(pmem, id, pieces);
    }
    add_attributes(pmem, "/", pieces);
    return pieces;
}

}  // namespace pmemcpy::faults
