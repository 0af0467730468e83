/* SPDX-License-Identifier: MIT
 *
 * What the two halves of libdsvc_arrow.so share, arrow.cc with Parquet and ipc.cc with Arrow's own format: errors,
 * bytes to read, memory that is bounded. Whatever Arrow's libraries throw ends in GUARDED.
 */
#ifndef PLUGIN_ARROW_HH
#define PLUGIN_ARROW_HH

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>
#include <parquet/exception.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/err.h"
#include "value/arrow/arrow_plugin.h"

using arrow::MemoryPool;
using arrow::Result;
using arrow::Status;

inline int
told(struct arrow_why *why, int code, const char *text)
{
	snprintf(why->text, sizeof why->text, "%s", text);
	/* The first line says it; what follows is Arrow's own trace. */
	why->text[strcspn(why->text, "\n")] = 0;
	return code;
}

inline int
told(struct arrow_why *why, const Status &st)
{
	if (st.IsOutOfMemory())
		return told(why, ST_DATA, ("it needs too much memory: " + st.message()).c_str());
	return told(why, st.IsNotImplemented() ? ST_UNAVAIL : ST_DATA, st.message().c_str());
}

/* Runs what may throw. */
#define GUARDED(why, ...)                                                                     \
	try {                                                                                \
		__VA_ARGS__                                                                  \
	} catch (const parquet::ParquetStatusException &x) {                                 \
		return told(why, x.status());                                                \
	} catch (const std::bad_alloc &) {                                                   \
		return told(why, ST_DATA, "it needs more memory than there is");             \
	} catch (const std::exception &x) {                                                  \
		return told(why, ST_DATA, x.what());                                         \
	} catch (...) {                                                                      \
		return told(why, ST_BUG, "an unknown exception");                            \
	}

/* A file or a stream of bytes, through the callback. */
class From : public arrow::io::RandomAccessFile {
public:
	explicit From(const struct arrow_from &from) : from_(from) {}
	Status Close() override { closed_ = true; return Status::OK(); }
	bool closed() const override { return closed_; }
	Result<int64_t> Tell() const override { return at_; }
	Status Seek(int64_t at) override
	{
		if (at < 0)
			return Status::Invalid("a place before the beginning of the file");
		at_ = at;
		return Status::OK();
	}
	Result<int64_t> GetSize() override { return from_.size; }
	using RandomAccessFile::ReadAt;
	Result<int64_t> ReadAt(int64_t at, int64_t n, void *to) override
	{
		if (at < 0 || n < 0 || (from_.size >= 0 && at > from_.size))
			return Status::Invalid("a place that is not in the file");
		if (from_.size >= 0 && n > from_.size - at)
			n = from_.size - at;
		int64_t got = from_.read(from_.arg, at, n, to);
		return got < 0 ? Result<int64_t>(Status::IOError("it cannot be read")) : got;
	}
	Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t at, int64_t n) override
	{
		/* What is not in the file is not made room for. */
		if (at < 0 || n < 0 || (from_.size >= 0 && n > from_.size))
			return Status::Invalid("a place that is not in the file");
		ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(n, pool_));
		ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(at, n, buffer->mutable_data()));
		if (got < n)
			ARROW_RETURN_NOT_OK(buffer->Resize(got));
		return std::shared_ptr<arrow::Buffer>(std::move(buffer));
	}
	/* On the caller's thread: one of Arrow's own would use our memory and callback when both may be gone. */
	arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext &, int64_t at, int64_t n) override
	{
		return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(at, n));
	}
	/* The same, of newer versions; not `override` because of the older ones. */
	arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext &, int64_t at, int64_t n, bool less)
	{
		auto got = ReadAt(at, n);

		if (!less && got.ok() && (*got)->size() < n)
			got = Status::IOError("it ends early");
		return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(got);
	}
	Result<int64_t> Read(int64_t n, void *to) override
	{
		ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(at_, n, to));
		at_ += got;
		return got;
	}
	Result<std::shared_ptr<arrow::Buffer>> Read(int64_t n) override
	{
		ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, n));
		at_ += buffer->size();
		return buffer;
	}
	MemoryPool *pool_ = arrow::default_memory_pool();

private:
	struct arrow_from from_;
	int64_t at_ = 0;
	bool closed_ = false;
};

/* The memory that one file may take. */
struct Memory {
	explicit Memory(int64_t most) : own(arrow::default_memory_pool()), pool(&own, most) {}
	arrow::ProxyMemoryPool own;
	arrow::CappedMemoryPool pool;
};

/* Indices of the named fields; false: *missing has no field. */
inline bool
indices(const arrow::Schema &schema, const char *const *names, size_t n, int64_t *missing, std::vector<int> *out)
{
	*missing = -1;
	if (!names)
		for (int i = 0; i < schema.num_fields(); i++)
			out->push_back(i);
	for (size_t k = 0; names && k < n; k++) {
		auto found = schema.GetAllFieldIndices(names[k]);

		if (found.empty()) {
			*missing = static_cast<int64_t>(k);
			return false;
		}
		out->insert(out->end(), found.begin(), found.end());
	}
	return true;
}

/* Sets the functions of ipc.cc. */
void ipc_plugin(struct arrow_plugin *p);

#endif
