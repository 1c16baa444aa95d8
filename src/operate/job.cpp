#include "operate/job.hpp"

#include "base/hash.hpp"
#include "operate/array.hpp"
#include "operate/hints.hpp"
#include "operate/registry.hpp"
#include "os/process.hpp"
#include "pool/locks.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace pmemcpy::operate {

namespace {

constexpr std::string_view draft_prefix = ".operating-";
constexpr std::string_view source_attribute = "operation_source";
constexpr int most_loads = 3;

void erase_if_there(store::Store& store, const std::string& id) {
    try {
        store.erase(id);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
}

template <class T>
void set_attribute(store::Store& store, const std::string& id, std::string_view name, const T& value) {
    store.set_attribute(id, name, detail::value_type<T>(), SerializerType::bp4,
                        *make_encoder(SerializerType::bp4, value));
}

/// While this lives its thread is in a registered function, with the lock of the variable.
class InFunction {
public:
    InFunction() { ++depth_; }
    ~InFunction() { --depth_; }
    InFunction(const InFunction&) = delete;
    InFunction& operator=(const InFunction&) = delete;
    static bool is_in_one() { return depth_ != 0; }

private:
    inline static thread_local int depth_ = 0;
};

/// What becomes of one variable.
class Job {
public:
    Job(store::Store& store, const std::string& id, const Hint& hint, const Functions& functions,
        const IsWanted& is_wanted)
        : store_(store),
          id_(id),
          hint_(hint),
          functions_(functions),
          is_wanted_(is_wanted),
          draft_(std::string(draft_prefix) + std::to_string(lock_number(id))) {}

    Made run() {
        made_.content = store_.content_fingerprint(id_);
        if (wants(operation::decompress)) store_.recode(id_, Codec{});
        constexpr std::uint32_t in_place = operation::decompress | operation::compress | operation::persist;
        std::string end = id_;  // of the chain
        if ((hint_.mask & ~in_place) != 0) {
            OperationArray array = load();
            reduce(array);
            end = transform(std::move(array));
        }
        if (wants(operation::compress) && end == id_) store_.recode(id_, hint_.codec);
        if (wants(operation::persist)) persist(end);
        return std::move(made_);
    }

private:
    bool wants(std::uint32_t bit) const { return (hint_.mask & bit) != 0; }

    // All of it, as it was at one moment.
    OperationArray load() {
        for (int attempt = 0; attempt < most_loads; ++attempt) {
            made_.content = store_.content_fingerprint(id_);
            const Info info = store_.info(id_);
            OperationArray array{info.type, info.dims};
            std::uint64_t bytes = 0;
            if (__builtin_mul_overflow(info.dims.elements(), info.type.size(), &bytes))
                throw Error(Code::unsupported, "'" + id_ + "' is too large for memory");
            array.data.resize(bytes);
            const Box all = Box::whole(info.dims);
            try {
                if (bytes > 0) store_.load(id_, info.type, array.data.data(), all, {});
            } catch (const Error& error) {
                if (error.kind() == Code::not_found) throw Incomplete{error.what()};
                throw;
            }
            if (store_.content_fingerprint(id_) != made_.content) continue;
            if (info.order == Order::fortran) std::reverse(array.dims.begin(), array.dims.end());
            make_native(array);
            return array;
        }
        throw Error(Code::busy,
                    "'" + id_ + "' is stored into while it is read; operate on it when that has an end");
    }

    void reduce(const OperationArray& array) {
        if (wants(operation::minimum)) publish(id_ + ".min", "min", least(array));
        if (wants(operation::maximum)) publish(id_ + ".max", "max", greatest(array));
        if (wants(operation::sum)) publish(id_ + ".sum", "sum", sum(array));
        if (!wants(operation::histogram)) return;
        const Histogram found = histogram(array, hint_.bins);
        publish(id_ + ".histogram", "histogram", found.counts, [&](const std::string& draft) {
            set_attribute(store_, draft, "low", found.low);
            set_attribute(store_, draft, "high", found.high);
        });
    }

    // Only what the last of these has made is kept. Returns its id.
    std::string transform(OperationArray array) {
        std::string name = id_;
        std::string operations;
        const auto add = [&](const std::string& operation, const std::string& suffix, OperationArray made) {
            array = std::move(made);
            operations += (operations.empty() ? "" : ", ") + operation;
            name += "." + suffix;
        };
        if (wants(operation::deduplicate)) add("deduplicate", "unique", deduplicated(array));
        if (wants(operation::sort)) add("sort", "sorted", sorted(array));
        for (const Registered& one : registered_in(store_)) {
            if (wants(operation::registered(one.number))) add(one.name, one.name, call(one, array));
        }
        if (operations.empty()) return name;
        if (wants(operation::compress)) operations += ", compress";
        publish(name, operations, array);
        return name;
    }

    OperationArray call(const Registered& one, const OperationArray& array) {
        if (!one.in_process)
            return call_library(one.name, open_library(store_, one.name), array, one.limits, is_wanted_);
        const Operate function = functions_(one.name);
        if (!function)
            throw Error(Code::unsupported,
                        "function '" + one.name + "' is one of another process, and not of this one");
        OperationArray made = [&] {
            const InFunction in_function;
            return function(array);
        }();
        if (!made.type.is_fixed_size() || made.dims.elements() * made.type.size() != made.data.size())
            throw Error(Code::invalid_argument,
                        "function '" + one.name + "': its output has another size than it says");
        return made;
    }

    // What an earlier run has made. Errors: already_exists, where something else has the name.
    std::optional<Oid> earlier(const std::string& result) const {
        std::optional<Oid> there;
        std::string source;
        try {
            there = store_.oid(result);
            store_.get_attribute(result, source_attribute,
                                 [&](const Type&, SerializerType, std::span<const std::byte> bytes) {
                                     source.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                                 });
            if (store_.oid(result) != *there) source.clear();  // it was of another one
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
        if (!there || source == id_) return there;
        throw Error(Code::already_exists, "'" + result + "' is there and did not come of '" + id_ +
                                              "', so it is left as it is; give it another name");
    }

    // Made under another name, with all that belongs to it, and then given its own.
    void publish(const std::string& result, const std::string& operations, const OperationArray& made,
                 const std::function<void(const std::string&)>& describe = {}) {
        const std::optional<Oid> before = earlier(result);
        erase_if_there(store_, draft_);
        try {
            fill(made);
            set_attribute(store_, draft_, "operation", operations);
            set_attribute(store_, draft_, source_attribute, id_);
            set_attribute(store_, draft_, "operation_version", made_.content);
            set_attribute(store_, draft_, "operation_time",
                          datetime64<TimeUnit::nanosecond>{static_cast<std::int64_t>(os::wall_ns())});
            set_attribute(store_, draft_, "operation_program", os::program_name());
            if (describe) describe(draft_);
            if (before) carry_hint(store_, result, store_, draft_);
            if (!is_wanted_()) throw Stopped{};
            // Only what was looked at gives way: a variable that a user has stored under that name meanwhile keeps it, and the rename is
            // refused.
            if (before) store_.erase_if(result, *before);
            store_.rename(draft_, result);
        } catch (...) {
            erase_if_there(store_, draft_);
            throw;
        }
        made_.ids.push_back(result);
    }

    void fill(const OperationArray& made) {
        if (made.dims.empty())
            return store_.store_value(draft_, made.type, SerializerType::bp4, BytesEncoder(made.data));
        ArrayOptions options;
        if (wants(operation::compress)) options.codec = hint_.codec;
        store_.alloc(draft_, made.type, made.dims, options);
        store_.store(draft_, made.type, made.data.data(), Box::whole(made.dims), {});
    }

    void persist(const std::string& end) {
        if (store_.targets().size() < 2) return store_.sync();
        store_.flush(end, {}, [&](const FlushProgress&) { return is_wanted_(); });
        if (!is_wanted_()) throw Stopped{};
    }

    store::Store& store_;
    const std::string& id_;
    const Hint& hint_;
    const Functions& functions_;
    const IsWanted& is_wanted_;
    const std::string draft_;
    Made made_;
};

}  // namespace

std::uint64_t lock_number(std::string_view id) { return base::xxh3_64(id) % pool::operation_byte_count; }

std::string trouble_with(const store::Store& store, std::uint32_t mask, const Functions& functions) {
    for (const Registered& one : registered_in(store)) {
        if ((mask & operation::registered(one.number)) == 0) continue;
        if (one.in_process && !functions(one.name))
            return "function '" + one.name + "' is one of another process";
        if (one.in_process) continue;
        try {
            open_library(store, one.name);
        } catch (const Error& error) {
            if (error.kind() == Code::permission_denied) return error.what();
        }
    }
    return {};
}

Made operate_on(store::Store& store, const std::string& id, const Hint& hint, const Functions& functions,
                const IsWanted& is_wanted) {
    return Job(store, id, hint, functions, is_wanted).run();
}

void refuse_in_function(const char* what) {
    if (!InFunction::is_in_one()) return;
    throw Error(Code::unsupported, std::string(what) +
                                       " inside a registered function: it could wait for that function; "
                                       "give the result a hint of its own, or call it after the operation");
}

void sweep_drafts(store::Store& store) {
    for (const std::string& id : store.ids(draft_prefix, false)) {
        std::uint64_t number = 0;
        const char* const end = id.data() + id.size();
        if (std::from_chars(id.data() + draft_prefix.size(), end, number).ec != std::errc{}) continue;
        const auto lock = store.try_operate(number);
        if (lock) erase_if_there(store, id);
    }
}

}  // namespace pmemcpy::operate
