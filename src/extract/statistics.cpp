#include <pmemcpy/extract.hpp>

#include <algorithm>
#include <cmath>

#include "index/elements.hpp"

namespace pmemcpy {

namespace {

/// Of Welford: a deviation that is small beside the mean stays exact.
class Running {
public:
    void add(double number) {
        const double from_mean = number - all_.mean;
        ++all_.numbers;
        all_.mean += from_mean / static_cast<double>(all_.numbers);
        squares_ += from_mean * (number - all_.mean);
        all_.min = all_.numbers == 1 ? number : std::min(all_.min, number);
        all_.max = all_.numbers == 1 ? number : std::max(all_.max, number);
    }
    Statistics statistics() const {
        Statistics all = all_;
        if (all.numbers != 0) all.deviation = std::sqrt(squares_ / static_cast<double>(all.numbers));
        return all;
    }

private:
    Statistics all_{};
    double squares_ = 0;
};

}  // namespace

Extract extract_statistics() {
    return [](PMEM& pool, const std::string& id) {
        Running running;
        const bool are_numbers =
            index::visit_numbers(pool, pool.info(id), [&](double number) { running.add(number); });
        if (are_numbers) pool.set_attribute(id, "statistics", running.statistics());
    };
}

}  // namespace pmemcpy
