#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/hierarchy.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/colour.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::string group;
    std::optional<std::uint64_t> levels;
};

enum class Colour { group, faint };

std::string painted(const std::string& text, Colour colour, bool in_colour) {
    if (!in_colour) return text;
    const char* begin =
        colour == Colour::group ? "\033[1;34m" : "\033[2m";  // bold blue, as ls(1) has directories
    return begin + text + "\033[0m";
}

/// A line for each branch, the branches in a group behind it and further to the right.
class Drawing {
public:
    Drawing(std::uint64_t levels, bool in_colour) : levels_(levels), in_colour_(in_colour) {}

    void draw(const Branch& group) { draw(group, "", levels_); }
    const std::string& text() const { return text_; }
    std::string summary() const { return counted(groups_, "group") + ", " + counted(variables_, "variable"); }

private:
    void draw(const Branch& group, const std::string& margin, std::uint64_t levels) {
        if (levels == 0) return;
        for (const Branch& branch : group.inside) {
            const bool is_last = &branch == &group.inside.back();
            text_ += margin + (is_last ? "└── " : "├── ");
            if (branch.is_group()) {
                ++groups_;
                text_ += painted(printable(branch.name) + "/", Colour::group, in_colour_);
                if (levels == 1 && !branch.inside.empty())
                    text_ +=
                        painted(fmt::format("  {} inside", branch.inside.size()), Colour::faint, in_colour_);
                text_ += '\n';
                draw(branch, margin + (is_last ? "    " : "│   "), levels - 1);
            } else {
                ++variables_;
                text_ += printable(branch.name) +
                         painted("  " + described(*branch.info), Colour::faint, in_colour_) + '\n';
            }
        }
    }
    static std::string described(const Info& info) {
        const std::string shape = info.kind == VariableKind::array ? "  " + shape_text(info) : "";
        return short_type(info.type) + shape + "  " + human_size(info.bytes);
    }

    std::uint64_t levels_;
    bool in_colour_;
    std::string text_;
    std::size_t groups_ = 0;
    std::size_t variables_ = 0;
};

Json inside_json(const Branch& group, std::uint64_t levels);

Json branch_json(const Branch& branch, std::uint64_t levels) {
    Json json = {{"name", branch.name}};
    if (branch.info) {
        json.update(to_json(*branch.info));
    } else {
        json["id"] = branch.id;
        json["kind"] = "group";
    }
    if (branch.is_group() && levels > 0) json["inside"] = inside_json(branch, levels);
    return json;
}

Json inside_json(const Branch& group, std::uint64_t levels) {
    Json list = Json::array();
    for (const Branch& branch : group.inside) list.push_back(branch_json(branch, levels - 1));
    return list;
}

int tree(const Arguments& arguments, bool json) {
    if (arguments.levels == std::uint64_t{0})
        throw Error(Code::invalid_argument, "tree -L 0 leaves nothing to draw; -L 1 is what is outermost");
    const PMEM pmem = open_for_reading(arguments.pool);
    std::string group = arguments.group;
    if (!group.empty() && group.back() == '/') group.pop_back();
    Branch root;
    {
        Progress progress("tree", Unit::variables);
        root = hierarchy(pmem, group, progress);
    }
    if (!root.is_group()) {
        throw Error(
            Code::invalid_argument,
            fmt::format("{0} is no group, it is {1}; `pmemcpy info {2} {0}` tells what is known of it", group,
                        root.info->kind == VariableKind::array ? "an array" : "a value", arguments.pool));
    }
    const std::uint64_t levels = arguments.levels.value_or(UINT64_MAX);
    if (json) {
        Json answer;
        answer["pool"] = arguments.pool;
        answer["id"] = root.id.empty() ? "/" : root.id;
        answer["inside"] = inside_json(root, levels);
        fmt::print("{}\n", dump(answer));
        return exit_ok;
    }
    Drawing drawing(levels, use_colour(stdout));
    drawing.draw(root);
    fmt::print("{}\n{}\n{}\n", printable(root.id.empty() ? arguments.pool : root.id + "/"), drawing.text(),
               drawing.summary());
    return exit_ok;
}

}  // namespace

void add_tree(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "tree",
         "Draw the groups and variables in a pool as a tree, with type, shape and size")
        .needs("POOL", arguments->pool, "The pool")
        .takes("GROUP", arguments->group, "Only what is in this group")
        .takes("-L,--levels", arguments->levels, "How deep to go into groups (default: to the bottom)")
        .takes_json("Print JSON, what is in a group inside of it")
        .runs([arguments](bool json) { return tree(*arguments, json); });
}

}  // namespace pmemcpy::cli
