// A pool as .npz: an archive with a .npy for each array, which libzip reads from the pool while it writes.

#include <zip.h>

#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "exchange/formats.hpp"
#include "exchange/numpy/npy_write.hpp"
#include "exchange/numpy/plain_file.hpp"
#include "exchange/numpy/zip_check.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

// libzip's own default is 9, which took a hundred and fifty times as long for smooth numbers and saved nothing; NumPy's is 6.
constexpr zip_uint32_t deflate_level = 1;

/// An archive of nothing, which libzip does not write.
constexpr std::array<unsigned char, 22> empty_archive = {'P', 'K', 5, 6};

class NpzWriter {
public:
    NpzWriter(const std::string& path, Holding& holding) : path_(path), holding_(holding) {}

    void write() {
        warn_of_groups(holding_);
        for (const std::string& group : holding_.groups()) {
            if (!group.empty()) holding_.count_group();
        }
        for (const Variable& variable : holding_.variables()) prepare(variable);
        if (members_.empty()) {
            PlainFile file = PlainFile::made(path_);
            file.write(std::as_bytes(std::span(empty_archive)));
            return file.close();
        }
        int code = ZIP_ER_OK;
        ZipArchive archive(zip_open(path_.c_str(), ZIP_CREATE | ZIP_EXCL, &code));
        if (!archive) {
            ZipError error(code);
            fail_zip("cannot make " + path_, *error.get(), Code::io_error);
        }
        for (Member& member : members_) add(archive.get(), member);
        if (zip_close(archive.get()) == 0) {
            (void)archive.release();
            return;
        }
        if (failed_) std::rethrow_exception(failed_);
        fail_zip("cannot write " + path_, *zip_get_error(archive.get()), Code::io_error);
    }

private:
    struct Member {
        const Variable* variable;
        std::unique_ptr<NpyStream> stream;
        NpzWriter* writer;
    };

    void prepare(const Variable& variable) {
        try {
            members_.push_back({&variable, std::make_unique<NpyStream>(variable, holding_), this});
            holding_.count_variable();
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            holding_.warn(variable.path, std::string(error.what()) + "; not exported");
        }
    }

    void add(zip_t* archive, Member& member) const {
        const std::string name = member.variable->path + ".npy";
        const auto fail = [&] {
            fail_zip("cannot write " + path_ + ": " + name, *zip_get_error(archive), Code::io_error);
        };
        zip_source_t* source = zip_source_function(archive, &NpzWriter::answer, &member);
        if (source == nullptr) fail();
        const zip_flags_t encoding = is_utf8(name) ? ZIP_FL_ENC_UTF_8 : ZIP_FL_ENC_CP437;
        const zip_int64_t index = zip_file_add(archive, name.c_str(), source, encoding);
        if (index < 0) {
            zip_source_free(source);
            fail();
        }
        const nlohmann::json& origin = member.variable->origin;
        const bool compresses =
            origin.is_object() && origin.contains("compressed") && origin["compressed"] == true;
        if (zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                     compresses ? ZIP_CM_DEFLATE : ZIP_CM_STORE, deflate_level) != 0)
            fail();
    }

    /// What libzip asks of a member. No exception may go through it: the first is kept.
    static zip_int64_t answer(void* of, void* data, zip_uint64_t length, zip_source_cmd_t command) {
        Member& member = *static_cast<Member*>(of);
        switch (command) {
            case ZIP_SOURCE_OPEN:
                member.stream->rewind();
                return 0;
            case ZIP_SOURCE_READ:
                try {
                    return static_cast<zip_int64_t>(
                        member.stream->read({static_cast<std::byte*>(data), length}));
                } catch (...) {
                    member.writer->failed_ = std::current_exception();
                    return -1;
                }
            case ZIP_SOURCE_CLOSE:
                member.stream->rest();
                return 0;
            case ZIP_SOURCE_STAT: {
                auto* found = static_cast<zip_stat_t*>(data);
                zip_stat_init(found);
                found->valid = ZIP_STAT_SIZE;
                found->size = member.stream->bytes();
                return sizeof *found;
            }
            case ZIP_SOURCE_ERROR: {
                auto* error = static_cast<int*>(data);
                error[0] = ZIP_ER_READ;
                error[1] = EIO;
                return 2 * sizeof *error;
            }
            case ZIP_SOURCE_FREE:
                return 0;
            case ZIP_SOURCE_SUPPORTS:
                return ZIP_SOURCE_SUPPORTS_READABLE;
            default:
                return -1;
        }
    }

    std::string path_;
    Holding& holding_;
    std::vector<Member> members_;
    std::exception_ptr failed_;
};

}  // namespace

void write_npz(const std::string& path, Holding& holding) { NpzWriter(path, holding).write(); }

}  // namespace pmemcpy::exchange
