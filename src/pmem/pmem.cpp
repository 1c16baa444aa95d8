// The public class: forwards to the store, and keeps it only as long as it is mapped.

#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/pmemcpy.hpp>

#include "index/index.hpp"
#include "store/store.hpp"
#include "store/watching.hpp"

#include <algorithm>

namespace pmemcpy {

PMEM::PMEM() = default;
PMEM::~PMEM() = default;
PMEM::PMEM(PMEM&&) noexcept = default;
PMEM& PMEM::operator=(PMEM&&) noexcept = default;

void PMEM::mmap(const std::string& path, const Options& options) {
    if (store_)
        throw Error(Code::invalid_argument,
                    "this PMEM has a pool open already; munmap it first, or use another PMEM");
    const std::string place = resolve_pool(path, options.mode);
    bool is_new = false;
    auto opened = store::Store::open(place, options, &is_new);
    index_ = std::make_shared<index::Index>(opened, place, options, is_new);
    store_ = std::move(opened);
    if (!is_new || options.index == IndexMode::none) return;
    try {
        set_index_mode(*this, options.index);
    } catch (...) {
        munmap();
        throw;
    }
}

void PMEM::munmap() {
    if (!store_) return;
    if (index_) index_->close();
    index_.reset();
    const std::shared_ptr<store::Store> leaving = std::move(store_);
    store_.reset();
    if (!leaving->has_views()) return leaving->close();
    // Views need the pool until the last of them goes, and with it the store.
    if (leaving->durability() == Durability::page && !leaving->read_only()) leaving->sync();
}

bool PMEM::is_mapped() const noexcept { return store_ != nullptr; }

store::Store& PMEM::opened() const {
    if (!store_) throw Error(Code::invalid_argument, "no pool is open; call mmap(path) first");
    return *store_;
}

void PMEM::sync() { opened().sync(); }
Durability PMEM::durability() const { return opened().durability(); }
PoolInfo PMEM::info() const { return opened().info(); }
void PMEM::prepare(std::uint64_t bytes) { opened().prepare(bytes); }
void PMEM::compact() { opened().compact(); }
std::uint64_t PMEM::trim() { return opened().trim(); }
std::vector<Damage> PMEM::verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
    return opened().verify(progress);
}

Watch PMEM::watch(std::string_view id) const {
    opened();
    return Watch(std::make_shared<store::Watching>(store_, std::string(id)));
}

Pinned PMEM::view_bytes(std::string_view id) const { return opened().view_value(id); }

void PMEM::alloc(std::string_view id, const Type& type, const Dimensions& dims, const ArrayOptions& options) {
    opened().alloc(id, type, dims, options);
}
void PMEM::store(std::string_view id, const Type& type, const void* data, const Selection& selection,
                 const std::optional<Codec>& codec) {
    opened().store(id, type, data, selection, codec);
}
void PMEM::load(std::string_view id, const Type& type, void* data, const Selection& selection,
                std::optional<std::uint64_t> step) const {
    opened().load(id, type, data, selection, step);
}

void PMEM::load_dims(std::string_view id, int* ndims, std::size_t* dims) const {
    const Dimensions found = opened().dims(id);
    if (ndims != nullptr) *ndims = found.size();
    if (dims != nullptr) std::copy(found.begin(), found.end(), dims);
}
Dimensions PMEM::load_dims(std::string_view id) const { return opened().dims(id); }

PMEM::RawView PMEM::view(std::string_view id, const Type& type, const Selection& selection,
                         bool writable) const {
    return opened().view(id, type, selection, writable);
}
void PMEM::freeze(std::string_view id) { opened().freeze(id); }

bool PMEM::exists(std::string_view id) const { return opened().exists(id); }
void PMEM::make_group(std::string_view id) { opened().make_group(id); }
void PMEM::erase(std::string_view id) { opened().erase(id); }
void PMEM::rename(std::string_view from, std::string_view to) { opened().rename(from, to); }
std::vector<std::string> PMEM::ids(std::string_view prefix) const { return opened().ids(prefix, false); }
std::vector<std::string> PMEM::groups(std::string_view prefix) const { return opened().ids(prefix, true); }
Info PMEM::info(std::string_view id) const { return opened().info(id); }
std::vector<BlockInfo> PMEM::blocks(std::string_view id) const { return opened().blocks(id); }
Oid PMEM::oid(std::string_view id) const { return opened().oid(id); }
std::string PMEM::open(const Oid& oid) const { return opened().name_of(oid); }

std::vector<std::string> PMEM::attributes(std::string_view id) const { return opened().attributes(id); }
Info PMEM::attribute_info(std::string_view id, std::string_view name) const {
    return opened().attribute_info(id, name);
}
void PMEM::remove_attribute(std::string_view id, std::string_view name) {
    opened().remove_attribute(id, name);
}

void PMEM::begin(std::uint64_t step) { opened().begin(step); }
void PMEM::commit(std::uint64_t step) { opened().commit(step); }
void PMEM::abandon() { opened().abandon(); }

void PMEM::store_encoded(std::string_view id, const Type& type, SerializerType serializer,
                         const Encoder& encoder) {
    opened().store_value(id, type, serializer, encoder);
}
void PMEM::load_encoded(std::string_view id, const Decode& decode) const { opened().load_value(id, decode); }
void PMEM::set_attribute_encoded(std::string_view id, std::string_view name, const Type& type,
                                 SerializerType serializer, const Encoder& encoder) {
    opened().set_attribute(id, name, type, serializer, encoder);
}
void PMEM::get_attribute_encoded(std::string_view id, std::string_view name, const Decode& decode) const {
    opened().get_attribute(id, name, decode);
}
SerializerType PMEM::default_serializer() const { return opened().default_serializer(); }
bool PMEM::load_raw(std::string_view id, const Type& type, void* value, std::size_t bytes) const {
    return opened().load_raw(id, type, value, bytes);
}

namespace detail {

void throw_type_mismatch(std::string_view id, const Type& stored, const Type& asked) {
    throw Error(Code::type_mismatch,
                "'" + std::string(id) + "' holds " + stored.name() + " and was asked for as " + asked.name());
}

}  // namespace detail

}  // namespace pmemcpy
