/* SPDX-License-Identifier: MIT
 *
 * Messages of connections, datasets and readers with the dispatcher.
 */
#include "wire/role.h"
#include "wire/table.h"

static const struct field hello_stream[] = { KEY(msg_stream_ref), { 0 } };
static const struct field hello[] = {
	U32(msg_hello, version, 0, "version of the protocol; now 2"),
	U32(msg_hello, role, 3, "1 worker, 2 reader, 3 tool"),
	U64(msg_hello, peer, "the sender's id, chosen at random; also its routing id (8 bytes, most significant first)"),
	NAME(msg_hello, name, "shown to people"),
	NAME(msg_hello, host, "an id of the machine"),
	NAME(msg_hello, hostname, "its name, shown to people"),
	U32(msg_hello, pid, 0, NULL),
	TEXT(msg_hello, endpoint, WIRE_TEXT_MAX, "worker: endpoint for readers; its key may follow, after a blank"),
	U32(msg_hello, slots, WIRE_SLOTS_MAX, "worker: number of streams it wants to run at once"),
	{ "tags", FIELD_WORDS, offsetof(struct msg_hello, tags), WIRE_TAGS_MAX,
		"worker: labels that jobs can ask for", NULL, 0, false },
	U64(msg_hello, instance, "the dispatcher instance that the sender knew before; 0: none"),
	LIST(msg_hello, streams, WIRE_STREAMS_MAX, hello_stream, struct msg_stream_ref, "worker: the streams that it has"),
	{ 0 }
};
static const struct field beat_op[] = {
	U32(msg_op_time, place, 0, "the operator's number in the spec, from 1"),
	U64(msg_op_time, ns, "time spent in it, without that of those before it"),
	U64(msg_op_time, elements, "elements that came out of it"),
	{ 0 }
};
static const struct field beat_clock[] = {
	U64(msg_clock, iteration, NULL),
	U64(msg_clock, work_ns, "worker: time of slots that made elements; reader: time with elements at hand"),
	U64(msg_clock, wait_ns, "worker: time of slots that were held back by readers; reader: time without elements"),
	U64(msg_clock, out_ns, "reader: of work_ns, the time for which its output took nothing"),
	LIST(msg_clock, ops, WIRE_OPS_MAX, beat_op, struct msg_op_time, "worker: time of its operators"),
	U64(msg_clock, call_ns, "worker: age of the longest call of an operator that is under way; 0: there is none"),
	U32(msg_clock, call_place, 0, "worker: the number of that operator in the spec"),
	U64(msg_clock, raw, "worker: bytes of the elements in the chunks that it sent, before they were compressed"),
	U64(msg_clock, wire, "worker: bytes of payloads on sockets for them; nothing for those in shared memory"),
	{ 0 }
};
static const struct field beat[] = {
	U64(msg_beat, kept_bytes, "worker: bytes of chunks that it keeps"),
	U64(msg_beat, streams, "worker: number of streams that it has; reader: version of the last STREAMS that it got"),
	U64(msg_beat, arena, "worker: bytes of the memory that it shares"),
	U64(msg_beat, leased, "worker: of those, bytes that readers have not released"),
	BOOL(msg_beat, shared, "reader: it reads in the memory of a worker"),
	U32(msg_beat, cores, 0, "reader: number of cores that it feeds (dsvc-feed); 0: it is no feed"),
	U64(msg_beat, step, "reader that feeds: steps that all its cores have done"),
	U32(msg_beat, last, 0, "reader that feeds: 1 + the core that is behind all others; 0: none"),
	LIST(msg_beat, clocks, WIRE_CLOCKS_MAX, beat_clock, struct msg_clock, "time spent since the last BEAT"),
	{ 0 }
};
static const struct field bye[] = { BOOL(msg_bye, drain,
	"worker: have others take over its streams; it leaves after BYE_OK"), { 0 } };
static const struct field welcome[] = {
	U32(msg_welcome, version, 0, NULL),
	U64(msg_welcome, instance, "id of the dispatcher's state; if it has changed, the earlier state is gone"),
	BOOL(msg_welcome, durable, "if the dispatcher is lost, it will come back with its state"),
	U32(msg_welcome, beat_ms, 0, "send a BEAT each time this has passed"),
	U32(msg_welcome, loss_ms, 0, "a peer that is silent for this long counts as lost"),
	BOOL(msg_welcome, strangers, "the dispatcher listens on TCP, so that pipelines may come from others than its user"),
	{ 0 }
};
static const struct field refused[] = {
	U32(msg_refused, version, 0, "the version it would accept"),
	U32(msg_refused, code, 255, "exit code"),
	TEXT(msg_refused, text, WIRE_TEXT_MAX, "why"),
	TEXT(msg_refused, help, WIRE_TEXT_MAX, "how to mend it"),
	{ 0 }
};
static const struct field none[] = { { 0 } };
static const struct field error[] = {
	U32(msg_error, code, 255, "exit code"),
	TEXT(msg_error, text, WIRE_TEXT_MAX, "why"),
	TEXT(msg_error, help, WIRE_TEXT_MAX, "how to mend it"),
	{ 0 }
};
static const struct field reg[] = {
	NAME(msg_register, id, "the id that is wanted; empty: the hash of the spec"),
	TEXT(msg_register, spec, WIRE_SPEC_MAX, "canonical form"),
	TEXT(msg_register, type, WIRE_SPEC_MAX, "type of its elements"),
	{ 0 }
};
static const struct field get[] = { NAME(msg_get, id, "id of the dataset"), { 0 } };
static const struct field dataset[] = {
	NAME(msg_dataset, id, NULL),
	TEXT(msg_dataset, spec, WIRE_SPEC_MAX, "canonical form"),
	TEXT(msg_dataset, type, WIRE_SPEC_MAX, "type of its elements"),
	BOOL(msg_dataset, known, "it was registered before"),
	{ 0 }
};
static const struct field status[] = {
	U32(msg_status, what, 3, "0 all, 1 audit, 2 brief, 3 events"),
	NAME(msg_status, job, "only this job; empty: all"),
	U32(msg_status, recent, 0, "so many of the jobs that nobody reads any more, those left last; 0: all; "
		"events: only those with a higher number"),
	U32(msg_status, part, WIRE_REPORT_PARTS, "0: make a report; N: send part N of the report made last"),
	{ 0 }
};
static const struct field report[] = {
	U32(msg_report, part, WIRE_REPORT_PARTS, "number of this part, from 0"),
	BOOL(msg_report, last, "this is the last part"),
	BYTES(msg_report, value, WIRE_REPORT_PART, "a part of the report; all parts together are one MessagePack record"),
	{ 0 }
};
static const struct field stream_ranges[] = {
	U32(msg_stream_ranges, stream, 0, NULL),
	RANGES(msg_stream_ranges, ranges, "offsets"),
	{ 0 }
};
static const struct field number[] = { U64(msg_number, n, NULL), { 0 } };
static const struct field mark[] = {
	U64(msg_mark, rounds, "rounds that all consumers together had by then, in all runs"),
	LIST(msg_mark, base, WIRE_STREAMS_MAX, number, struct msg_number, "elements that each stream had given"),
	{ 0 }
};
static const struct field open[] = {
	PART(msg_open, "job", TEXT, job.name, WIRE_NAME_MAX, "its name; empty: an anonymous job"),
	NAME(msg_open, dataset, "its id; empty: spec and type follow"),
	TEXT(msg_open, spec, WIRE_SPEC_MAX, NULL),
	TEXT(msg_open, type, WIRE_SPEC_MAX, NULL),
	PART(msg_open, "sharding", U32, job.sharding, JOB_SHARDINGS - 1, JOB_SHARDING_NUMBERED),
	PART(msg_open, "order", U32, job.order, JOB_ORDERS - 1, JOB_ORDER_NUMBERED),
	PART(msg_open, "shards", U64, job.shards, WIRE_STREAMS_MAX,
		"streams, for stable and for policies with shards; 0: the usual number"),
	PART(msg_open, "shard", TEXT, job.shard, WIRE_TEXT_MAX,
		"numbers of the streams to read, with commas between; empty: all of them"),
	PART(msg_open, "epoch", U64, job.epoch, UINT32_MAX, "number of the iteration, from 1"),
	PART(msg_open, "seeded", BOOL, job.seeded, 0, "the seed is given"),
	PART(msg_open, "seed", U64, job.seed, 0, NULL),
	PART(msg_open, "options", TEXT, job.options, WIRE_TEXT_MAX,
		"other options, which must be the same for all readers of the job"),
	PART(msg_open, "min_workers", U32, job.min_workers, 0, "wait until this many workers are ready"),
	PART(msg_open, "wait_ms", U32, job.wait_ms, 0,
	     "wait at most this long, then ERROR 69: a job that nobody was let into is gone then"),
	U64(msg_open, iteration, "0 the first time; when repeated, the id from JOB"),
	U64(msg_open, seat, "likewise"),
	BOOL(msg_open, resume, "resume from `have`"),
	LIST(msg_open, have, WIRE_STREAMS_MAX, stream_ranges, struct msg_stream_ranges,
		"what the reader's consumer got in earlier runs"),
	PART(msg_open, "checkpoint", BOOL, job.checkpoint, 0, "keep the job until this reader returns"),
	PART(msg_open, "limited", BOOL, job.limited, 0, "max_errors is given"),
	PART(msg_open, "max_errors", U64, job.max_errors, 0,
		"if more elements fail, the iteration fails; the smallest number of any reader counts"),
	PART(msg_open, "target", U32, job.target, JOB_TARGETS - 1, JOB_TARGET_NUMBERED),
	PART(msg_open, "where", TEXT, job.where, WIRE_NAME_MAX,
		"tags that its workers have, joined by commas; !TAG: that they lack"),
	PART(msg_open, "compression", U32, job.compression, JOB_COMPRESSIONS - 1, JOB_COMPRESSION_NUMBERED),
	PART(msg_open, "consumer", TEXT, job.consumer, WIRE_NAME_MAX,
		"its place in the rounds of the job, as I/M, or its places, as A-B/M; empty: there are no rounds"),
	PART(msg_open, "tail", U32, job.tail, JOB_TAILS - 1, JOB_TAIL_NUMBERED),
	PART(msg_open, "tail_of", U32, job.tail_of, JOB_TAIL_OFS - 1, JOB_TAIL_OF_NUMBERED),
	PART(msg_open, "seat_wait", U64, job.seat_wait, INT64_MAX,
		"ns that consumers wait for one that is away; 0: the usual time; 9223372036854775807: for ever"),
	PART(msg_open, "share", U32, job.share, JOB_SHARES - 1, JOB_SHARE_NUMBERED),
	PART(msg_open, "group", TEXT, job.group, WIRE_NAME_MAX, "its group, in a job that is shared"),
	PART(msg_open, "share_window", U64, job.share_window, INT64_MAX,
		"with share window: bytes that each worker keeps for groups that are behind; 0: its memory"),
	PART(msg_open, "from", U32, job.from, JOB_FROMS - 1,
		"where a group begins that comes when the pass is under way: " JOB_FROM_NUMBERED),
	PART(msg_open, "checkpoint_rounds", U64, job.checkpoint_rounds, INT64_MAX,
		"rounds after which another number of consumers can go on: multiples of this; 0: none"),
	{ "took", FIELD_WORDS, offsetof(struct msg_open, took), ROUND_PLACES_MAX,
		"consumers of another number, each as I/M or A-B/M, whose positions are given, with what they have in common:",
		NULL, 0, false },
	LIST(msg_open, marks, WIRE_MARKS_MAX, mark, struct msg_mark,
		"rounds to go on from; with `resume` the one that the pass of its position began with"),
	BOOL(msg_open, pass_seed, "with `resume`: `seed` is the one of the pass, whatever its number"),
	{ 0 }
};
static const struct field job[] = {
	U64(msg_job, iteration, "its id"),
	U64(msg_job, seat, "the reader's number in the iteration, part of all later messages"),
	PART(msg_job, "job", TEXT, opts.name, WIRE_NAME_MAX, NULL),
	NAME(msg_job, dataset, "id"),
	TEXT(msg_job, spec, WIRE_SPEC_MAX, NULL),
	TEXT(msg_job, type, WIRE_SPEC_MAX, NULL),
	PART(msg_job, "sharding", U32, opts.sharding, JOB_SHARDINGS - 1, NULL),
	PART(msg_job, "order", U32, opts.order, JOB_ORDERS - 1, NULL),
	PART(msg_job, "shards", U64, opts.shards, WIRE_STREAMS_MAX, NULL),
	PART(msg_job, "epoch", U64, opts.epoch, UINT32_MAX, NULL),
	PART(msg_job, "seed", U64, opts.seed, 0, "seed of the iteration"),
	U32(msg_job, block, 0, "stable: number of elements taken from each stream in turn"),
	PART(msg_job, "target", U32, opts.target, JOB_TARGETS - 1, NULL),
	U32(msg_job, view, 0, "number of the view of each stream that the reader takes from; offsets are counted in it"),
	U32(msg_job, places, ROUND_PLACES_MAX, "number of places in a round; 1: there are no rounds"),
	BOOL(msg_job, fenced, "the consumers have agreed on an end:"),
	U64(msg_job, fence, "so many rounds of the pass, in all runs together"),
	U64(msg_job, begin, "rounds before the first, which another number of consumers had"),
	LIST(msg_job, base, WIRE_STREAMS_MAX, number, struct msg_number, "elements that each stream gave in those"),
	BOOL(msg_job, shareless, "sharding hint, but the pipeline takes no share from the job: each stream gives everything"),
	{ 0 }
};
static const struct field stream[] = {
	U32(msg_stream, stream, 0, NULL),
	U32(msg_stream, gen, 0, "chunks of other generations are void"),
	U32(msg_stream, state, WIRE_STREAM_STATES - 1, "0 waiting, 1 running, 2 ended, 3 finished, 4 failed"),
	U64(msg_stream, worker, "peer id; 0: none from which this reader may take it"),
	TEXT(msg_stream, endpoint, WIRE_TEXT_MAX, "endpoint of the worker, as it told it"),
	U64(msg_stream, length, "number of elements, once ended; when failed, those before the element that failed"),
	U64(msg_stream, split, "when failed, number of the split that was being read"),
	U64(msg_stream, floor, "all offsets below this are acknowledged, or were missed"),
	U64(msg_stream, missed, "in a job that is shared, number of elements that the reader's group was not given"),
	BOOL(msg_stream, local, "the worker is on the reader's host"),
	BOOL(msg_stream, made, "in rounds: `own` is known"),
	U64(msg_stream, own,
		"in rounds, elements in whole rounds of this stream; those behind them come after all whole rounds"),
	SECRET(msg_stream, ticket, "ticket for CREDIT and CHUNK_ACK"),
	{ 0 }
};
static const struct field streams[] = {
	U64(msg_streams, iteration, NULL),
	U64(msg_streams, since,
		"the version before these changes; 0: a complete list. If the reader does not have that version, a message is "
		"missing"),
	U64(msg_streams, version, "the version after these changes; repeated in BEAT"),
	BOOL(msg_streams, all_known, "no stream will be added"),
	U32(msg_streams, total, WIRE_STREAMS_MAX, "number of streams so far"),
	LIST(msg_streams, list, WIRE_STREAMS_MAX, stream, struct msg_stream, "the streams that changed"),
	{ 0 }
};
static const struct field hold[] = { KEY(msg_stream_ref), { 0 } };
static const struct field held[] = {
	KEY(msg_held),
	U64(msg_held, seat, NULL),
	RANGES(msg_held, ranges, "offsets received and kept, but not in an ACK that was answered"),
	{ 0 }
};
static const struct field ack[] = {
	U64(msg_ack, iteration, NULL),
	U64(msg_ack, seat, NULL),
	U64(msg_ack, seq, "number of this ACK, counted from 1; a repeated ACK has the same number and contents"),
	LIST(msg_ack, list, WIRE_STREAMS_MAX, stream_ranges, struct msg_stream_ranges, "elements written since the last ACK"),
	{ 0 }
};
static const struct field floors[] = {
	U32(msg_floor, stream, 0, NULL),
	U64(msg_floor, floor, "all offsets below this are acknowledged"),
	{ 0 }
};
static const struct field acked[] = {
	U64(msg_acked, iteration, NULL),
	U64(msg_acked, seat, NULL),
	U64(msg_acked, seq, "this ACK and all earlier ones are recorded"),
	LIST(msg_acked, floors, WIRE_STREAMS_MAX, floors, struct msg_floor, "floors of the streams in that ACK"),
	U32(msg_acked, pace_ms, 0, "how long to collect acknowledgements for the next ACK; it grows with the readers"),
	{ 0 }
};
static const struct field close[] = {
	U64(msg_close, iteration, NULL),
	U64(msg_close, seat, NULL),
	U64(msg_close, seq, "as in ACK"),
	BOOL(msg_close, keep, "keep the job until this reader returns"),
	LIST(msg_close, list, WIRE_STREAMS_MAX, stream_ranges, struct msg_stream_ranges,
		"elements written since the last ACK"),
	U32(msg_close, view, 0, "as in JOB"),
	{ 0 }
};
static const struct field closed[] = { U64(msg_closed, iteration, NULL), U64(msg_closed, seat, NULL), { 0 } };
static const struct field done_fault[] = {
	U64(msg_fault, nth, "number among the stream's failures, from 1; 0: the failure that ended the stream"),
	U32(msg_fault, op, 0, "number of the operator in the spec"),
	TEXT(msg_fault, text, WIRE_FAULT_TEXT, "text of the operator"),
	TEXT(msg_fault, error, WIRE_FAULT_TEXT, "what went wrong"),
	TEXT(msg_fault, file, WIRE_FAULT_TEXT, "file of the source"),
	U64(msg_fault, line, "line of the file; 0: unknown"),
	TEXT(msg_fault, element, WIRE_FAULT_TEXT, "the element as JSON, shortened"),
	NAME(msg_fault, worker, "name of the worker"),
	U32(msg_fault, stream, 0, NULL),
	U64(msg_fault, offset,
		"number of elements the stream had given by then; exact unless operators work ahead of the stream"),
	{ 0 }
};
static const struct field done[] = {
	U64(msg_done, iteration, NULL),
	U32(msg_done, code, 255, "0: all elements are acknowledged; otherwise an exit code"),
	TEXT(msg_done, text, WIRE_TEXT_MAX, "why"),
	TEXT(msg_done, help, WIRE_TEXT_MAX, NULL),
	U64(msg_done, elements, "number of elements in all streams"),
	U64(msg_done, failed, "number of elements that failed and were skipped or kept"),
	U64(msg_done, dropped, "number of elements that went to nobody, since they did not fill a round"),
	U64(msg_done, added, "number of nulls that filled up rounds"),
	LIST(msg_done, faults, WIRE_FAULTS_MAX, done_fault, struct msg_fault, "the first of these failures"),
	U64(msg_done, missed, "in a job that is shared, number of elements that the reader's group was not given"),
	TEXT(msg_done, lacks, WIRE_TEXT_MAX, "which they are: the first of them, for people"),
	{ 0 }
};
static const struct field gone[] = {
	U64(msg_gone, iteration, NULL),
	U64(msg_gone, seat, NULL),
	U32(msg_gone, code, 255, "exit code: 75 taken for lost, 66 the job was forgotten"),
	TEXT(msg_gone, text, WIRE_TEXT_MAX, "why"),
	{ 0 }
};

const struct msg_desc msg_descs_control[MSG_LIST] = {
	[MSG_HELLO] = { "HELLO", "any -> dispatcher",
		"The first message of a peer; answered by WELCOME or REFUSED. Sent again after WHO and when the dispatcher was "
		"lost.", hello, 1, MAY_ANY },
	[MSG_BEAT] = { "BEAT", "any <-> dispatcher",
		"A sign of life. The dispatcher answers each with a BEAT of zeros.", beat, 0, MAY_ANY },
	[MSG_BYE] = { "BYE", "any <-> dispatcher",
		"The sender leaves; answered by BYE_OK, for a worker that drains as soon as it has no stream left. A dispatcher "
		"that sends BYE ends for good; workers and readers answer with BYE. With `drain` it asks a worker to leave.",
		bye, 0, MAY_ANY },
	[MSG_WELCOME] = { "WELCOME", "dispatcher -> any", "Answers HELLO.", welcome, 0, 0 },
	[MSG_REFUSED] = { "REFUSED", "dispatcher -> any", "Answers HELLO: this peer is not accepted.", refused, 0, 0 },
	[MSG_WHO] = { "WHO", "dispatcher -> any",
		"Answers any message of a peer that the dispatcher does not know: send HELLO, then again everything that has not "
		"been answered.", none, 0, 0 },
	[MSG_BYE_OK] = { "BYE_OK", "dispatcher -> any", "Answers BYE.", none, 0, 0 },
	[MSG_ERROR] = { "ERROR", "both ways", "Answers any request that failed.", error, 0, MAY_WORK | MAY_ADMIN },
	[MSG_REGISTER] = { "REGISTER", "reader, tool -> dispatcher",
		"Registers a dataset; answered by DATASET or ERROR.", reg, 1, MAY_REGISTER | MAY_ADMIN },
	[MSG_GET] = { "GET", "reader, tool -> dispatcher", "Asks for a dataset; answered by DATASET or ERROR 66.",
		get, 0, MAY_USER | MAY_ADMIN },
	[MSG_DATASET] = { "DATASET", "dispatcher -> reader, tool", "Answers REGISTER and GET.", dataset, 1, 0 },
	[MSG_STATUS] = { "STATUS", "tool -> dispatcher", "Answered by REPORT or ERROR 66.", status, 0, MAY_ANY },
	[MSG_REPORT] = { "REPORT", "dispatcher -> tool", "Answers STATUS.", report, 1, 0 },
	[MSG_OPEN] = { "OPEN", "reader -> dispatcher",
		"Joins an iteration of a job; answered by JOB or ERROR, once units and workers are available. Sent again, with "
		"iteration and seat, after every new HELLO.", open, 1, MAY_USER | MAY_ADMIN },
	[MSG_JOB] = { "JOB", "dispatcher -> reader", "Answers OPEN.", job, 1, 0 },
	[MSG_STREAMS] = { "STREAMS", "dispatcher -> reader", "Streams that are new or have changed.", streams, 1, 0 },
	[MSG_HOLD] = { "HOLD", "dispatcher -> reader",
		"The stream moves to this generation: drop chunks of older ones; answered by HELD. Repeated until then.",
		hold, 0, 0 },
	[MSG_HELD] = { "HELD", "reader -> dispatcher", "Answers HOLD.", held, 1, MAY_USER | MAY_ADMIN },
	[MSG_ACK] = { "ACK", "reader -> dispatcher",
		"Elements that were written; answered by ACKED. Repeated until then.", ack, 1, MAY_USER | MAY_ADMIN },
	[MSG_ACKED] = { "ACKED", "dispatcher -> reader", "Answers ACK.", acked, 1, 0 },
	[MSG_CLOSE] = { "CLOSE", "reader -> dispatcher",
		"The reader leaves the iteration; answered by CLOSED. Elements that it had and did not acknowledge go to "
		"others.", close, 1, MAY_USER | MAY_ADMIN },
	[MSG_CLOSED] = { "CLOSED", "dispatcher -> reader", "Answers CLOSE.", closed, 0, 0 },
	[MSG_DONE] = { "DONE", "dispatcher -> reader", "The iteration is over; the reader answers with CLOSE.", done, 1, 0 },
	[MSG_GONE] = { "GONE", "dispatcher -> reader",
		"The reader was taken for lost, and its elements go to others, or its job was forgotten: it must stop.", gone, 0, 0 },
};
