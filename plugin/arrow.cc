/* SPDX-License-Identifier: MIT
 *
 * libdsvc_arrow.so (value/arrow/arrow_plugin.h): Parquet by Arrow's C++ libraries, which no file but those of this folder
 * knows.
 */
#include <arrow/array/concatenate.h>
#include <arrow/c/bridge.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "arrow.hh"

namespace {

constexpr int64_t kBuffer = 1 << 20; /* bytes of a column that are read at once where reads are cheap */

void
leaves(const parquet::arrow::SchemaField &f, std::vector<int> *out)
{
	if (f.is_leaf())
		out->push_back(f.column_index);
	for (const auto &kid : f.children)
		leaves(kid, out);
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

} // namespace

extern "C" __attribute__((visibility("default"))) const struct arrow_plugin *
dsvc_arrow_plugin(void)
{
	static struct arrow_plugin plugin = { ARROW_PLUGIN_VERSION, ARROW_VERSION_STRING,
		parquet_open, parquet_shut, parquet_choose, parquet_schema, parquet_groups, parquet_group,
		parquet_begin, parquet_next, parquet_limits,
		nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr };

	ipc_plugin(&plugin);
	return &plugin;
}
