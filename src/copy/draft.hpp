#pragma once

#include <pmemcpy/copy.hpp>
#include <string>

namespace pmemcpy::copy {

/// A name in the pool that nobody else has: a number between the two.
std::string name_of_ones_own(const PMEM& pool, const std::string& prefix, const std::string& ending = "");

/// What is under that name goes again, unless it was given another one.
class Draft {
public:
    explicit Draft(PMEM& pool);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    const std::string& id() const noexcept { return id_; }
    void erase();

private:
    PMEM& pool_;
    std::string id_;
};

/// Makes `draft`, of which there is none, a copy of `from` with its attributes: what copy_variable() gives its name then. An error
/// may leave it half made.
void fill(const PMEM& source, const std::string& from, PMEM& target, const std::string& draft,
          const Copied& copied);

/// As copy_attributes(), also from a private object to a shared one.
void fill_attributes(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                     bool force);

}  // namespace pmemcpy::copy
