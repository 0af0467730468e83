/* SPDX-License-Identifier: MIT
 *
 * Messages of workers with the dispatcher and with readers.
 */
#include "wire/role.h"
#include "wire/table.h"

static const struct field list[] = {
	TEXT(msg_list, spec, WIRE_SPEC_MAX, "canonical form"),
	U32(msg_list, sharding, JOB_SHARDINGS - 1, "as in OPEN: answer with code 65 if the pipeline does not go with it"),
	BOOL(msg_list, in_order,
		"order source in several streams: answer with code 65 if they would give something else than one process"),
	BOOL(msg_list, seeded, "the job has a seed, so random numbers must be the same, too"),
	BOOL(msg_list, programs, "as in ASSIGN"),
	{ 0 }
};
static const struct field units[] = {
	U64(msg_units, listing, "number of the listing, counted up by the worker"),
	U32(msg_units, part, WIRE_UNITS_MAX, "number of this part of the list, from 0"),
	BOOL(msg_units, last, "this is the last part"),
	U32(msg_units, code, 255, "0, or the exit code of what went wrong"),
	TEXT(msg_units, text, WIRE_TEXT_MAX, "why"),
	TEXT(msg_units, help, WIRE_TEXT_MAX, NULL),
	U64(msg_units, times, "how many times the units are read; 9223372036854775807: for ever"),
	U64(msg_units, period,
		"so many passes over the units are one repetition of the pipeline, and the job ends with one in which no element "
		"has come to its `repeat`; 0: whatever comes"),
	BOOL(msg_units, files, "each unit is a file: file_or_data means file"),
	BOOL(msg_units, by_one, "elements of a kind lie together, or are large: rounds come from the streams one by one"),
	FACTS(msg_units, facts),
	{ "units", FIELD_SPLITS, offsetof(struct msg_units, units), WIRE_UNITS_PART, "in the source's order", NULL, 0, false },
	{ 0 }
};
static const struct field view[] = {
	U32(msg_view, first, ROUND_PLACES_MAX, "first of its places in each round"),
	U32(msg_view, n, ROUND_PLACES_MAX, "number of its places"),
	RANGES(msg_view, skip, "offsets, counted in the view, to make but not to send"),
	{ 0 }
};
static const struct field assign[] = {
	KEY(msg_assign),
	NAME(msg_assign, job, "shown to people"),
	TEXT(msg_assign, spec, WIRE_SPEC_MAX, "canonical form"),
	U64(msg_assign, seed, "seed of the iteration"),
	BOOL(msg_assign, by_split, "ask for splits; otherwise the stream is the whole dataset"),
	U32(msg_assign, sharding, JOB_SHARDINGS - 1,
		"data: of all elements give those whose number mod `streams` is `stream`; hint: `shard auto auto` does so where "
		"it stands"),
	U32(msg_assign, order, JOB_ORDERS - 1, NULL),
	U64(msg_assign, offset, "offset of the first element to make"),
	U64(msg_assign, split, "number of the first split to ask for"),
	BYTES(msg_assign, state, WIRE_STATE_MAX, "the chain's state at `offset`"),
	BOOL(msg_assign, has_state, "false: a fresh chain, at the beginning of that split"),
	U64(msg_assign, failed, "number of elements that failed before `offset`; the next failure gets the next number"),
	U32(msg_assign, streams, WIRE_STREAMS_MAX, "number of streams of the iteration so far, for programs that are run"),
	BOOL(msg_assign, all_known, "there will be no more streams"),
	U64(msg_assign, listed, "sum of the names of the files that the source must have; 0: whatever it has"),
	U32(msg_assign, compression, JOB_COMPRESSIONS - 1, "of its chunks, as in OPEN; auto: as the worker likes"),
	SECRET(msg_assign, secret, "secret of which the tickets for this stream are made"),
	U32(msg_assign, places, ROUND_PLACES_MAX, "number of places in a round; 1: every view gets all elements"),
	U64(msg_assign, base, "the element with which its first round begins; those before it go to nobody"),
	LIST(msg_assign, views, WIRE_VIEWS_MAX, view, struct msg_view,
		"the queues of the stream: element o goes to those that have place o mod `places`"),
	BOOL(msg_assign, tail_known,
		"in rounds: it is known where the elements go that do not fill a round. Then ASSIGN is repeated"),
	U64(msg_assign, tail_at, "the first of them goes to place `tail_at` mod `places`, and so on"),
	U32(msg_assign, tail_n, ROUND_PLACES_MAX * 2,
		"so many of them: others are dropped, and null is added where they are too few"),
	U64(msg_assign, tail_all,
		"not 0: so many of all streams are left; those of the last round, n of its `places`, are spread: the k-th goes "
		"to place k * `places` div n, and null to the others"),
	BOOL(msg_assign, pad, "null may have to be added"),
	U64(msg_assign, window,
		"bytes of the iteration's streams that the worker keeps: when a reader has credit and there is nothing for it, "
		"the views behind miss the oldest elements beyond that; 0: none is missed"),
	BOOL(msg_assign, shared, "views may be added: what all have is kept for them while there is room"),
	BOOL(msg_assign, programs,
		"it may run programs: an admin, or a key with the option exec, gave the spec, or nobody is asked for keys"),
	BOOL(msg_assign, careful,
		"workers were lost while they made it: each run of elements is announced with STEP, and made after STEP_OK"),
	{ 0 }
};
static const struct field assigned[] = { KEY(msg_assigned), { 0 } };
static const struct field revoke[] = { KEY(msg_revoke), { 0 } };
static const struct field revoked[] = { KEY(msg_revoked), { 0 } };
static const struct field split_req[] = {
	KEY(msg_split_req),
	U64(msg_split_req, k, "number of the split in the stream, from 0"),
	U32(msg_split_req, n, 1024,
		"how many splits may be sent at once if they were given before; a new split is sent alone"),
	U64(msg_split_req, given, "elements that the stream has given so far (its offset), or has stored"),
	U64(msg_split_req, reading,
		"number of the split that is being read. As long as `reached` is false, all that those before it have given has "
		"gone through"),
	BOOL(msg_split_req, reached, "in this generation an element has come to the `repeat` that `period` of UNITS is about"),
	BOOL(msg_split_req, ended, "a source that has grown grows no more: `leaf` has `length` parts in all"),
	U32(msg_split_req, leaf, 0, "with ended: number of the source in the pipeline"),
	U64(msg_split_req, length, "with ended"),
	{ 0 }
};
static const struct field split[] = {
	KEY(msg_split),
	U64(msg_split, k, "number of the first split"),
	{ "splits", FIELD_SPLITS, offsetof(struct msg_split, splits), 1024, NULL, NULL, 0, false },
	BOOL(msg_split, end, "the stream gets no more after these"),
	U32(msg_split, streams, WIRE_STREAMS_MAX, "with end: total number of streams of the iteration; 0: more may come"),
	{ 0 }
};
static const struct field restart[] = {
	KEY(msg_restart),
	U64(msg_restart, offset, "number of elements made before it"),
	U64(msg_restart, split, "number of the first split to ask for from there on"),
	U64(msg_restart, failed, "number of elements that had failed by then"),
	BYTES(msg_restart, state, WIRE_STATE_MAX, "state of the chain; empty: a fresh chain, at the beginning of that split"),
	U64(msg_restart, window, "number of elements of usual size that the worker keeps; 0: whatever is needed"),
	BOOL(msg_restart, reached, "as in SPLIT_REQ"),
	{ 0 }
};
static const struct field stream_end[] = {
	KEY(msg_stream_end),
	U64(msg_stream_end, length, "number of elements in the stream; after a failure, of those before it"),
	U64(msg_stream_end, split, "after a failure, number of the split that was being read"),
	U64(msg_stream_end, made, "number of elements produced under this generation"),
	U64(msg_stream_end, failed, "number of elements that failed and were skipped or kept"),
	BOOL(msg_stream_end, reached, "as in SPLIT_REQ"),
	U32(msg_stream_end, code, 255, "0, or the exit code of the failure"),
	TEXT(msg_stream_end, text, WIRE_TEXT_MAX, "why, with operator, file and line"),
	TEXT(msg_stream_end, help, WIRE_TEXT_MAX, NULL),
	{ 0 }
};
static const struct field handover[] = {
	KEY(msg_handover),
	U64(msg_handover, offset, "number of elements made, all of them acknowledged, if ASSIGN has no `window`"),
	U64(msg_handover, split, "number of the first split to ask for from there on"),
	U64(msg_handover, made, "number of elements produced under this generation"),
	U64(msg_handover, failed, "number of elements that had failed by then"),
	BYTES(msg_handover, state, WIRE_STATE_MAX, "state of the chain"),
	BOOL(msg_handover, reached, "as in SPLIT_REQ"),
	{ 0 }
};
static const struct field yield[] = { KEY(msg_stream_ref), { 0 } };
static const struct field step[] = {
	KEY(msg_step),
	U64(msg_step, offset, "the first element that would be made"),
	BOOL(msg_step, held, "it waits for readers or for a slot, and is not made before STEP is said again without `held`"),
	BOOL(msg_step, ahead, "threads of its chain make elements before they are asked for, so `offset` is only about"),
	{ 0 }
};
static const struct field step_ok[] = {
	KEY(msg_step_ok),
	BOOL(msg_step_ok, free, "the rest of the stream may be made without STEP"),
	{ 0 }
};
static const struct field yielded[] = {
	KEY(msg_yielded),
	BOOL(msg_yielded, stays, "it ends here: its operators cannot say where they are, or all of it is made"),
	{ 0 }
};
static const struct field end_ok[] = { KEY(msg_stream_ref), { 0 } };
static const struct field reader_gone[] = {
	KEY(msg_reader_gone),
	U64(msg_reader_gone, seat, NULL),
	RANGES(msg_reader_gone, acked, "offsets that the dispatcher knows to be acknowledged, by any reader of its view"),
	U32(msg_reader_gone, view, 0, "number of the view from which the reader takes"),
	BOOL(msg_reader_gone, ended, "the view has no readers any more: nothing is kept for it"),
	{ 0 }
};
static const struct field gone_ok[] = {
	KEY(msg_gone_ok),
	U64(msg_gone_ok, seat, NULL),
	RANGES(msg_gone_ok, acked, "offsets of that view that were acknowledged to the worker"),
	U32(msg_gone_ok, view, 0, NULL),
	BOOL(msg_gone_ok, ended, "nothing is kept for the view"),
	{ 0 }
};
static const struct field take[] = {
	KEY(msg_take),
	U64(msg_take, seat, NULL),
	U32(msg_take, view, 0, "number of the view from which the reader takes"),
	{ 0 }
};
static const struct field takes[] = {
	LIST(msg_takes, list, WIRE_TAKES_MAX, take, struct msg_take, "streams, and readers that were sent chunks of them"),
	{ 0 }
};
static const struct field takes_ok[] = { { 0 } };
static const struct field missed[] = {
	KEY(msg_missed),
	U32(msg_missed, view, 0, NULL),
	RANGES(msg_missed, ranges, "offsets"),
	{ 0 }
};
static const struct field view_add[] = {
	KEY(msg_view_add),
	U32(msg_view_add, view, WIRE_VIEWS_MAX - 1, "number of the view"),
	U64(msg_view_add, first, "offset of the first element that it is to get"),
	BOOL(msg_view_add, later, "if that is not there any more it may begin at the first that is"),
	{ 0 }
};
static const struct field view_ok[] = {
	KEY(msg_view_ok),
	U32(msg_view_ok, view, 0, NULL),
	BOOL(msg_view_ok, can, "false: the stream has to be made again for it"),
	U64(msg_view_ok, begin, "offset of the first element that it gets"),
	{ 0 }
};
static const struct field credit[] = {
	KEY(msg_credit),
	U64(msg_credit, seat, NULL),
	U32(msg_credit, session, 0, "increases each time the connection broke; the total then begins again at 0"),
	U64(msg_credit, total, "total number of chunks that the reader may be sent in this session"),
	SECRET(msg_credit, ticket, "ticket of STREAMS"),
	U32(msg_credit, view, 0, "number of the view that it takes from, as in JOB"),
	{ 0 }
};
static const struct field chunk[] = {
	KEY(msg_chunk),
	U64(msg_chunk, seat, "seat of the reader that it is for"),
	U32(msg_chunk, session, 0, "session of the CREDIT that it was sent on; valid only if this is still the current one"),
	U64(msg_chunk, offset, "offset of the first element in the payload"),
	U32(msg_chunk, count, 0, "number of elements in the payload"),
	BOOL(msg_chunk, tail, "in rounds: they are behind the whole rounds of the stream"),
	U32(msg_chunk, skip, 0, "number of elements at the front of the payload to ignore"),
	U64(msg_chunk, split, "number, in its stream, of the split that the elements came from"),
	U32(msg_chunk, codec, WIRE_CODECS - 1, "0 none, 1 snappy"),
	U64(msg_chunk, raw_len, "bytes of the payload when decompressed"),
	U64(msg_chunk, lease,
		"0: a payload follows; else the elements lie in shared memory, and this is the number of the lease"),
	U32(msg_chunk, arena, 0, "with a lease: number of the arena in which they lie"),
	U64(msg_chunk, at, "with a lease: where they begin in the arena; `raw_len` bytes, not compressed"),
	{ 0 }
};
static const struct field chunk_ack[] = {
	KEY(msg_chunk_ack),
	U64(msg_chunk_ack, seat, NULL),
	RANGES(msg_chunk_ack, ranges, "offsets that need not be kept any more"),
	SECRET(msg_chunk_ack, ticket, "ticket of STREAMS"),
	U32(msg_chunk_ack, view, 0, "as in CREDIT"),
	{ 0 }
};
static const struct field void_[] = { KEY(msg_void), U64(msg_void, seat, NULL), { 0 } };

static const struct field fault[] = {
	U64(msg_fault, nth, "number among the stream's failures, from 1; 0: the failure that ended the stream"),
	U32(msg_fault, op, 0, "number of the operator in the spec"),
	TEXT(msg_fault, text, WIRE_FAULT_TEXT, "text of the operator"),
	TEXT(msg_fault, error, WIRE_FAULT_TEXT, "what went wrong"),
	TEXT(msg_fault, file, WIRE_FAULT_TEXT, "file of the source"),
	U64(msg_fault, line, "line of the file; 0: unknown"),
	TEXT(msg_fault, element, WIRE_FAULT_TEXT, "the element as JSON, shortened"),
	U64(msg_fault, offset,
		"number of elements the stream had given by then; exact unless operators work ahead of the stream"),
	{ 0 }
};
static const struct field stores[] = {
	KEY(msg_stores),
	PART(msg_stores, "files", U64, sum.files, 0, "files of the stream that are whole, in all its generations"),
	PART(msg_stores, "elements", U64, sum.elements, 0, "elements in them"),
	PART(msg_stores, "bytes", U64, sum.bytes, 0, NULL),
	TEXT(msg_stores, waits, WIRE_TEXT_MAX,
		"what it stands still for, until people mend it: a full disk; empty: it does not"),
	{ 0 }
};
static const struct field faults[] = {
	KEY(msg_faults),
	U64(msg_faults, failed,
		"number of elements of the stream that have failed so far; the count is the same in all its generations"),
	LIST(msg_faults, list, WIRE_FAULTS_MAX, fault, struct msg_fault,
		"the new failures among these, as far as they are reported one by one"),
	{ 0 }
};

static const struct field tap[] = {
	TEXT(msg_tap, job, WIRE_NAME_MAX, "of a tool: name or number of the job"),
	U64(msg_tap, iteration, "of a tool: 0: the pass of that job that is under way"),
	U32(msg_tap, place, 0, "the operator's number in the spec, from 1"),
	U32(msg_tap, n, WIRE_TAP_MAX, "how many of the elements that it gives next are wanted from each stream"),
	U64(msg_tap, tool, "to a worker: the peer id of the tool"),
	{ 0 }
};
static const struct field tapped[] = {
	KEY(msg_tapped),
	U64(msg_tapped, tool, "of a worker: as in TAP"),
	U32(msg_tapped, place, 0, "as in TAP"),
	U32(msg_tapped, n, 0, "number of the elements that follow"),
	U64(msg_tapped, left_out, "number of elements that were not copied, being too large"),
	BOOL(msg_tapped, over, "to a tool: the pass is over"),
	BYTES(msg_tapped, elements, WIRE_TAP_BYTES, "end to end"),
	{ 0 }
};

static const struct field attach[] = {
	NAME(msg_attach, host, "as in HELLO"),
	U32(msg_attach, user, 0, "id of the user that the reader runs as"),
	U32(msg_attach, session, 0, "of the CREDITs that follow"),
	U64(msg_attach, cookie, "from ARENA; 0: none yet"),
	RANGES(msg_attach, held, "leases that the reader has; all others given under this cookie have ended"),
	{ 0 }
};
static const struct field arena[] = {
	U64(msg_arena, cookie, "the reader says it on the socket"),
	TEXT(msg_arena, path, WIRE_TEXT_MAX, "of the socket"),
	U32(msg_arena, code, 255, "0, or an exit code: the memory is not shared"),
	TEXT(msg_arena, text, WIRE_TEXT_MAX, "why not"),
	TEXT(msg_arena, help, WIRE_TEXT_MAX, "what would help"),
	{ 0 }
};

static const struct field stop[] = {
	U64(msg_stop, iteration, NULL), U64(msg_stop, seat, NULL),
	U64(msg_stop, rounds, "number of rounds of the pass that it has begun, in all runs together"),
	U64(msg_stop, multiple, "the end is to be a multiple of it; 0: any number"), { 0 }
};
static const struct field halt[] = {
	U64(msg_halt, iteration, NULL), U64(msg_halt, seat, NULL),
	U64(msg_halt, multiple, "what STOP said of the end; said again in the answer, so that it outlives who asked"), { 0 }
};
static const struct field fence[] = {
	U64(msg_fence, iteration, NULL), U64(msg_fence, rounds, "so many are to be had by all"), { 0 }
};
static const struct field unreached[] = {
	U64(msg_unreached, iteration, NULL), U64(msg_unreached, seat, NULL), U64(msg_unreached, worker, "its peer id"),
	U32(msg_unreached, down_ms, 0, "for how long there has been no connection, in milliseconds"),
	TEXT(msg_unreached, why, WIRE_FAULT_TEXT, "for people"),
	{ 0 }
};
static const struct field reached[] = { KEY(msg_reached), U64(msg_reached, seat, NULL), { 0 } };

static const struct field forget[] = {
	{ "jobs", FIELD_WORDS, offsetof(struct msg_forget, jobs), WIRE_FORGET_MAX,
		"names or numbers of jobs", NULL, 0, false },
	{ "datasets", FIELD_WORDS, offsetof(struct msg_forget, datasets), WIRE_FORGET_MAX,
		"ids of datasets; their jobs are forgotten, too", NULL, 0, false },
	BOOL(msg_forget, force, "forget what is in use"),
	BOOL(msg_forget, again, "this was sent before and not answered: what is not there counts as forgotten"),
	{ 0 }
};
static const struct field end[] = {
	U32(msg_end, how, WIRE_ENDS - 1, "0 only say what is there, 1 when workers have handed over what they have, 2 now"),
	{ 0 }
};
static const struct field ending[] = {
	U32(msg_ending, how, WIRE_ENDS - 1, "the largest number that END had so far"),
	U32(msg_ending, workers, 0, "number of workers that are there"),
	U32(msg_ending, readers, 0, "number of readers"),
	{ 0 }
};
static const struct field forgotten[] = {
	U32(msg_forgotten, jobs, 0, "number of jobs that were forgotten"),
	U32(msg_forgotten, datasets, 0, "number of datasets"),
	U32(msg_forgotten, readers, 0, "number of their readers, which were told GONE"),
	{ 0 }
};

static const struct field invite[] = {
	NAME(msg_invite, roles, "with commas between"),
	U32(msg_invite, lasts_s, 31536000, "seconds for which it can be used"),
	U32(msg_invite, uses, 1000, "how often it can be used"),
	TEXT(msg_invite, name, 64, "name of the key that joins; empty: as JOIN says"),
	TEXT(msg_invite, from, 63, "address, or one with /BITS, from which it can be used; empty: any"),
	TEXT(msg_invite, address, 255, "address that it names; empty: the first at which the dispatcher listens with keys"),
	{ 0 }
};
static const struct field invited[] = { TEXT(msg_invited, line, WIRE_TEXT_MAX, "the invitation"), { 0 } };
static const struct field join[] = {
	TEXT(msg_join, id, 8, "first part of the invitation's fourth word"),
	TEXT(msg_join, secret, 26, "second part of it"),
	TEXT(msg_join, name, 64, "name of the key"),
	{ 0 }
};
static const struct field joined[] = {
	NAME(msg_joined, roles, "with commas between"),
	TEXT(msg_joined, name, 64, "name of the key"),
	{ 0 }
};
#define ROW(t) [MSG_##t - MSG_LIST]
const struct msg_desc msg_descs_service[MSG_TYPES - MSG_LIST] = {
	ROW(LIST) = { "LIST", "dispatcher -> worker",
		"Asks for the units of a dataset's source; answered by UNITS.", list, 1, 0 },
	ROW(UNITS) = { "UNITS", "worker -> dispatcher",
		"Answers LIST, in parts, which come in order within a listing. After a gap, or a part of a listing whose "
		"beginning is missing, the rest of the listing is useless, and LIST is sent again.", units, 0, MAY_WORK | MAY_ADMIN },
	ROW(ASSIGN) = { "ASSIGN", "dispatcher -> worker",
		"Run this stream; answered by ASSIGNED. Repeated until then.", assign, 1, 0 },
	ROW(ASSIGNED) = { "ASSIGNED", "worker -> dispatcher", "Answers ASSIGN.", assigned, 0, MAY_WORK | MAY_ADMIN },
	ROW(REVOKE) = { "REVOKE", "dispatcher -> worker",
		"Stop and forget this stream, in this generation and all earlier ones; answered by REVOKED. Repeated until "
		"then.", revoke, 0, 0 },
	ROW(REVOKED) = { "REVOKED", "worker -> dispatcher", "Answers REVOKE.", revoked, 0, MAY_WORK | MAY_ADMIN },
	ROW(SPLIT_REQ) = { "SPLIT_REQ", "worker -> dispatcher",
		"Asks for split k of a stream; the answer, SPLIT, is the same each time.", split_req, 0, MAY_WORK | MAY_ADMIN },
	ROW(SPLIT) = { "SPLIT", "dispatcher -> worker", "Answers SPLIT_REQ.", split, 1, 0 },
	ROW(RESTART) = { "RESTART", "worker -> dispatcher",
		"A restart point. Not answered: if it is lost, that only costs time.", restart, 1, MAY_WORK | MAY_ADMIN },
	ROW(STREAM_END) = { "STREAM_END", "worker -> dispatcher",
		"All elements of the stream are made, or one failed. Answered by END_OK; for a failure only when the iteration is "
		"over or the stream goes elsewhere. Repeated until then.", stream_end, 0, MAY_WORK | MAY_ADMIN },
	ROW(HANDOVER) = { "HANDOVER", "worker -> dispatcher",
		"The stream has stopped at a restart point, and everything before it is delivered, unless readers of a window "
		"wait for what comes behind it: another worker continues. "
		"Answered by END_OK.", handover, 1, MAY_WORK | MAY_ADMIN },
	ROW(END_OK) = { "END_OK", "dispatcher -> worker", "Answers STREAM_END and HANDOVER.", end_ok, 0, 0 },
	ROW(READER_GONE) = { "READER_GONE", "dispatcher -> worker",
		"Elements that this reader has not acknowledged go to others, and its messages no longer count; answered by "
		"GONE_OK. Repeated until then.", reader_gone, 1, 0 },
	ROW(GONE_OK) = { "GONE_OK", "worker -> dispatcher", "Answers READER_GONE.", gone_ok, 1, MAY_WORK | MAY_ADMIN },
	ROW(CREDIT) = { "CREDIT", "reader -> worker",
		"How many chunks of a stream the worker may send. Idempotent.", credit, 0, 0 },
	ROW(CHUNK) = { "CHUNK", "worker -> reader",
		"Consecutive elements of a stream; a payload frame follows, unless they lie in shared memory.", chunk, 0, 0 },
	ROW(CHUNK_ACK) = { "CHUNK_ACK", "reader -> worker",
		"Elements that were written: the worker may forget them.", chunk_ack, 1, 0 },
	ROW(VOID) = { "VOID", "worker -> reader",
		"Answers CREDIT: the worker does not have that stream in that generation, or not for that seat.", void_, 0, 0 },
	ROW(REACHED) = { "REACHED", "reader -> dispatcher",
		"In an iteration with an order: all elements before the one that failed in this stream are written. Answered by "
		"DONE once they are acknowledged. Repeated until then.", reached, 0, MAY_USER | MAY_ADMIN },
	ROW(ATTACH) = { "ATTACH", "reader -> worker",
		"Asks to read elements in the memory of a worker on the same machine. Sent before the first CREDIT of each "
		"session; answered by ARENA, unless the worker knows the cookie.", attach, 1, 0 },
	ROW(ARENA) = { "ARENA", "worker -> reader",
		"Answers ATTACH: the socket where the reader gets the memory, or why it gets none.", arena, 0, 0 },
	ROW(FORGET) = { "FORGET", "tool -> dispatcher",
		"Forgets jobs and datasets at once, all that are named or none; answered by FORGOTTEN or ERROR: 66 if something "
		"is not there, 75 if something is in use.", forget, 0, MAY_ADMIN },
	ROW(FORGOTTEN) = { "FORGOTTEN", "dispatcher -> tool", "Answers FORGET.", forgotten, 0, 0 },
	ROW(YIELD) = { "YIELD", "dispatcher -> worker",
		"Hand this stream over, for others have slots with nothing to do; answered by YIELDED. Repeated until then.",
		yield, 0, 0 },
	ROW(YIELDED) = { "YIELDED", "worker -> dispatcher",
		"Answers YIELD, when the stream has stopped, or cannot.", yielded, 0, MAY_WORK | MAY_ADMIN },
	ROW(INVITE) = { "INVITE", "tool -> dispatcher",
		"Asks for an invitation; answered by INVITED or ERROR.", invite, 0, MAY_ADMIN },
	ROW(INVITED) = { "INVITED", "dispatcher -> tool", "Answers INVITE.", invited, 0, 0 },
	ROW(JOIN) = { "JOIN", "guest -> dispatcher",
		"Uses an invitation; answered by JOINED or ERROR 77. It needs no HELLO, and from a key that is not known yet "
		"nothing else is heard. After JOINED the key is known: connect anew.", join, 0, MAY_GUEST },
	ROW(JOINED) = { "JOINED", "dispatcher -> guest", "Answers JOIN.", joined, 0, 0 },
	ROW(TAKES) = { "TAKES", "worker -> dispatcher",
		"Readers that were sent a first chunk of a stream. Answered by TAKES_OK, and by READER_GONE for those that are "
		"not there any more. Repeated until then; all of them are told again after each WELCOME.", takes, 0,
		MAY_WORK | MAY_ADMIN },
	ROW(TAKES_OK) = { "TAKES_OK", "dispatcher -> worker", "Answers TAKES.", takes_ok, 0, 0 },
	ROW(STOP) = { "STOP", "reader -> dispatcher",
		"Asks for an end on which all consumers of a pass of rounds agree, or answers HALT. The reader begins no other "
		"round before FENCE comes. Repeated until then.", stop, 0, MAY_USER | MAY_ADMIN },
	ROW(HALT) = { "HALT", "dispatcher -> reader",
		"Another consumer asks for an agreed end: answered by STOP. Repeated until then.", halt, 0, 0 },
	ROW(FENCE) = { "FENCE", "dispatcher -> reader",
		"Answers STOP, when all have said how many rounds they have begun: the largest of these numbers.", fence, 0, 0 },
	ROW(MISSED) = { "MISSED", "worker -> dispatcher",
		"The worker has given these elements up, and the view will not get them; answered by MISSED_OK, but not "
		"while a reader of the view is away that may have some of them. Repeated until then.", missed, 1,
		MAY_WORK | MAY_ADMIN },
	ROW(MISSED_OK) = { "MISSED_OK", "dispatcher -> worker",
		"Answers MISSED: these elements are booked as missed, unless a reader has them.", missed, 1, 0 },
	ROW(VIEW) = { "VIEW", "dispatcher -> worker",
		"A group has come to a shared job, and its view of the stream is added. Repeated until VIEW_OK.", view_add, 1, 0 },
	ROW(VIEW_OK) = { "VIEW_OK", "worker -> dispatcher",
		"Answers VIEW. What lies before `begin` the view does not get.", view_ok, 1, MAY_WORK | MAY_ADMIN },
	ROW(UNREACHED) = { "UNREACHED", "reader -> dispatcher",
		"No connection to this worker has come up for five seconds: its streams go to others, if it is out of reach of all "
		"who could take from it. Repeated while STREAMS names the worker and there is no connection; answered by GONE with "
		"code 69 if no worker that fits can be reached.", unreached, 0, MAY_USER | MAY_ADMIN },
	ROW(STORES) = { "STORES", "worker -> dispatcher",
		"What the stream has saved to files. Not answered; the last one before STREAM_END has all.", stores, 1,
		MAY_WORK | MAY_ADMIN },
	ROW(TAP) = { "TAP", "tool -> dispatcher -> worker",
		"Asks for copies of elements that an operator gives in the pass under way, which goes on as before. A tool is "
		"answered by TAPPED at once, with what has come since it asked last, or ERROR 66, and asks again for more; a worker "
		"answers as elements come by, and forgets what it was asked before.", tap, 0, MAY_USER | MAY_ADMIN },
	ROW(TAPPED) = { "TAPPED", "worker -> dispatcher -> tool",
		"Copies of elements. If it is lost, nobody minds.", tapped, 0, MAY_WORK | MAY_ADMIN },
	ROW(END) = { "END", "tool -> dispatcher",
		"Ends the service; answered by ENDING at once, and by BYE when it has come to that. Idempotent, and can only be "
		"hastened: for 1, workers are sent BYE with `drain`, and those that come later, too.", end, 0, MAY_ADMIN },
	ROW(ENDING) = { "ENDING", "dispatcher -> tool", "Answers END.", ending, 0, 0 },
	ROW(STEP) = { "STEP", "worker -> dispatcher",
		"A careful stream is about to make the next run of elements: should the worker be lost now, this is where. "
		"Answered by STEP_OK, unless `held`. Repeated until then.", step, 0, MAY_WORK | MAY_ADMIN },
	ROW(STEP_OK) = { "STEP_OK", "dispatcher -> worker", "Answers STEP of that number.", step_ok, 0, 0 },
	ROW(FAULTS) = { "FAULTS", "worker -> dispatcher",
		"Elements that failed. Not answered: the number is repeated in RESTART and STREAM_END.", faults, 1,
		MAY_WORK | MAY_ADMIN },
};
