/* SPDX-License-Identifier: MIT
 *
 * libdsvc_arrow.so (value/arrow/arrow_plugin.h): the one file that knows Arrow's C++ libraries. Whatever
 * they throw ends here, in GUARDED.
 */
#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <arrow/c/bridge.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/api.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/err.h"
#include "value/arrow/arrow_plugin.h"

namespace {

using arrow::MemoryPool;
using arrow::Result;
using arrow::Status;

constexpr int64_t kBuffer = 1 << 20; /* bytes of a column that are read at once where reads are cheap */

int
told(struct arrow_why *why, int code, const char *text)
{
	snprintf(why->text, sizeof why->text, "%s", text);
	/* The first line says it; what follows is Arrow's own trace. */
	why->text[strcspn(why->text, "\n")] = 0;
	return code;
}

int
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

void
leaves(const parquet::arrow::SchemaField &f, std::vector<int> *out)
{
	if (f.is_leaf())
		out->push_back(f.column_index);
	for (const auto &kid : f.children)
		leaves(kid, out);
}

/* Indices of the named fields; false: *missing has no field. */
bool
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

} // namespace

struct arrow_parquet {
	explicit arrow_parquet(int64_t most) : memory(most) {}
	Memory memory;
	std::unique_ptr<parquet::arrow::FileReader> reader;
	std::shared_ptr<parquet::FileMetaData> about;
	std::shared_ptr<arrow::Schema> all, schema;
	std::vector<int> fields, columns;
	std::unique_ptr<arrow::RecordBatchReader> batches;
};

struct arrow_ipc {
	explicit arrow_ipc(int64_t most) : memory(most) {}
	Memory memory;
	std::shared_ptr<From> from;
	std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
	std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream;
	std::shared_ptr<arrow::Schema> schema;
	std::vector<int> fields;
	int at = 0;
};

namespace {

void
parquet_shut(struct arrow_parquet *f)
{
	try {
		delete f;
	} catch (...) {
	}
}

int
parquet_open(const struct arrow_from *from, struct arrow_parquet **out, struct arrow_why *why)
{
	GUARDED(why,
		auto f = std::make_unique<arrow_parquet>(from->memory_max);
		parquet::ReaderProperties plain(&f->memory.pool);
		parquet::ArrowReaderProperties made(false);
		parquet::arrow::FileReaderBuilder builder;
		auto file = std::make_shared<From>(*from);

		file->pool_ = &f->memory.pool;
		made.set_pre_buffer(false);
		if (!from->at_once) {
			plain.enable_buffered_stream();
			plain.set_buffer_size(kBuffer);
		}
		Status st = builder.Open(file, plain);
		if (!st.ok())
			return told(why, st);
		st = builder.memory_pool(&f->memory.pool)->properties(made)->Build(&f->reader);
		if (st.ok())
			st = f->reader->GetSchema(&f->all);
		if (!st.ok())
			return told(why, st);
		f->about = f->reader->parquet_reader()->metadata();
		*out = f.release();
		return 0;
	)
}

int
parquet_choose(struct arrow_parquet *f, const char *const *names, size_t n, int64_t *missing, struct arrow_why *why)
{
	GUARDED(why,
		std::vector<std::shared_ptr<arrow::Field>> some;

		f->fields.clear();
		f->columns.clear();
		if (!indices(*f->all, names, n, missing, &f->fields))
			return 0;
		for (int i : f->fields) {
			leaves(f->reader->manifest().schema_fields.at(static_cast<size_t>(i)), &f->columns);
			some.push_back(f->all->field(i));
		}
		f->schema = arrow::schema(some);
		return 0;
	)
}

int
parquet_schema(struct arrow_parquet *f, struct ArrowSchema *out, struct arrow_why *why)
{
	GUARDED(why,
		Status st = arrow::ExportSchema(*f->schema, out);
		return st.ok() ? 0 : told(why, st);
	)
}

int64_t
parquet_groups(const struct arrow_parquet *f)
{
	return f->about->num_row_groups();
}

int
parquet_group(const struct arrow_parquet *f, int64_t g, struct arrow_group *out, struct arrow_why *why)
{
	GUARDED(why,
		auto group = f->about->RowGroup(static_cast<int>(g));

		out->rows = group->num_rows();
		out->bytes = group->total_byte_size();
		out->offset = group->file_offset();
		/* Older writers leave it out. */
		if (out->offset <= 0 && group->num_columns()) {
			auto first = group->ColumnChunk(0);

			out->offset = first->has_dictionary_page() ? first->dictionary_page_offset()
				: first->data_page_offset();
		}
		return 0;
	)
}

int
parquet_begin(struct arrow_parquet *f, int64_t g, int64_t rows, struct arrow_why *why)
{
	GUARDED(why,
		f->batches.reset();
		f->reader->set_batch_size(rows);
		auto made = f->reader->GetRecordBatchReader({ static_cast<int>(g) }, f->columns);
		if (!made.ok())
			return told(why, made.status());
		f->batches = std::move(*made);
		return 0;
	)
}

int
parquet_next(struct arrow_parquet *f, struct ArrowArray *out, struct arrow_why *why)
{
	GUARDED(why,
		std::shared_ptr<arrow::RecordBatch> batch;
		Status st = f->batches ? f->batches->ReadNext(&batch) : Status::OK();

		if (!st.ok())
			return told(why, st);
		if (!batch) {
			f->batches.reset();
			return ST_END;
		}
		/* Arrow gives columns in the order of the file. */
		if (!batch->schema()->Equals(*f->schema, false)) {
			std::vector<std::shared_ptr<arrow::Array>> columns;

			for (const auto &field : f->schema->fields()) {
				auto column = batch->GetColumnByName(field->name());

				if (!column)
					return told(why, ST_DATA, ("two columns are called " + field->name()).c_str());
				columns.push_back(column);
			}
			batch = arrow::RecordBatch::Make(f->schema, batch->num_rows(), columns);
		}
		st = batch->Validate();
		if (st.ok())
			st = arrow::ExportRecordBatch(*batch, out);
		return st.ok() ? 0 : told(why, st);
	)
}

/* A limit as a value of the type that its column is read as; null: it cannot be said so. */
std::shared_ptr<arrow::Scalar>
limit_as(const std::shared_ptr<arrow::Scalar> &v, const std::shared_ptr<arrow::DataType> &type)
{
	using arrow::Type;
	auto has = v->type->id(), want = type->id();
	bool text = (has == Type::STRING || has == Type::BINARY)
		&& (want == Type::STRING || want == Type::BINARY || want == Type::LARGE_STRING || want == Type::LARGE_BINARY);
	bool time = has == Type::TIMESTAMP && want == Type::TIMESTAMP
		&& static_cast<const arrow::TimestampType &>(*v->type).unit()
			== static_cast<const arrow::TimestampType &>(*type).unit();

	if (v->type->Equals(*type))
		return v;
	if (!v->is_valid || !(text || time))
		return nullptr;
	/* Zones differ, but not what is counted. */
	auto made = text ? arrow::MakeScalar(type, static_cast<const arrow::BaseBinaryScalar &>(*v).value)
		: arrow::MakeScalar(type, static_cast<const arrow::TimestampScalar &>(*v).value);
	return made.ok() ? *made : nullptr;
}

/* The least and the greatest value of a column of the file; a dictionary's as they are without it. */
std::shared_ptr<arrow::Array>
limits(const struct arrow_parquet *f, const parquet::RowGroupMetaData &group, int field, int64_t *nulls)
{
	auto type = f->all->field(field)->type();
	const auto &node = f->reader->manifest().schema_fields.at(static_cast<size_t>(field));
	std::shared_ptr<arrow::Scalar> least, greatest;

	if (type->id() == arrow::Type::DICTIONARY)
		type = static_cast<const arrow::DictionaryType &>(*type).value_type();
	*nulls = f->all->field(field)->nullable() ? -1 : 0;
	if (node.is_leaf()) {
		auto about = group.ColumnChunk(node.column_index);
		auto known = about->is_stats_set() ? about->statistics() : nullptr;

		if (known && known->HasNullCount())
			*nulls = known->null_count();
		if (known && known->HasMinMax() && parquet::arrow::StatisticsAsScalars(*known, &least, &greatest).ok())
			least = limit_as(least, type), greatest = limit_as(greatest, type);
		else
			least = greatest = nullptr;
		if (least && greatest) {
			auto a = arrow::MakeArrayFromScalar(*least, 1);
			auto b = arrow::MakeArrayFromScalar(*greatest, 1);
			auto both = a.ok() && b.ok() ? arrow::Concatenate({ *a, *b })
				: Result<std::shared_ptr<arrow::Array>>(Status::Invalid(""));

			if (both.ok())
				return *both;
		}
	}
	auto none = arrow::MakeArrayOfNull(type, 2);
	return none.ok() ? *none : nullptr;
}

int
parquet_limits(struct arrow_parquet *f, int64_t g, const char *const *names, size_t n, int64_t *nulls,
	       struct ArrowSchema *schema, struct ArrowArray *out, struct arrow_why *why)
{
	GUARDED(why,
		auto group = f->about->RowGroup(static_cast<int>(g));
		std::vector<std::shared_ptr<arrow::Array>> columns;
		std::vector<std::shared_ptr<arrow::Field>> fields;

		for (size_t k = 0; k < n; k++) {
			auto found = f->all->GetAllFieldIndices(names[k]);

			if (found.size() != 1)
				return told(why, ST_UNAVAIL, "no column, or two, have this name");
			columns.push_back(limits(f, *group, found[0], &nulls[k]));
			if (!columns.back())
				return told(why, ST_UNAVAIL, "limits are not known");
			fields.push_back(arrow::field(std::to_string(k), columns.back()->type()));
		}
		auto batch = arrow::RecordBatch::Make(arrow::schema(fields), 2, columns);
		Status st = arrow::ExportRecordBatch(*batch, out, schema);
		return st.ok() ? 0 : told(why, st);
	)
}

/* ---- IPC ---- */

void
ipc_close(struct arrow_ipc *f)
{
	try {
		delete f;
	} catch (...) {
	}
}

int
ipc_begin(struct arrow_ipc *f, bool chosen)
{
	auto o = arrow::ipc::IpcReadOptions::Defaults();

	o.memory_pool = &f->memory.pool;
	o.use_threads = false;
	o.max_recursion_depth = 32;
	if (chosen)
		o.included_fields = f->fields;
	bool file = f->file != nullptr || (!f->stream && f->at < 0);
	if (file) {
		PARQUET_ASSIGN_OR_THROW(f->file, arrow::ipc::RecordBatchFileReader::Open(f->from, o));
		f->schema = f->file->schema();
	} else {
		PARQUET_ASSIGN_OR_THROW(f->stream, arrow::ipc::RecordBatchStreamReader::Open(f->from, o));
		f->schema = f->stream->schema();
	}
	return 0;
}

int
ipc_open(const struct arrow_from *from, struct arrow_ipc **out, struct arrow_why *why)
{
	GUARDED(why,
		auto f = std::make_unique<arrow_ipc>(from->memory_max);
		char head[6] = "";

		f->from = std::make_shared<From>(*from);
		f->from->pool_ = &f->memory.pool;
		/* A file has this before its first message; a stream may come through a pipe. */
		if (from->size >= 6) {
			auto got = f->from->ReadAt(0, 6, head);
			if (got.ok() && *got == 6 && !memcmp(head, "ARROW1", 6))
				f->at = -1;
		}
		ipc_begin(f.get(), false);
		f->at = 0;
		*out = f.release();
		return 0;
	)
}

int
ipc_choose(struct arrow_ipc *f, const char *const *names, size_t n, int64_t *missing, struct arrow_why *why)
{
	GUARDED(why,
		*missing = -1;
		f->fields.clear();
		indices(*f->schema, names, n, missing, &f->fields);
		return 0;
	)
}

int
ipc_schema(struct arrow_ipc *f, struct ArrowSchema *out, struct arrow_why *why)
{
	GUARDED(why,
		std::vector<std::shared_ptr<arrow::Field>> some;

		for (int i : f->fields)
			some.push_back(f->schema->field(i));
		Status st = arrow::ExportSchema(arrow::Schema(some), out);
		return st.ok() ? 0 : told(why, st);
	)
}

int64_t
ipc_batches(const struct arrow_ipc *f)
{
	return f->file ? f->file->num_record_batches() : -1;
}

int
ipc_seek(struct arrow_ipc *f, int64_t batch, struct arrow_why *why)
{
	(void)why;
	f->at = static_cast<int>(batch);
	return 0;
}

int
ipc_next(struct arrow_ipc *f, struct ArrowArray *out, struct arrow_why *why)
{
	GUARDED(why,
		std::shared_ptr<arrow::RecordBatch> batch;

		if (f->file && f->at < f->file->num_record_batches()) {
			PARQUET_ASSIGN_OR_THROW(batch, f->file->ReadRecordBatch(f->at++));
		} else if (f->stream) {
			PARQUET_THROW_NOT_OK(f->stream->ReadNext(&batch));
		}
		if (!batch)
			return ST_END;
		PARQUET_ASSIGN_OR_THROW(batch, batch->SelectColumns(f->fields));
		/* Offsets come as they lie in the file. */
		PARQUET_THROW_NOT_OK(batch->ValidateFull());
		PARQUET_THROW_NOT_OK(arrow::ExportRecordBatch(*batch, out));
		return 0;
	)
}

class To : public arrow::io::OutputStream {
public:
	To(void (*write)(void *, const void *, int64_t), void *arg) : write_(write), arg_(arg) {}
	Status Close() override { closed_ = true; return Status::OK(); }
	bool closed() const override { return closed_; }
	Result<int64_t> Tell() const override { return at_; }
	using OutputStream::Write;
	Status Write(const void *p, int64_t n) override
	{
		write_(arg_, p, n);
		at_ += n;
		return Status::OK();
	}

private:
	void (*write_)(void *, const void *, int64_t);
	void *arg_;
	int64_t at_ = 0;
	bool closed_ = false;
};

} // namespace

struct arrow_out {
	std::shared_ptr<To> to;
	std::shared_ptr<arrow::Schema> schema;
	std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
};

namespace {

void
out_free(struct arrow_out *o)
{
	try {
		delete o;
	} catch (...) {
	}
}

int
out_new(void (*write)(void *arg, const void *p, int64_t n), void *arg, struct ArrowSchema *schema,
	struct arrow_out **out, struct arrow_why *why)
{
	GUARDED(why,
		auto o = std::make_unique<arrow_out>();
		auto how = arrow::ipc::IpcWriteOptions::Defaults();

		how.use_threads = false;
		o->to = std::make_shared<To>(write, arg);
		PARQUET_ASSIGN_OR_THROW(o->schema, arrow::ImportSchema(schema));
		PARQUET_ASSIGN_OR_THROW(o->writer, arrow::ipc::MakeStreamWriter(o->to, o->schema, how));
		*out = o.release();
		return 0;
	)
}

int
out_put(struct arrow_out *o, struct ArrowArray *batch, struct arrow_why *why)
{
	GUARDED(why,
		PARQUET_ASSIGN_OR_THROW(auto made, arrow::ImportRecordBatch(batch, o->schema));
		PARQUET_THROW_NOT_OK(o->writer->WriteRecordBatch(*made));
		return 0;
	)
}

int
out_end(struct arrow_out *o, struct arrow_why *why)
{
	GUARDED(why,
		PARQUET_THROW_NOT_OK(o->writer->Close());
		return 0;
	)
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct arrow_plugin *
dsvc_arrow_plugin(void)
{
	static const struct arrow_plugin plugin = { ARROW_PLUGIN_VERSION, ARROW_VERSION_STRING,
		parquet_open, parquet_shut, parquet_choose, parquet_schema, parquet_groups, parquet_group,
		parquet_begin, parquet_next, parquet_limits,
		ipc_open, ipc_close, ipc_choose, ipc_schema, ipc_batches, ipc_seek, ipc_next,
		out_new, out_put, out_end, out_free };

	return &plugin;
}
