/* Marks the functions that a Pteron library exports. Everything else is hidden. */
#ifndef PTERON_C_EXPORT_H_
#define PTERON_C_EXPORT_H_

#if defined(__GNUC__)
#define PTERON_EXPORT __attribute__((visibility("default")))
#define PTERON_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PTERON_EXPORT
#define PTERON_PRINTF(format_index, first)
#endif

#endif /* PTERON_C_EXPORT_H_ */
