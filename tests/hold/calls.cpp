#include "calls.hpp"

#include <memory>
#include <numeric>

#include "base/hash.hpp"
#include "node.hpp"

namespace pmemcpy::hold {
namespace {

Call done(const std::string& name, const std::function<void(PMEM&)>& make) {
    return {name, [make](PMEM& pmem) {
                make(pmem);
                return std::string("ok");
            }};
}

std::string text_of(std::uint64_t number) { return std::to_string(number); }

constexpr std::size_t rows = 7;

}  // namespace

std::string hash_of(const void* bytes, std::size_t size) { return text_of(base::xxh3_64(bytes, size)); }

std::vector<double> numbers(std::size_t n, double first) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

Call open_pool(Mode mode) {
    return done(mode == Mode::read ? "open to read" : "open", [mode](PMEM& pmem) {
        Options options;
        options.mode = mode;
        pmem.mmap(Node::path, options);
    });
}
Call close_pool() {
    return done("close", [](PMEM& pmem) { pmem.munmap(); });
}
Call store_int(const std::string& id, int value) {
    return done("store " + id, [=](PMEM& pmem) { pmem.store(id, value); });
}
Call store_text(const std::string& id, std::size_t size, char fill) {
    return done("store " + id, [=](PMEM& pmem) { pmem.store(id, std::string(size, fill)); });
}
Call store_box(const std::string& id, const Box& box, double first) {
    return done("store box of " + id,
                [=](PMEM& pmem) { pmem.store<double>(id, numbers(box.elements(), first).data(), box); });
}
Call load_int(const std::string& id) {
    return {"load " + id, [=](PMEM& pmem) { return std::to_string(pmem.load<int>(id)); }};
}
Call load_text(const std::string& id) {
    return {"load " + id, [=](PMEM& pmem) {
                const auto text = pmem.load<std::string>(id);
                return hash_of(text.data(), text.size());
            }};
}
Call load_box(const std::string& id, const Box& box) {
    return {"load box of " + id, [=](PMEM& pmem) {
                std::vector<double> values(box.elements());
                pmem.load<double>(id, values.data(), box);
                return hash_of(values.data(), values.size() * sizeof(double));
            }};
}
Call alloc(const std::string& id, const Dimensions& dims) {
    return done("alloc " + id, [=](PMEM& pmem) { pmem.alloc<double>(id, dims); });
}
Call make_group(const std::string& id) {
    return done("make group " + id, [=](PMEM& pmem) { pmem.make_group(id); });
}
Call erase(const std::string& id) {
    Call call = done("erase " + id, [=](PMEM& pmem) { pmem.erase(id); });
    call.may_be_busy = true;  // of a group in which another is only making something
    return call;
}
Call rename(const std::string& from, const std::string& to) {
    Call call = done("rename " + from, [=](PMEM& pmem) { pmem.rename(from, to); });
    call.may_be_busy = true;  // where another is erasing it
    return call;
}
Call never_busy(Call call) {
    call.may_be_busy = false;
    return call;
}
Call set_attribute(const std::string& id, const std::string& name, const std::string& text) {
    return done("set " + id + "@" + name, [=](PMEM& pmem) { pmem.set_attribute(id, name, text); });
}
Call remove_attribute(const std::string& id, const std::string& name) {
    return done("remove " + id + "@" + name, [=](PMEM& pmem) { pmem.remove_attribute(id, name); });
}
Call begin(std::uint64_t step) {
    return done("begin", [=](PMEM& pmem) { pmem.begin(step); });
}
Call commit(std::uint64_t step) {
    return done("commit", [=](PMEM& pmem) { pmem.commit(step); });
}
Call abandon() {
    return done("abandon", [](PMEM& pmem) { pmem.abandon(); });
}
Call compact() {
    return done("compact", [](PMEM& pmem) { pmem.compact(); });
}
Call trim() {
    return done("trim", [](PMEM& pmem) { pmem.trim(); });
}

void set_up_everything(PMEM& pmem) {
    pmem.store("v", std::string(700, 'v'));
    pmem.set_attribute("v", "units", "K");
    pmem.store("w", 1);
    pmem.store("q", 2);
    pmem.rename("q", "r");
    pmem.store("g/x", 3);
    pmem.set_attribute("g", "who", "us");
    pmem.make_group("empty");
    pmem.alloc<double>("A", Dimensions{8, 8});
    pmem.store<double>("A", numbers(32, 0).data(), Box{{0, 0}, {4, 8}});
    pmem.store<double>("A", numbers(16, 100).data(), Box{{4, 0}, {4, 4}});
    pmem.alloc<double>("S", Dimensions{unlimited, 3});
    for (std::size_t i = 0; i < rows; ++i)
        pmem.store<double>("S", numbers(3, static_cast<double>(i)).data(), Box{{i, 0}, {1, 3}});
}

std::vector<std::vector<Call>> verbs_on_one_name() {
    return {{store_text("v", 700, 'x')},
            {store_int("v", 4)},
            {load_text("v")},
            {erase("v")},
            {rename("v", "z")},
            {rename("r", "v")},
            {set_attribute("v", "units", "C")},
            {remove_attribute("v", "units")},
            {begin(1), store_text("v", 700, 's'), commit(1)},
            {compact()},
            {erase("v"), store_text("v", 600, 'y')},
            {open_pool()}};
}

std::vector<std::vector<Call>> verbs_on_one_group() {
    // The group of what is stored is made by a call of its own: a store that dies may leave it.
    return {{make_group("empty/h"), store_int("empty/h/y", 2)},
            {store_int("empty/y", 1)},
            {alloc("empty/N", {4, 4})},
            {rename("w", "empty/w")},
            {erase("empty")},
            {rename("empty", "full")},
            {store_int("empty/y", 3), erase("empty/y"), erase("empty")}};
}

std::vector<std::vector<Call>> all_verbs() {
    const Call view = {"view A", [](PMEM& pmem) {
                           const Box box{{0, 0}, {4, 8}};
                           const auto seen = pmem.view<double>("A", box);
                           return hash_of(seen.data(), seen.size() * sizeof(double));
                       }};
    const Call get = {"get v@units",
                      [](PMEM& pmem) { return pmem.get_attribute<std::string>("v", "units"); }};
    const Call verify = {"verify", [](PMEM& pmem) {
                             const auto damages = pmem.verify();
                             return damages.empty() ? std::string("ok")
                                                    : damages[0].id + ": " + damages[0].what;
                         }};
    const Call step_v = store_text("v", 700, 's');
    const Call in_place = done("alloc C in place", [](PMEM& pmem) {
        ArrayOptions options;
        options.contiguous = true;
        pmem.alloc<double>("C", Dimensions{2, 8}, options);
    });
    const Call freeze = done("freeze C", [](PMEM& pmem) { pmem.freeze("C"); });
    std::vector<std::vector<Call>> verbs = {
        {store_int("n", 1)},
        {store_text("n", 9000, 'n')},
        {store_text("v", 700, 'x')},
        {store_int("v", 4)},
        {store_int("w", 5)},
        {load_text("v")},
        {load_int("w")},
        {load_box("A", {{0, 0}, {8, 4}})},
        {view},
        {store_box("A", {{4, 4}, {4, 4}}, 200)},
        {store_box("A", {{0, 0}, {4, 8}}, 300)},
        {store_box("A", {{0, 0}, {8, 8}}, 400)},
        {store_box("S", {{rows, 0}, {1, 3}}, 70)},
        {erase("v")},
        {erase("w")},
        {erase("A")},
        {erase("S")},
        {erase("empty")},
        {rename("v", "z")},
        {rename("r", "q")},
        {rename("A", "Z")},
        {set_attribute("v", "units", "C")},
        {set_attribute("v", "long", std::string(600, 'l'))},
        {set_attribute("g", "who", "them")},
        {remove_attribute("v", "units")},
        {get},
        {alloc("N", {4, 4}), store_box("N", {{0, 0}, {2, 4}}, 1)},
        {in_place, store_box("C", {{0, 0}, {2, 8}}, 5), freeze},
        {store_int("empty/y", 1)},
        {make_group("empty/h")},
        {compact()},
        {trim()},
        {verify},
        {begin(1), step_v, commit(1)},
        {begin(1), step_v, abandon()},
        {done("ids", [](PMEM& pmem) { pmem.ids(); })},
        {done("info", [](PMEM& pmem) { pmem.info(); })},
        {done("sync", [](PMEM& pmem) { pmem.sync(); })},
        {done("prepare", [](PMEM& pmem) { pmem.prepare(8192); })},
        {open_pool()},
        {open_pool(Mode::read)},
        {close_pool()},
    };
    return verbs;
}

}  // namespace pmemcpy::hold
