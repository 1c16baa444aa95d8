#include "cli/watch/follow.hpp"

#include <algorithm>

namespace pmemcpy::cli {

namespace {

double rate(std::uint64_t bytes, std::uint64_t before_ns, std::uint64_t now_ns) {
    if (before_ns == 0 || now_ns <= before_ns) return 0;
    return static_cast<double>(bytes) / (static_cast<double>(now_ns - before_ns) / 1e9);
}

}  // namespace

std::vector<std::string> Follower::ids(const PMEM& pmem) const {
    if (id_.empty()) return pmem.ids();
    const std::vector<std::string> inside = pmem.ids(id_ + "/");
    return inside.empty() ? std::vector<std::string>{id_} : inside;
}

std::optional<News> Follower::compare(const Info& info, const std::vector<BlockInfo>& blocks) {
    const auto found = variables_.find(info.id);
    const bool was_there = found != variables_.end();
    const bool is_array = info.kind == VariableKind::array;
    const Versions& before = versions_[info.id];
    Versions now;
    News news;
    for (const BlockInfo& block : blocks) {
        now.push_back(block.version);
        if (!std::binary_search(before.begin(), before.end(), block.version)) news.bytes += block.bytes;
    }
    const bool is_new =
        !was_there || (is_array ? news.bytes != 0 : found->second.written_ns != info.written_ns);
    if (!is_array) news.bytes = info.bytes;
    news.info = info;
    if (was_there) news.bytes_per_second = rate(news.bytes, found->second.written_ns, info.written_ns);
    versions_[info.id] = std::move(now);
    variables_[info.id] = info;
    return is_new ? std::optional(std::move(news)) : std::nullopt;
}

std::vector<News> Follower::look(const PMEM& pmem) {
    std::vector<News> all;
    std::map<std::string, Info> gone = variables_;
    for (const std::string& id : ids(pmem)) {
        Info info;
        std::vector<BlockInfo> blocks;
        try {
            info = pmem.info(id);
            if (info.kind == VariableKind::array) blocks = pmem.blocks(id);
        } catch (const Error& error) {
            if (error.kind() == Code::not_found) continue;
            // It has just become something else, or the pool is being recovered: the next look will tell.
            if (error.kind() != Code::type_mismatch && error.kind() != Code::busy) throw;
            gone.erase(id);
            continue;
        }
        if (info.kind == VariableKind::group) continue;
        gone.erase(id);
        if (auto news = compare(info, blocks); news && has_looked_) all.push_back(std::move(*news));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const News& a, const News& b) { return a.info.written_ns < b.info.written_ns; });
    for (const auto& [id, info] : gone) {
        variables_.erase(id);
        versions_.erase(id);
        News news;
        news.info.id = id;
        news.is_erased = true;
        all.push_back(std::move(news));
    }
    has_looked_ = true;
    return all;
}

void Follower::begin_anew() {
    variables_.clear();
    versions_.clear();
    has_looked_ = true;
}

}  // namespace pmemcpy::cli
