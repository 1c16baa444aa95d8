#pragma once

// What a test says of a model: that no interleaving breaks it, or which fault one leads to.

#include "checker.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <string>

namespace pmemcpy::model {

template <class Protocol>
Outcome explore(const std::string& name, const Protocol& protocol) {
    Outcome outcome = Checker<Protocol>(protocol).run();
    std::cout << "model: " << name << ": " << outcome.states << " states, " << outcome.transitions
              << " transitions" << (outcome.fault.empty() ? "" : "; " + outcome.fault + ":") << '\n';
    for (const std::string& line : outcome.interleaving) std::cout << "    " << line << '\n';
    return outcome;
}

/// No interleaving breaks it; and there were at least so many states, or the model has come to be about nothing.
template <class Protocol>
void expect_sound(const std::string& name, const Protocol& protocol, std::size_t least_states) {
    const Outcome outcome = explore(name, protocol);
    EXPECT_EQ(outcome.fault, "") << name;
    EXPECT_GE(outcome.states, least_states) << name;
}

/// Some interleaving leads to this fault.
template <class Protocol>
void expect_fault(const std::string& name, const Protocol& protocol, const std::string& fault) {
    const Outcome outcome = explore(name, protocol);
    EXPECT_EQ(outcome.fault, fault) << name;
    EXPECT_FALSE(outcome.interleaving.empty()) << name;
}

}  // namespace pmemcpy::model
