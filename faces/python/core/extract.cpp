#include "bindings.hpp"
#include "pool.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <pmemcpy/extract.hpp>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {
namespace {

thread_local bool is_in_function = false;  // of an extractor, whose thread this is then

/// Calls function(id) with Python's lock, and gives it back with that too, from whichever thread.
Extract calling(nb::object function) {
    const auto give_back = [](nb::object* held) {
        const nb::gil_scoped_acquire acquired;
        delete held;
    };
    const std::shared_ptr<nb::object> held(new nb::object(std::move(function)), give_back);
    return [held](PMEM&, const std::string& id) {
        const nb::gil_scoped_acquire acquired;
        is_in_function = true;
        try {
            (*held)(id);
        } catch (const nb::python_error& error) {
            throw std::runtime_error(error.what());
        }
    };
}

/// An extractor that can be closed before it is forgotten, while other threads run Python.
class Closable {
public:
    Closable(const Pool& pool, const std::string& name, const std::string& query, nb::object function) {
        Query parsed = Query::parse(query);
        Extract extract = calling(std::move(function));
        pool.call([&](const PMEM& pmem) {
            extractor_ = std::make_shared<Extractor>(pmem, name, parsed, std::move(extract));
        });
    }
    ~Closable() { let_go(); }
    Closable(const Closable&) = delete;
    Closable& operator=(const Closable&) = delete;

    /// Errors: unsupported when an extractor's function calls it.
    void close() {
        if (is_in_function)
            throw Error(Code::unsupported, "close: an extractor's function cannot close an extractor");
        let_go();
    }
    void let_go() {
        std::shared_ptr<Extractor> closing = std::move(extractor_);
        const nb::gil_scoped_release released;
        closing.reset();
    }
    void wait() {
        const std::shared_ptr<Extractor> extractor = open();
        const nb::gil_scoped_release released;
        extractor->wait();
    }
    ExtractorInfo info() { return open()->info(); }

private:
    std::shared_ptr<Extractor> open() const {
        if (!extractor_) throw Error(Code::invalid_argument, "the extractor is closed");
        return extractor_;
    }
    std::shared_ptr<Extractor> extractor_;
};

}  // namespace

void bind_extract(nb::module_& m) {
    nb::class_<ExtractorInfo>(m, "ExtractorInfo", "The calls of an extractor and its errors.")
        .def_ro("looked_at", &ExtractorInfo::looked_at)
        .def_ro("failed", &ExtractorInfo::failed)
        .def_ro("trouble", &ExtractorInfo::trouble);
    nb::class_<Closable>(m, "Extractor", "Calls a function with the id of each object that is stored.")
        .def(nb::init<const Pool&, const std::string&, const std::string&, nb::object>(), "pool"_a, "name"_a,
             "query"_a, "function"_a)
        .def("close", &Closable::close)
        .def("wait", &Closable::wait)
        .def("info", &Closable::info);
}

}  // namespace pmemcpy::python
