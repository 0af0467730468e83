/* SPDX-License-Identifier: MIT
 *
 * Arrow's IPC: files, whose batches are found from their end, and streams, which are files without that end.
 */
#include <arrow/c/bridge.h>
#include <arrow/ipc/api.h>

#include <algorithm>

#include "arrow.hh"

struct arrow_ipc {
	explicit arrow_ipc(int64_t most) : memory(most) {}
	Memory memory;
	std::shared_ptr<From> from;
	std::shared_ptr<arrow::ipc::RecordBatchFileReader> file; /* null: a stream */
	std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream;
	std::shared_ptr<arrow::Schema> all, schema;
	std::vector<int> places; /* of the chosen columns among those that are read */
	int at = 0;
};

namespace {

void
ipc_close(struct arrow_ipc *f)
{
	try {
		delete f;
	} catch (...) {
	}
}

arrow::ipc::IpcReadOptions
ipc_options(struct arrow_ipc *f, const std::vector<int> &fields)
{
	auto o = arrow::ipc::IpcReadOptions::Defaults();

	o.memory_pool = &f->memory.pool;
	o.use_threads = false;
	o.max_recursion_depth = 32;
	o.included_fields = fields;
	return o;
}

int
ipc_open(const struct arrow_from *from, struct arrow_ipc **out, struct arrow_why *why)
{
	GUARDED(why,
		auto f = std::make_unique<arrow_ipc>(from->memory_max);

		f->from = std::make_shared<From>(*from);
		f->from->pool_ = &f->memory.pool;
		auto o = ipc_options(f.get(), {});
		if (from->size >= 0) {
			PARQUET_ASSIGN_OR_THROW(f->file, arrow::ipc::RecordBatchFileReader::Open(f->from, o));
			f->all = f->file->schema();
		} else {
			PARQUET_ASSIGN_OR_THROW(f->stream, arrow::ipc::RecordBatchStreamReader::Open(f->from, o));
			f->all = f->stream->schema();
		}
		f->schema = f->all;
		for (int i = 0; i < f->all->num_fields(); i++)
			f->places.push_back(i);
		*out = f.release();
		return 0;
	)
}

/* Columns of a file that were not chosen are not read; a stream has to be read anyway. */
int
ipc_choose(struct arrow_ipc *f, const char *const *names, size_t n, int64_t *missing, struct arrow_why *why)
{
	GUARDED(why,
		std::vector<std::shared_ptr<arrow::Field>> some;
		std::vector<int> fields, read;

		if (!indices(*f->all, names, n, missing, &fields))
			return 0;
		for (int i : fields)
			some.push_back(f->all->field(i));
		f->schema = arrow::schema(some);
		f->places = fields;
		if (!f->file || !f->all->num_fields())
			return 0;
		/* Arrow gives columns in the order of the file, and takes no choice for all. */
		read = fields.empty() ? std::vector<int>{ 0 } : fields;
		std::sort(read.begin(), read.end());
		read.erase(std::unique(read.begin(), read.end()), read.end());
		PARQUET_ASSIGN_OR_THROW(f->file, arrow::ipc::RecordBatchFileReader::Open(f->from, ipc_options(f, read)));
		for (int &i : f->places)
			i = static_cast<int>(std::lower_bound(read.begin(), read.end(), i) - read.begin());
		return 0;
	)
}

int
ipc_schema(struct arrow_ipc *f, struct ArrowSchema *out, struct arrow_why *why)
{
	GUARDED(why,
		Status st = arrow::ExportSchema(*f->schema, out);
		return st.ok() ? 0 : told(why, st);
	)
}

int64_t
ipc_batches(const struct arrow_ipc *f)
{
	return f->file ? f->file->num_record_batches() : -1;
}

int
ipc_rows(struct arrow_ipc *f, int64_t *rows, struct arrow_why *why)
{
	GUARDED(why,
		*rows = -1;
		if (f->file) {
			PARQUET_ASSIGN_OR_THROW(*rows, f->file->CountRows());
		}
		return 0;
	)
}

int
ipc_seek(struct arrow_ipc *f, int64_t batch, struct arrow_why *why)
{
	if (!f->file || batch < 0 || batch > f->file->num_record_batches())
		return told(why, ST_BUG, "a batch that cannot be sought");
	f->at = static_cast<int>(batch);
	return 0;
}

int
ipc_next(struct arrow_ipc *f, struct ArrowArray *out, struct arrow_why *why)
{
	GUARDED(why,
		std::shared_ptr<arrow::RecordBatch> batch;
		std::vector<std::shared_ptr<arrow::Array>> columns;

		if (f->file && f->at < f->file->num_record_batches()) {
			PARQUET_ASSIGN_OR_THROW(batch, f->file->ReadRecordBatch(f->at++));
		} else if (f->stream) {
			PARQUET_THROW_NOT_OK(f->stream->ReadNext(&batch));
		}
		if (!batch)
			return ST_END;
		/* Offsets come as they lie in the file. */
		for (int i : f->places) {
			if (i >= batch->num_columns())
				return told(why, ST_DATA, "it has other columns than its file");
			PARQUET_THROW_NOT_OK(batch->column(i)->ValidateFull());
			columns.push_back(batch->column(i));
		}
		batch = arrow::RecordBatch::Make(f->schema, batch->num_rows(), columns);
		PARQUET_THROW_NOT_OK(batch->Validate());
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

void
ipc_plugin(struct arrow_plugin *p)
{
	p->ipc_open = ipc_open;
	p->ipc_close = ipc_close;
	p->ipc_choose = ipc_choose;
	p->ipc_schema = ipc_schema;
	p->ipc_batches = ipc_batches;
	p->ipc_rows = ipc_rows;
	p->ipc_seek = ipc_seek;
	p->ipc_next = ipc_next;
	p->out_new = out_new;
	p->out_put = out_put;
	p->out_end = out_end;
	p->out_free = out_free;
}
