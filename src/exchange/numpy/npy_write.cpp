// One array of a pool as .npy: the elements as they lie in the pool, in its own order.

#include "exchange/numpy/npy_write.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "exchange/formats.hpp"
#include "exchange/numpy/npy_header.hpp"
#include "exchange/numpy/plain_file.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

/// What it was imported from, if it still is of that type.
std::optional<NumpyElement> original(const nlohmann::json& origin, const Type& type) {
    if (!origin.is_object() || !origin.contains("descr")) return {};
    try {
        NumpyElement element = element_of_numpy(origin["descr"]);
        if (element.type != type || element.bytes == 0) return {};
        element.notes.clear();  // of what an import loses
        return element;
    } catch (const Error&) {  // somebody has changed the attribute, which nobody has to have
        return {};
    }
}

NumpyElement bytes_of_text(const Type& type) {
    return {.type = type,
            .descr = "|S" + std::to_string(type.size()),
            .bytes = type.size(),
            .notes = {"text that is no UTF-8; it becomes bytes"}};
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + names[i];
    return text + (names.size() > most ? ", ..." : "");
}

}  // namespace

NpyStream::NpyStream(const Variable& variable, Holding& holding) : variable_(variable), holding_(holding) {
    variable.info.kind == VariableKind::array ? prepare_array() : prepare_value();
    for (const std::string& note : element_.notes) holding.warn(variable.path, note);
    warn_of_losses();
    rewind();
}

void NpyStream::prepare_array() {
    const Info& info = variable_.info;
    element_ = original(variable_.origin, info.type).value_or(numpy_of(info.type));
    is_fortran_ = info.order == Order::fortran && info.dims.size() > 1 && info.type.kind() != Kind::array;
    if (!element_.texts.empty()) {
        TextSeen seen;
        std::vector<std::byte> bytes;
        each_piece(Box::whole(info.dims), {}, info.type.size(), holding_.piece_bytes(), [&](const Box& box) {
            bytes.resize(box.elements() * info.type.size());
            holding_.look(variable_, bytes.data(), box);
            look_at_text(element_, bytes, seen);
        });
        settle_text(seen);
    }
    make_header(info.dims);
}

void NpyStream::prepare_value() {
    Datum datum = holding_.value(variable_);
    const bool is_json = datum.is_json();
    Dimensions dims;
    if (datum.is_text() || is_json) {
        element_.type = Type::fixed_string(std::max<std::uint64_t>(datum.bytes.size(), 1));
        datum.bytes.resize(element_.type.size());
        element_ = numpy_text_of(element_.type, datum.bytes.size());
    } else if (datum.is_plain()) {
        const Type& type = datum.element();
        element_ = original(variable_.origin, type).value_or(numpy_of(type));
        dims = datum.shape();
        if (dims.elements() * type.size() != datum.bytes.size()) {
            throw Error(Code::corrupt, "'" + variable_.path + "': " + std::to_string(datum.bytes.size()) +
                                           " bytes are no " + datum.type.name());
        }
    } else {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    if (!element_.texts.empty()) {
        TextSeen seen;
        look_at_text(element_, datum.bytes, seen);
        settle_text(seen);
    }
    if (is_json) element_.notes.emplace_back("a structure of JSON; it becomes text");
    const auto converted = to_numpy(element_, datum.bytes, converted_);
    value_.assign(converted.begin(), converted.end());
    make_header(dims);
}

void NpyStream::settle_text(const TextSeen& seen) {
    const Type type = element_.type;
    if (type.kind() != Kind::fixed_string) {
        if (!seen.fits) element_ = numpy_of(type);
    } else if (!seen.is_utf8) {
        element_ = bytes_of_text(type);
    } else if (!seen.fits || numpy_of(type).descr == element_.descr) {
        element_ = numpy_text_of(type, std::max<std::uint64_t>(seen.longest, 1));
    }
}

void NpyStream::warn_of_losses() const {
    std::vector<std::string> lost;
    for (const Datum& datum : holding_.attributes(variable_.path)) {
        const bool is_known =
            datum.name == "units" && !element_.units.empty() && datum.text() == element_.units;
        if (!is_known) lost.push_back("@" + datum.name);
    }
    if (!variable_.dimensions.empty()) lost.emplace_back("the names of its dimensions");
    if (!variable_.info.fill_value.empty()) lost.emplace_back("its fill value");
    if (variable_.info.is_unlimited) lost.emplace_back("that it can grow");
    if (!lost.empty()) {
        holding_.warn(variable_.path,
                      "NumPy's files hold elements only; not exported: " + listed(lost, lost.size()));
    }
}

void NpyStream::make_header(const Dimensions& dims) {
    std::vector<Extent> shape(dims.begin(), dims.end());
    const Dimensions& inner = element_.type.dimensions();
    shape.insert(shape.end(), inner.begin(), inner.end());
    header_ = make_npy_header(element_.descr, is_fortran_, shape);
    elements_bytes_ = dims.elements() * element_.bytes;
}

void NpyStream::rewind() {
    const Info& info = variable_.info;
    ready_ = std::as_bytes(std::span(header_));
    is_value_read_ = false;
    if (info.kind != VariableKind::array) return;
    const Box whole = Box::whole(info.dims);
    pieces_.emplace(is_fortran_ ? reversed(whole) : whole, Dimensions(),
                    std::max(info.type.size(), element_.bytes), holding_.piece_bytes());
}

void NpyStream::rest() {
    ready_ = {};
    for (auto* room : {&loaded_, &turned_, &converted_}) *room = std::vector<std::byte>();
}

bool NpyStream::load_next() {
    if (variable_.info.kind != VariableKind::array) {
        if (std::exchange(is_value_read_, true)) return false;
        ready_ = value_;
        return true;
    }
    const std::optional<Box> piece = pieces_->next();
    if (!piece) return false;
    if (is_fortran_) {
        loaded_.resize(piece->elements() * variable_.info.type.size());
        holding_.load(variable_, loaded_.data(), reversed(*piece));
        ready_ = to_numpy(element_, loaded_, converted_);
    } else {
        ready_ = to_numpy(element_, holding_.load_as_c(variable_, *piece, loaded_, turned_), converted_);
    }
    return true;
}

std::size_t NpyStream::read(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size() && (!ready_.empty() || load_next())) {
        const std::size_t n = std::min(ready_.size(), into.size() - done);
        std::copy_n(ready_.begin(), n, into.begin() + static_cast<std::ptrdiff_t>(done));
        ready_ = ready_.subspan(n);
        done += n;
    }
    return done;
}

void warn_of_groups(const Holding& holding) {
    for (const std::string& group : holding.groups()) {
        std::vector<std::string> lost;
        for (const Datum& datum : holding.attributes(group)) lost.push_back("@" + datum.name);
        if (!lost.empty())
            holding.warn(group,
                         "NumPy's files hold elements only; not exported: " + listed(lost, lost.size()));
        const bool is_empty =
            std::none_of(holding.variables().begin(), holding.variables().end(),
                         [&](const Variable& variable) { return variable.path.starts_with(group + "/"); });
        if (is_empty && !group.empty()) holding.warn(group, "an empty group; not exported");
    }
}

void write_npy(const std::string& path, Holding& holding) {
    if (holding.variables().size() != 1) {
        std::vector<std::string> names;
        for (const Variable& variable : holding.variables()) names.push_back(variable.path);
        throw Error(Code::invalid_argument, names.empty()
                                                ? "there is no array to export"
                                                : "a .npy file holds one array, and here are " +
                                                      std::to_string(names.size()) + " (" + listed(names, 5) +
                                                      "); name one of them, as POOL:" + names[0] +
                                                      ", or export them all to .npz");
    }
    warn_of_groups(holding);
    NpyStream stream(holding.variables()[0], holding);
    holding.count_variable();
    PlainFile file = PlainFile::made(path);
    std::vector<std::byte> room(1 << 20);
    while (const std::size_t n = stream.read(room)) file.write(std::span(room).first(n));
    file.close();
}

}  // namespace pmemcpy::exchange
