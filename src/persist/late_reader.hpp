#pragma once

// Readers take no lock (law 5): while one copies a record or a block, others may free it and put something else in its
// place, and the copy is thrown away when the look afterwards tells so. Such reads, and the writes into space that a late
// reader may still be looking at, must not count as races with the thread sanitizer; nor must the exchange of a late writer.
// Other builds compile this to nothing.

#if defined(__SANITIZE_THREAD__)
// Of the sanitizer's own library, which has no header for them.
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace pmemcpy::persist {

#if defined(__SANITIZE_THREAD__)

/// As long as one lives, its thread may read what others write: it looks afterwards whether the space was still in use.
class ReadsCheckedAfterwards {
public:
    ReadsCheckedAfterwards() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
    ~ReadsCheckedAfterwards() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
    ReadsCheckedAfterwards(const ReadsCheckedAfterwards&) = delete;
    ReadsCheckedAfterwards& operator=(const ReadsCheckedAfterwards&) = delete;
};

/// As long as one lives, its thread may write what others read: they look afterwards.
class WritesUnderLateReaders {
public:
    WritesUnderLateReaders() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
    ~WritesUnderLateReaders() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
    WritesUnderLateReaders(const WritesUnderLateReaders&) = delete;
    WritesUnderLateReaders& operator=(const WritesUnderLateReaders&) = delete;
};

#else

struct ReadsCheckedAfterwards {};
struct WritesUnderLateReaders {};

#endif

/// As long as one lives, its thread may exchange words in what is another's by now, who reads it as his own: the exchange fails, for
/// the words differ (law 4). The sanitizer takes also one that fails for a write.
using ExchangesThatMayFail = WritesUnderLateReaders;

}  // namespace pmemcpy::persist
