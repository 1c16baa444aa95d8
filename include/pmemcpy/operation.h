#ifndef PMEMCPY_OPERATION_H
#define PMEMCPY_OPERATION_H

/* A function that pMEMCPY calls with what was stored, in C: what a shared library exports, or a source file defines, that is added to a
 * pool by `pmemcpy op add POOL NAME FILE`. It is called in a process of its own, which may read files and write none.
 *
 *     #include <pmemcpy/operation.h>
 *     PMEMCPY_OPERATION(call) {
 *         const double* in = (const double*)call->input.data;
 *         double* out;
 *         if (call->input.kind != PMEMCPY_FLOAT64) return call->fail(call, "wants float64");
 *         out = (double*)call->output(call, PMEMCPY_FLOAT64, call->input.ndims, call->input.dims);
 *         if (!out) return 1;
 *         for (uint64_t i = 0; i < call->input.elements; ++i) out[i] = 2 * in[i];
 *         return 0;
 *     }
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library made for another one is refused; members are only ever added at the ends. */
#define PMEMCPY_OPERATION_VERSION 1u

/* What an element is: the numbers of pmemcpy::Kind. All are in the order of this machine. */
enum pmemcpy_kind {
    PMEMCPY_INT8 = 1,
    PMEMCPY_INT16 = 2,
    PMEMCPY_INT32 = 3,
    PMEMCPY_INT64 = 4,
    PMEMCPY_UINT8 = 5,
    PMEMCPY_UINT16 = 6,
    PMEMCPY_UINT32 = 7,
    PMEMCPY_UINT64 = 8,
    PMEMCPY_FLOAT16 = 9,
    PMEMCPY_BFLOAT16 = 10,
    PMEMCPY_FLOAT32 = 11,
    PMEMCPY_FLOAT64 = 12,
    PMEMCPY_COMPLEX64 = 13,
    PMEMCPY_COMPLEX128 = 14,
    PMEMCPY_BOOLEAN = 15
};

/* The last index runs fastest. An array in Fortran order comes with its dimensions the other way round. */
struct pmemcpy_operation_input {
    int32_t kind;
    int32_t ndims;
    const uint64_t* dims;
    uint64_t elements;
    uint64_t element_bytes;
    const void* data; /* aligned to 4096 bytes; may be written to; no other process sees that */
};

struct pmemcpy_operation_call {
    uint32_t version;    /* PMEMCPY_OPERATION_VERSION of the caller */
    uint32_t size_bytes; /* of this struct in the caller */
    struct pmemcpy_operation_input input;
    /* Room for the result, zeroed; to be asked for once. NULL when it would be more than the operation may have, or makes no sense;
     * then return something other than 0. */
    void* (*output)(struct pmemcpy_operation_call* call, int32_t kind, int32_t ndims, const uint64_t* dims);
    /* Says why it fails, in UTF-8, and returns 1, for `return call->fail(call, "...")`. */
    int (*fail)(struct pmemcpy_operation_call* call, const char* text);
};

/* What a library exports, whatever its other symbols are. 0: the output is the result. */
#define PMEMCPY_OPERATION_EXPORTED __attribute__((visibility("default")))
PMEMCPY_OPERATION_EXPORTED int pmemcpy_operation(struct pmemcpy_operation_call* call);
PMEMCPY_OPERATION_EXPORTED extern const uint32_t pmemcpy_operation_version;

#ifdef __cplusplus
}
#endif

/* Begins the definition of the function, and exports the version that it was compiled for. */
#define PMEMCPY_OPERATION(call)                                           \
    const uint32_t pmemcpy_operation_version = PMEMCPY_OPERATION_VERSION; \
    int pmemcpy_operation(struct pmemcpy_operation_call*(call))

#endif
