#include "index/engine/copied.hpp"

#include <cstring>

namespace pmemcpy::index {

namespace {

class Copier {
public:
    Copier(const Pages& pages, os::File& to) : pages_(pages), to_(to) {}

    void copy_tree(const Link& link, std::size_t level) {
        const PageView page(copy_page(link));
        if (page.level() != level) throw_damaged("a page");
        for (std::size_t i = 0; i < page.count(); ++i) {
            if (level != 0)
                copy_tree(page.link(i), level - 1);
            else if (const Cell cell = page.cell(i); cell.is_far)
                copy_far(cell.value);
        }
    }

private:
    const char* copy_page(const Link& link) {
        const char* const page = pages_.trusted(link);
        to_.write_exactly(page, page_bytes, link.page * page_bytes);
        return page;
    }
    void copy_far(std::string_view cell_value) {
        FarValue far;
        std::memcpy(&far, cell_value.data(), sizeof far);
        Link link{far.sum, far.page, 0};
        for (std::size_t seen = 0; seen < far.bytes; seen += far_bytes) {
            FarHead head;
            std::memcpy(&head, copy_page(link), sizeof head);
            link = {head.next_sum, head.next, 0};
        }
    }

    const Pages& pages_;
    os::File& to_;
};

}  // namespace

void copy_pages(const Pages& pages, Meta meta, os::File& to) {
    meta.roots[free_tree] = {};
    to.resize(meta.pages * page_bytes);
    Copier copier(pages, to);
    for (const Root& root : meta.roots) {
        if (root.link.page == 0) continue;
        if (root.link.levels == 0 || root.link.levels > most_levels) throw_damaged("what it says of itself");
        copier.copy_tree(root.link, root.link.levels - 1U);
    }
    Pages::write_head(to, meta);
}

}  // namespace pmemcpy::index
