#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <pmemcpy/box.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace compare::arrays {

enum class Element { float64, float32, int32 };
std::size_t size_of(Element element);

struct Array {
    std::string name;
    Element element = Element::float64;
    pmemcpy::Dimensions shape;
    pmemcpy::Dimensions chunk;  // the box that a rank writes, for libraries that divide an array into such
};

/// What one run keeps: the same arrays in each of its time steps.
struct Content {
    std::vector<Array> arrays;
    std::uint64_t steps = 1;  // with a single one nothing is made of steps

    std::uint64_t bytes() const;
};

enum class Access {
    create,     // nothing is at the path
    overwrite,  // the same content is there, and takes new values
    read,
};

/// One library that keeps distributed arrays, as one rank of a program uses it that does what the library's own
/// documentation recommends. All calls are made by all ranks, in the same order.
class Library {
public:
    virtual ~Library() = default;

    /// What its users do once to a file that they will use for long, such as asking for huge pages. `bytes` of values are to
    /// be overwritten in it. Never timed.
    virtual void prepare(const std::string& path, std::uint64_t bytes);

    virtual void open(const std::string& path, Access access, const Content& content) = 0;
    virtual void begin_step(std::uint64_t step);
    /// `data` holds the selection densely and stays as it is until end_step(). May throw Unsupported.
    virtual void write(std::size_t array, const pmemcpy::Selection& where, const void* data) = 0;
    /// `data` has the values after end_step().
    virtual void read(std::size_t array, const pmemcpy::Selection& where, void* data) = 0;
    virtual void end_step();
    /// What was written so far survives a power loss, as far as the medium allows, when this returns.
    virtual void sync() = 0;
    virtual void close() = 0;
    /// Whether a rank can read what another one has written.
    virtual bool shares() const { return true; }
};

/// This library cannot do what is asked; the table shows a dash.
struct Unsupported : std::runtime_error {
    using runtime_error::runtime_error;
};

/// A way to use the library that is measured on its own.
struct Variant {
    std::string name;
    std::string what;  // in a sentence
};

// Each library's own file has these two.

extern const std::vector<Variant> variants;
/// `variant` is one of those.
std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm);

}  // namespace compare::arrays
