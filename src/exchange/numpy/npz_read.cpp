// .npz into a pool: each member of the archive that is a .npy becomes an array of that name.

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "exchange/formats.hpp"
#include "exchange/numpy/npy_header.hpp"
#include "exchange/numpy/npy_read.hpp"
#include "exchange/numpy/zip_check.hpp"

namespace pmemcpy::exchange {

namespace {

/// The bytes of a member as they were before compression; its checksum is looked at when the end is read.
class ZipMember : public ByteSource {
public:
    ZipMember(zip_t* archive, zip_uint64_t index, std::string shown)
        : shown_(std::move(shown)), file_(zip_fopen_index(archive, index, 0)) {
        if (!file_) fail_zip(shown_, *zip_get_error(archive), Code::corrupt);
    }
    std::size_t read(std::span<std::byte> into) override {
        std::size_t done = 0;
        while (done < into.size()) {
            const zip_int64_t got = zip_fread(file_.get(), into.data() + done, into.size() - done);
            if (got < 0) fail_zip(shown_, *zip_file_get_error(file_.get()), Code::corrupt);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

private:
    struct Close {
        void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
    };
    std::string shown_;
    std::unique_ptr<zip_file_t, Close> file_;
};

class NpzReader {
public:
    NpzReader(const std::string& file, Intake& intake) : file_(file), intake_(intake) {
        int code = ZIP_ER_OK;
        archive_.reset(zip_open(file.c_str(), ZIP_RDONLY, &code));
        if (archive_) return;
        ZipError error(code);
        fail_zip(file, *error.get(), Code::corrupt);
    }

    void read() {
        const zip_int64_t n = zip_get_num_entries(archive_.get(), 0);
        for (zip_int64_t i = 0; i < n; ++i) list(static_cast<zip_uint64_t>(i));
        intake_.group("");
        for (const Member& member : members_) read(member);
    }

private:
    struct Member {
        zip_uint64_t index;
        std::string name;
        zip_uint64_t bytes;
        bool is_compressed;
    };

    std::string shown(const std::string& member) const { return file_ + ": " + member; }

    void list(zip_uint64_t index) {
        zip_stat_t found{};
        constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
        if (zip_stat_index(archive_.get(), index, ZIP_FL_ENC_GUESS, &found) != 0)
            fail_zip(file_, *zip_get_error(archive_.get()), Code::corrupt);
        if ((found.valid & needed) != needed)
            throw Error(Code::corrupt, file_ + ": member " + std::to_string(index) + " says not what it is");
        const std::string name = found.name;
        if (!names_.insert(name).second) throw Error(Code::corrupt, shown(name) + " is in the archive twice");
        if ((found.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && found.encryption_method != ZIP_EM_NONE)
            throw Error(Code::unsupported, shown(name) + " is encrypted; decrypt it and import that");
        intake_.expect(found.size);
        members_.push_back({index, name, found.size, found.comp_method != ZIP_CM_STORE});
    }

    void read(const Member& member) {
        if (member.name.ends_with('/')) {  // a directory, as other programs that make archives have them
            return make_groups(member.name.substr(0, member.name.size() - 1));
        }
        if (!is_npy(member)) return intake_.warn(member.name, "no .npy; not imported");
        NpyMember npy{.shown = shown(member.name), .path = member.name, .bytes = member.bytes};
        if (npy.path.ends_with(".npy")) npy.path.resize(npy.path.size() - 4);
        npy.is_one_of_many = true;
        if (member.is_compressed) npy.origin["compressed"] = true;
        if (npy.path.find('/') != std::string::npos) make_groups(npy.path.substr(0, npy.path.rfind('/')));
        ZipMember source(archive_.get(), member.index, npy.shown);
        try {
            read_npy_member(npy, source, intake_);
        } catch (const Error& error) {
            if (error.kind() != Code::invalid_argument) throw;
            throw Error(error.kind(), npy.shown + ": " + error.what());
        }
        std::vector<std::byte> rest(1 << 16);  // the checksum comes with the last byte
        while (source.read(rest) > 0) continue;
    }

    bool is_npy(const Member& member) {
        std::array<char, npy_magic.size()> start{};
        ZipMember source(archive_.get(), member.index, shown(member.name));
        return source.read(std::as_writable_bytes(std::span(start))) == start.size() &&
               std::string_view(start.data(), start.size()) == npy_magic;
    }

    void make_groups(const std::string& path) {
        for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
            const std::string group = path.substr(0, end);
            if (groups_.insert(group).second) {
                try {
                    intake_.group(group);
                } catch (const Error& error) {
                    throw Error(error.kind(), shown(path) + ": " + error.what());
                }
            }
            if (end == std::string::npos) return;
        }
    }

    std::string file_;
    Intake& intake_;
    ZipArchive archive_;
    std::set<std::string> names_, groups_;
    std::vector<Member> members_;
};

}  // namespace

void read_npz(const std::string& path, Intake& intake) { NpzReader(path, intake).read(); }

}  // namespace pmemcpy::exchange
