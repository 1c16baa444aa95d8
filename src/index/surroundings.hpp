#pragma once

#include <map>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::index {

class Object;

inline constexpr std::string_view pool_id = "/";

/// What the objects that one query looks at lie in: groups and the pool, each read once, however many members ask for its attributes.
/// Sharing: one thread at a time.
class Surroundings {
public:
    explicit Surroundings(const PMEM& pool);
    ~Surroundings();
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;

    /// Of what an object lies in the nearest that has an attribute of this name: the innermost group first, "/" last. Null: none has.
    Object* nearest_with(const std::string& id, const std::string& attribute);
    /// The pool itself as an object: "/", a group that all lies in. Null where it has no attribute, and is none.
    Object* pool();
    /// False for what is not there.
    bool has_attributes(const std::string& group);

private:
    Object& at(std::string_view id);

    const PMEM* pool_;
    std::map<std::string, std::unique_ptr<Object>, std::less<>> seen_;
};

}  // namespace pmemcpy::index
