/* SPDX-License-Identifier: MIT
 *
 * Messages of workers with the dispatcher and with readers.
 */
#include "wire/table.h"

static const struct field list[] = {
	TEXT(msg_list, spec, WIRE_SPEC_MAX, "canonical"),
	BOOL(msg_list, dynamic, "streams share the elements: say so (code 65) when an operator means something only over all of them"),
	BOOL(msg_list, in_order, "order source in several streams: say so (code 65) when they would give something else than one process"),
	BOOL(msg_list, seeded, "the job has a seed: random numbers count, too"),
	{ 0 }
};
static const struct field units[] = {
	U64(msg_units, listing, "number of the listing, counted up by the worker"),
	U32(msg_units, part, WIRE_UNITS_MAX, "number of this part of the list, from 0"),
	BOOL(msg_units, last, "there is no part behind it"),
	U32(msg_units, code, 255, "0, or the exit code of what went wrong"),
	TEXT(msg_units, text, WIRE_TEXT_MAX, "why"),
	TEXT(msg_units, help, WIRE_TEXT_MAX, NULL),
	U64(msg_units, times, "the units are read so many times; 9223372036854775807: for ever"),
	{ "units", FIELD_SPLITS, offsetof(struct msg_units, units), WIRE_UNITS_PART, "in the source's order", NULL, 0 },
	{ 0 }
};
static const struct field assign[] = {
	KEY(msg_assign),
	NAME(msg_assign, job, "for people"),
	TEXT(msg_assign, spec, WIRE_SPEC_MAX, "canonical"),
	U64(msg_assign, seed, "of the iteration"),
	BOOL(msg_assign, by_split, "ask for splits; else the stream is the whole dataset"),
	U32(msg_assign, order, WIRE_ORDERS - 1, NULL),
	U64(msg_assign, offset, "of the first element to make"),
	U64(msg_assign, split, "number of the first split to ask for"),
	BYTES(msg_assign, state, WIRE_STATE_MAX, "the chain's state at `offset`"),
	BOOL(msg_assign, has_state, "false: a fresh chain, at the begin of that split"),
	RANGES(msg_assign, skip, "offsets to make but not to send"),
	U64(msg_assign, failed, "elements that failed before `offset`: the next failure has the number after"),
	U32(msg_assign, streams, WIRE_STREAMS_MAX, "of the iteration so far: for programs that are run"),
	BOOL(msg_assign, all_known, "there will be no more streams"),
	{ 0 }
};
static const struct field assigned[] = { KEY(msg_assigned), { 0 } };
static const struct field revoke[] = { KEY(msg_revoke), { 0 } };
static const struct field revoked[] = { KEY(msg_revoked), { 0 } };
static const struct field split_req[] = {
	KEY(msg_split_req),
	U64(msg_split_req, k, "number in the stream, from 0"),
	U32(msg_split_req, n, 1024, "at most so many of those that were given before; a new one comes alone"),
	{ 0 }
};
static const struct field split[] = {
	KEY(msg_split),
	U64(msg_split, k, "number of the first"),
	{ "splits", FIELD_SPLITS, offsetof(struct msg_split, splits), 1024, NULL, NULL, 0 },
	BOOL(msg_split, end, "the stream gets no more after these"),
	U32(msg_split, streams, WIRE_STREAMS_MAX, "with end: streams of the iteration in all; 0: more may come"),
	{ 0 }
};
static const struct field restart[] = {
	KEY(msg_restart),
	U64(msg_restart, offset, "elements made before it"),
	U64(msg_restart, split, "number of the first split to ask for from there on"),
	U64(msg_restart, failed, "elements that had failed then"),
	BYTES(msg_restart, state, WIRE_STATE_MAX, "of the chain; empty: fresh, at the begin of that split"),
	{ 0 }
};
static const struct field stream_end[] = {
	KEY(msg_stream_end),
	U64(msg_stream_end, length, "elements in the stream; of a failure, those before it"),
	U64(msg_stream_end, split, "of a failure: number of the split that was being read"),
	U64(msg_stream_end, made, "elements produced under this generation"),
	U64(msg_stream_end, failed, "elements of the stream that failed and were let go"),
	U32(msg_stream_end, code, 255, "0, or the exit code of the failure"),
	TEXT(msg_stream_end, text, WIRE_TEXT_MAX, "why, with operator, file and line"),
	TEXT(msg_stream_end, help, WIRE_TEXT_MAX, NULL),
	{ 0 }
};
static const struct field handover[] = {
	KEY(msg_handover),
	U64(msg_handover, offset, "elements made, all of them acknowledged"),
	U64(msg_handover, split, "number of the first split to ask for from there on"),
	U64(msg_handover, made, "elements produced under this generation"),
	U64(msg_handover, failed, "elements that had failed then"),
	BYTES(msg_handover, state, WIRE_STATE_MAX, "of the chain"),
	{ 0 }
};
static const struct field end_ok[] = { KEY(msg_stream_ref), { 0 } };
static const struct field reader_gone[] = {
	KEY(msg_reader_gone),
	U64(msg_reader_gone, seat, NULL),
	RANGES(msg_reader_gone, acked, "what the dispatcher knows to be acknowledged, by whomever"),
	{ 0 }
};
static const struct field gone_ok[] = {
	KEY(msg_gone_ok),
	U64(msg_gone_ok, seat, NULL),
	RANGES(msg_gone_ok, acked, "what that reader had acknowledged to the worker"),
	{ 0 }
};
static const struct field credit[] = {
	KEY(msg_credit),
	U64(msg_credit, seat, NULL),
	U32(msg_credit, session, 0, "counts up when the connection broke; the total begins again at 0"),
	U64(msg_credit, total, "chunks it may be sent in this session, in all"),
	{ 0 }
};
static const struct field chunk[] = {
	KEY(msg_chunk),
	U64(msg_chunk, seat, "of the reader it is for"),
	U32(msg_chunk, session, 0, "of the CREDIT it was sent on; counts only if that is the one of now"),
	U64(msg_chunk, offset, "of the first element in the payload"),
	U32(msg_chunk, count, 0, "elements in the payload"),
	U32(msg_chunk, skip, 0, "of those, so many at the front are to be ignored"),
	U64(msg_chunk, split, "number, in its stream, of the split the elements came from"),
	U32(msg_chunk, codec, WIRE_CODECS - 1, "0 none, 1 snappy"),
	U64(msg_chunk, raw_len, "bytes of the payload once decoded"),
	{ 0 }
};
static const struct field chunk_ack[] = {
	KEY(msg_chunk_ack),
	U64(msg_chunk_ack, seat, NULL),
	RANGES(msg_chunk_ack, ranges, "offsets that need not be kept any more"),
	{ 0 }
};
static const struct field void_[] = { KEY(msg_void), U64(msg_void, seat, NULL), { 0 } };

static const struct field fault[] = {
	U64(msg_fault, nth, "of the stream's failures, from 1; 0: this one ended the stream"),
	U32(msg_fault, op, 0, "number of the operator in the spec"),
	TEXT(msg_fault, text, WIRE_FAULT_TEXT, "of the operator"),
	TEXT(msg_fault, error, WIRE_FAULT_TEXT, "what was wrong"),
	TEXT(msg_fault, file, WIRE_FAULT_TEXT, "of the source"),
	U64(msg_fault, line, "0: unknown"),
	TEXT(msg_fault, element, WIRE_FAULT_TEXT, "as JSON, cut"),
	U64(msg_fault, offset, "elements the stream had given then: all before it, unless operators work ahead of the stream"),
	{ 0 }
};
static const struct field faults[] = {
	KEY(msg_faults),
	U64(msg_faults, failed, "elements of the stream that failed so far, counted by all its generations alike"),
	LIST(msg_faults, list, WIRE_FAULTS_MAX, fault, struct msg_fault, "of those, the new ones, as far as they are told one by one"),
	{ 0 }
};

static const struct field reached[] = { KEY(msg_reached), U64(msg_reached, seat, NULL), { 0 } };

#define ROW(t) [MSG_##t - MSG_LIST]
const struct msg_desc msg_descs_service[MSG_TYPES - MSG_LIST] = {
	ROW(LIST) = { "LIST", "dispatcher -> worker", "Asks for the units of a dataset's source; answered by UNITS.", list, 1 },
	ROW(UNITS) = { "UNITS", "worker -> dispatcher", "Answers LIST, in parts: those of one listing come in order. After a gap, or a part of a listing that is not begun, the rest of it is of no use, and LIST is asked again.", units, 0 },
	ROW(ASSIGN) = { "ASSIGN", "dispatcher -> worker", "Run this stream; answered by ASSIGNED. Repeated until then.", assign, 1 },
	ROW(ASSIGNED) = { "ASSIGNED", "worker -> dispatcher", "Answers ASSIGN.", assigned, 0 },
	ROW(REVOKE) = { "REVOKE", "dispatcher -> worker", "Stop and forget this stream, in this generation and all before; answered by REVOKED. Repeated until then.", revoke, 0 },
	ROW(REVOKED) = { "REVOKED", "worker -> dispatcher", "Answers REVOKE.", revoked, 0 },
	ROW(SPLIT_REQ) = { "SPLIT_REQ", "worker -> dispatcher", "Asks for split k of a stream; the answer, SPLIT, is the same each time.", split_req, 0 },
	ROW(SPLIT) = { "SPLIT", "dispatcher -> worker", "Answers SPLIT_REQ.", split, 1 },
	ROW(RESTART) = { "RESTART", "worker -> dispatcher", "A restart point. Not answered: a lost one costs time only.", restart, 1 },
	ROW(STREAM_END) = { "STREAM_END", "worker -> dispatcher", "All elements are made, or it failed; answered by END_OK, a failure only when the iteration is over or the stream goes elsewhere. Repeated until then.", stream_end, 0 },
	ROW(HANDOVER) = { "HANDOVER", "worker -> dispatcher", "Stopped at a restart point, all before it delivered: another worker goes on; answered by END_OK.", handover, 1 },
	ROW(END_OK) = { "END_OK", "dispatcher -> worker", "Answers STREAM_END and HANDOVER.", end_ok, 0 },
	ROW(READER_GONE) = { "READER_GONE", "dispatcher -> worker", "What this reader has not acknowledged goes to others; nothing of it counts any more; answered by GONE_OK. Repeated until then.", reader_gone, 1 },
	ROW(GONE_OK) = { "GONE_OK", "worker -> dispatcher", "Answers READER_GONE.", gone_ok, 1 },
	ROW(CREDIT) = { "CREDIT", "reader -> worker", "How many chunks of a stream the worker may send. Idempotent.", credit, 0 },
	ROW(CHUNK) = { "CHUNK", "worker -> reader", "Consecutive elements of a stream; a payload frame follows.", chunk, 0 },
	ROW(CHUNK_ACK) = { "CHUNK_ACK", "reader -> worker", "Written: the worker may forget them.", chunk_ack, 1 },
	ROW(VOID) = { "VOID", "worker -> reader", "Answers CREDIT: it does not have that stream and generation, or not for that seat.", void_, 0 },
	ROW(REACHED) = { "REACHED", "reader -> dispatcher", "In an iteration with an order: all elements before the one that failed in this stream are written. Answered by DONE, once they are acknowledged. Repeated until then.", reached, 0 },
	ROW(FAULTS) = { "FAULTS", "worker -> dispatcher", "Elements that failed. Not answered: the number comes again with RESTART and STREAM_END.", faults, 1 },
};
