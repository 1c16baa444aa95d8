#include "cli/watch/announce.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <sstream>

#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/sink.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t now_ns() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

std::string clock_text(std::uint64_t ns) {
    return fmt::format("{}.{:03}", human_time(ns), ns / 1'000'000 % 1000);
}

std::string rate_text(double bytes_per_second) {
    if (!(bytes_per_second > 0)) return "-";
    return human_size(static_cast<std::uint64_t>(std::min(bytes_per_second, 1e18))) + "/s";
}

std::string step_text(const Info& info) { return info.step == 0 ? "-" : std::to_string(info.step); }

class Lines final : public Announcer {
public:
    explicit Lines(std::string pool) : pool_(std::move(pool)) {}

    void tell(const News& news) override {
        if (news.is_erased) {
            erased_.push_back(printable(news.info.id));
        } else {
            sink_.write(fmt::format("{}  step {:>6}  {:>9}  {:>11}  {}\n", clock_text(news.info.written_ns),
                                    step_text(news.info), human_size(news.bytes),
                                    rate_text(news.bytes_per_second), printable(news.info.id)));
        }
    }
    void tell_step(std::uint64_t step) override {
        sink_.write(fmt::format("{}  step {:>6}  committed\n", clock_text(now_ns()), step));
    }
    void tell(Followed::Fate fate) override {
        sink_.finish();
        note("{} {}", pool_,
             fate == Followed::Fate::gone ? "is gone; waiting for another one in its place"
                                          : "is another pool from here on");
    }
    void finish_look(const Follower&) override {
        // A program that keeps the last few steps erases many at once.
        if (!erased_.empty()) {
            sink_.write(
                fmt::format("{}  erased  {}{}\n", clock_text(now_ns()), erased_.front(),
                            erased_.size() == 1 ? "" : fmt::format(" and {} more", erased_.size() - 1)));
        }
        erased_.clear();
        sink_.finish();
    }

private:
    std::string pool_;
    std::vector<std::string> erased_;  // since the last look
    Sink sink_{""};
};

class JsonLines final : public Announcer {
public:
    explicit JsonLines(std::string pool) : pool_(std::move(pool)) {}

    void tell(const News& news) override {
        const Info& info = news.info;
        if (news.is_erased) return write({{"event", "erased"}, {"time_ns", now_ns()}, {"id", info.id}});
        Json json = {{"event", "stored"},
                     {"time_ns", now_ns()},
                     {"id", info.id},
                     {"step", info.step},
                     {"bytes", news.bytes},
                     {"bytes_per_s", nullptr},
                     {"written_ns", info.written_ns}};
        if (news.bytes_per_second > 0) json["bytes_per_s"] = news.bytes_per_second;
        if (info.kind == VariableKind::array) json["dims"] = to_json(info.dims);
        write(json);
    }
    void tell_step(std::uint64_t step) override {
        write({{"event", "committed"}, {"time_ns", now_ns()}, {"step", step}});
    }
    void tell(Followed::Fate fate) override {
        write({{"event", fate == Followed::Fate::gone ? "gone" : "replaced"},
               {"time_ns", now_ns()},
               {"pool", pool_}});
    }
    void finish_look(const Follower&) override { sink_.finish(); }

private:
    void write(const Json& json) { sink_.write(dump(json) + "\n"); }
    std::string pool_;
    Sink sink_{""};
};

class Board final : public Announcer {
public:
    explicit Board(std::string pool) : pool_(std::move(pool)) {}

    void tell(const News& news) override {
        if (news.is_erased) {
            told_.erase(news.info.id);
            return;
        }
        Told& told = told_[news.info.id];
        ++told.versions;
        told.bytes_per_second = news.bytes_per_second;
        new_bytes_ += news.bytes;
    }
    void tell_step(std::uint64_t step) override { step_ = step; }
    void tell(Followed::Fate fate) override {
        told_.clear();
        fate_ = fate == Followed::Fate::gone ? "the pool is gone; waiting for another one in its place" : "";
    }
    void finish_look(const Follower& follower) override {
        std::vector<const Info*> newest;
        for (const auto& [id, info] : follower.variables()) newest.push_back(&info);
        std::sort(newest.begin(), newest.end(),
                  [](const Info* a, const Info* b) { return a->written_ns > b->written_ns; });
        const auto rows = static_cast<std::size_t>(Screen::size().rows);
        if (newest.size() > rows) newest.resize(rows);
        screen_.draw(lines(newest, follower.variables().size()));
    }
    bool sleep(const Interrupts& interrupts, std::chrono::nanoseconds at_most) override {
        if (!interrupts.sleep(at_most, screen_.keys())) return false;
        const char key = Screen::key();
        return key == 'q' || key == '\0';
    }

private:
    struct Told {
        std::uint64_t versions = 0;
        double bytes_per_second = 0;
    };

    std::vector<std::string> lines(const std::vector<const Info*>& newest, std::size_t variables) {
        using Align = Table::Align;
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> passed = now - looked_;
        const double rate = static_cast<double>(new_bytes_) / std::max(passed.count(), 1e-3);
        looked_ = now;
        new_bytes_ = 0;
        Table table({{"written"},
                     {"new", Align::right},
                     {"rate", Align::right},
                     {"step", Align::right},
                     {"size", Align::right},
                     {"id"}});
        for (const Info* info : newest) {
            const Told told = told_.contains(info->id) ? told_.at(info->id) : Told{};
            table.add({clock_text(info->written_ns), std::to_string(told.versions),
                       rate_text(told.bytes_per_second), step_text(*info), human_size(info->bytes),
                       info->id});
        }
        std::vector<std::string> all = {
            fmt::format("pmemcpy watch {}   {} variables{}   {}   {}   q: quit", printable(pool_), variables,
                        step_ == 0 ? "" : fmt::format("   step {}", step_), rate_text(rate),
                        human_time(now_ns())),
            fate_};
        std::istringstream text(table.text());
        for (std::string line; std::getline(text, line);) all.push_back(line);
        return all;
    }

    std::string pool_;
    Screen screen_;
    std::map<std::string, Told> told_;
    std::uint64_t new_bytes_ = 0;
    std::uint64_t step_ = 0;
    std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
    std::string fate_;
};

}  // namespace

bool Announcer::sleep(const Interrupts& interrupts, std::chrono::nanoseconds at_most) {
    interrupts.sleep(at_most);
    return false;
}

std::unique_ptr<Announcer> announce_in_lines(const std::string& pool) {
    return std::make_unique<Lines>(pool);
}

std::unique_ptr<Announcer> announce_in_json(const std::string& pool) {
    return std::make_unique<JsonLines>(pool);
}

std::unique_ptr<Announcer> announce_on_screen(const std::string& pool) {
    return std::make_unique<Board>(pool);
}

}  // namespace pmemcpy::cli
