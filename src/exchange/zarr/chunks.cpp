#include "exchange/zarr/chunks.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

namespace {

namespace fs = std::filesystem;

/// A number as it is written in a key: no zeros before it, and below `end`.
std::optional<Extent> extent_of(std::string_view text, Extent end) {
    Extent extent = 0;
    const char* last = text.data() + text.size();
    if (text.empty() || (text.size() > 1 && text[0] == '0') ||
        std::from_chars(text.data(), last, extent) != std::from_chars_result{last, std::errc()} ||
        extent >= end)
        return {};
    return extent;
}

template <class Visit>
void each_name(const std::string& folder, Visit&& visit) {
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error))
        visit(at->path().filename().string());
    // An array of which nothing was written has no folder of chunks; a stray file among the folders is none.
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
        fail_kernel("cannot read " + folder, error.value());
}

class Search {
public:
    explicit Search(const Dimensions& grid) : grid_(grid), place_(Dimensions::filled(grid.size(), 0)) {}

    /// Folders within folders, one for each dimension but the last.
    void nested(const std::string& folder, int d) {
        each_name(folder, [&](const std::string& name) {
            const auto extent = extent_of(name, grid_[d]);
            if (!extent) return;
            place_[d] = *extent;
            if (d + 1 == grid_.size()) return found();
            nested(folder + "/" + name, d + 1);
        });
    }

    void flat(const std::string& folder, std::string_view prefix) {
        each_name(folder, [&](std::string_view name) {
            if (!name.starts_with(prefix)) return;
            name.remove_prefix(prefix.size());
            for (int d = 0; d < grid_.size(); ++d) {
                const std::size_t end = d + 1 < grid_.size() ? name.find('.') : name.size();
                if (end == std::string_view::npos) return;
                const auto extent = extent_of(name.substr(0, end), grid_[d]);
                if (!extent) return;
                place_[d] = *extent;
                name.remove_prefix(std::min(end + 1, name.size()));
            }
            found();
        });
    }

    std::vector<std::uint64_t> sorted() {
        std::sort(all_.begin(), all_.end());
        return std::move(all_);
    }

private:
    void found() { all_.push_back(number_of_place(place_, grid_)); }

    const Dimensions& grid_;
    Dimensions place_;
    std::vector<std::uint64_t> all_;
};

}  // namespace

std::uint64_t number_of_place(const Dimensions& place, const Dimensions& grid) {
    std::uint64_t number = 0;
    for (int d = 0; d < grid.size(); ++d) number = number * grid[d] + place[d];
    return number;
}

Dimensions place_of_number(std::uint64_t number, const Dimensions& grid) {
    Dimensions place = Dimensions::filled(grid.size(), 0);
    for (int d = grid.size(); d-- > 0; number /= grid[d]) place[d] = number % grid[d];
    return place;
}

Box box_of_chunk(const Dimensions& place, const ZarrArray& array) {
    Box box{place, array.chunk};
    for (int d = 0; d < place.size(); ++d) {
        box.offset[d] = place[d] * array.chunk[d];
        box.count[d] = std::min(array.chunk[d], array.shape[d] - box.offset[d]);
    }
    return box;
}

std::vector<std::uint64_t> zarr_chunks_in(const std::string& folder, const ZarrArray& array) {
    const Dimensions grid = array.grid();
    if (grid.empty()) {
        std::error_code error;
        return fs::exists(folder + "/" + array.key({}), error) ? std::vector<std::uint64_t>{0}
                                                               : std::vector<std::uint64_t>{};
    }
    Search search(grid);
    if (array.separator == '/') {
        search.nested(array.is_key_of_v2 ? folder : folder + "/c", 0);
    } else {
        search.flat(folder, array.is_key_of_v2 ? "" : "c.");
    }
    return search.sorted();
}

}  // namespace pmemcpy::exchange
