#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

/// What diff finds: printed as it comes, kept for one JSON answer, or only noticed.
class Findings {
public:
    enum class Form { text, json, quiet };
    Findings(Form form, Progress& progress) : form_(form), progress_(progress) {}

    /// `what` is the kind of the difference and `details` what JSON tells of it; `text` is what a person is told
    /// of the id.
    void add(const std::string& id, const char* what, const nlohmann::ordered_json& details,
             const std::string& text);
    bool any() const noexcept { return any_; }
    /// Nobody wants to know more.
    bool is_enough() const noexcept { return any_ && form_ == Form::quiet; }
    Form form() const noexcept { return form_; }
    /// After the last one.
    void finish();

private:
    Form form_;
    Progress& progress_;
    bool any_ = false;
    nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

}  // namespace pmemcpy::cli
