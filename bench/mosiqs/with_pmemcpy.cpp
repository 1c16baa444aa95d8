// pMEMCPY: one pool in one file. An object is a plain value, as a std::vector<float> would be, and its attributes are attributes.

#include <cstring>
#include <map>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>

#include "index_mode.hpp"
#include "library.hpp"

namespace mosiqs {
namespace {

using pmemcpy::Condition;
using pmemcpy::Key;

class Pmemcpy : public Library {
public:
    Pmemcpy(std::string_view mode, bool views) : mode_(mode), views_(views) { set_index(options_, mode_); }

    void open(const std::string& path, Access access) override {
        options_.mode = access == Access::create   ? pmemcpy::Mode::exclusive
                        : access == Access::update ? pmemcpy::Mode::update
                                                   : pmemcpy::Mode::read;
        pmem_.mmap(path, options_);
    }
    void close() override { pmem_.munmap(); }

    void prepare(std::string_view /*group*/, std::uint64_t /*bytes*/, std::uint64_t bytes_in_all) override {
        pmem_.prepare(bytes_in_all);
    }

    void store(const Object& object) override {
        const std::string_view id = id_of(object.group, object.name);
        pmem_.store_encoded(id, type_, pmemcpy::SerializerType::none, pmemcpy::BytesEncoder(object.data));
        annotate(id, object.attributes);
    }
    void annotate_group(std::string_view group, std::span<const Attribute> attributes) override {
        pmem_.make_group(group);
        annotate(group, attributes);
    }
    void catch_up() override { flush_index_of(pmem_, mode_); }

    void load(std::string_view group, std::string_view name, std::span<std::byte> bytes) override {
        pmem_.load_encoded(id_of(group, name), [&](const pmemcpy::Type&, pmemcpy::SerializerType,
                                                   std::span<const std::byte> stored) {
            if (stored.size() != bytes.size()) throw std::runtime_error(id_ + " has another size");
            pmemcpy::copy_out(bytes.data(), stored.data(), stored.size());
        });
    }
    void with(std::string_view group, std::string_view name, std::span<std::byte> buffer,
              const std::function<void(std::span<const std::byte>)>& use) override {
        if (!views_) return Library::with(group, name, buffer, use);
        const pmemcpy::Pinned bytes = pmem_.view_bytes(id_of(group, name));
        use(bytes.bytes());
    }
    Value attribute(std::string_view group, std::string_view name, const std::string& key) override {
        const std::string_view id = id_of(group, name);
        const pmemcpy::Kind kind = pmem_.attribute_info(id, key).type.kind();
        if (kind == pmemcpy::Kind::string) return pmem_.get_attribute<std::string>(id, key);
        if (kind == pmemcpy::Kind::float64) return pmem_.get_attribute<double>(id, key);
        return pmem_.get_attribute<std::int64_t>(id, key);
    }

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) override {
        ask(prepared(equal_, key, [](const Key& asked) { return asked == pmemcpy::Parameter{}; }),
            {std::visit([](const auto& plain) { return pmemcpy::Literal(plain); }, value)}, ids);
    }
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) override {
        ask(prepared(
                between_, key,
                [](const Key& asked) { return asked.between(pmemcpy::Parameter{}, pmemcpy::Parameter{}); }),
            {first, last}, ids);
    }
    void containing(std::string_view text, std::vector<std::string>& ids) override {
        ask({Key("@name").contains(text)}, {}, ids);
    }
    void members(std::string_view group, std::vector<std::string>& ids) override {
        ask({Condition::under(group) && Key("@kind") != "group"}, {}, ids);
    }
    std::uint64_t count_attributes(std::string_view group) override { return pmem_.info(group).attributes; }

private:
    using Queries = std::map<std::string, pmemcpy::Query>;

    /// Made once for each key, as SQLite's statements are.
    template <class Make>
    static const pmemcpy::Query& prepared(Queries& queries, const std::string& key, Make&& make) {
        const auto known = queries.find(key);
        return known != queries.end() ? known->second
                                      : queries.emplace(key, make(Key::attribute(key))).first->second;
    }
    void ask(const pmemcpy::Query& query, std::initializer_list<pmemcpy::Literal> values,
             std::vector<std::string>& ids) {
        pmemcpy::add_ids(pmem_, query, std::span(values), ids);
    }
    void annotate(std::string_view id, std::span<const Attribute> attributes) {
        attributes_.clear();
        for (const auto& [key, value] : attributes)
            std::visit([&, &name = key](const auto& plain) { attributes_.emplace_back(name, plain); }, value);
        pmem_.set_attributes(id, attributes_);
    }
    std::string_view id_of(std::string_view group, std::string_view name) {
        id_.assign(group);
        if (!id_.empty()) id_ += '/';
        return id_ += name;
    }

    const pmemcpy::Type type_ = pmemcpy::type_of<std::vector<float>>();
    std::string mode_;
    bool views_;
    pmemcpy::Options options_;
    pmemcpy::PMEM pmem_;
    std::vector<pmemcpy::Attribute> attributes_;  // of one object
    Queries equal_;
    Queries between_;
    std::string id_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"pmemcpy-none", "one pool in one file, no index"},
    {"pmemcpy-sync", "an index that has an object's attributes when the store returns"},
    {"pmemcpy-async", "an index that a thread brings up to date behind the stores"},
    {"pmemcpy-view", "as pmemcpy-none, and objects are used where they lie in the pool"},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    const bool views = variant == "pmemcpy-view";
    return std::make_unique<Pmemcpy>(
        views ? "none" : std::string_view(variant).substr(std::string_view("pmemcpy-").size()), views);
}

}  // namespace mosiqs
