/* SPDX-License-Identifier: MIT
 *
 * proto=msgpack: MessagePack values both ways, one after the other, with a
 * handshake and numbered elements, so that answers may come in any order and be
 * none, one or many.
 *
 *	we     {"dsvc": 1, "proto": "msgpack", "op": 2, "type": "int", "caps": [...]}
 *	child  {"dsvc": 1, "name": "score.py 1.2", "caps": [...]}      before any answer
 *	we     [id, element]                                    many, ahead of answers
 *	child  [id, "ok", element...]  [id, "skip"]  [id, "error", text, {"retry": bool}]
 *	       ["log", level, text]  ["stat", name, number]
 *	we     ["flush"]               delay: answer what you hold
 *	we     ["save"]    child ["state", bytes]      state: what you remember
 *	we     ["load", bytes]         state: before the first element
 *
 * The end of its input means that nothing more comes. dsvc-exec(7) tells it to
 * those who write such programs.
 */
#ifndef EXEC_EXEC_SPEAK_H
#define EXEC_EXEC_SPEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct exec;
struct exec_slot;
struct elem;
struct run;

enum { SPEAK_VERSION = 1, SPEAK_NAME = 64, SPEAK_STATS = 32, SPEAK_ROOM = 64 };

/* The state of the conversation with one child. */
struct speak {
	bool greeted;          /* it has answered the handshake */
	bool delays, keeps;    /* its capabilities: "delay", "state" */
	bool flushed;          /* it was told to flush, and was given nothing since */
	bool asked, told;      /* it was asked for its state; it has told it */
	struct buf state;      /* the state that it told last */
	char name[SPEAK_NAME];
};

/* A sum over what the children counted. */
struct speak_stat {
	char name[SPEAK_NAME];
	double sum;
};

/* Sends our half of the handshake, and the state to go on from, if there is one. */
void exec_speak_greet(struct exec *x, struct exec_slot *s);
void exec_speak_element(struct exec_slot *s, uint64_t seq, const struct elem *el);
void exec_speak_ask(struct exec_slot *s, const char *what); /* sends ["flush"] or ["save"] */
/* To be called when nothing has moved for a moment: tells a child that delays its answers to
 * flush. True: it did. */
bool exec_speak_quiet(struct exec *x, struct exec_slot *s);
/* Handles a message of the child. out NULL: answers wait. ST_DATA: it is not a valid message. */
enum status exec_speak_hear(struct exec *x, struct exec_slot *s, const uint8_t *p, size_t n,
			    struct run *out, struct err *e);
/* Reports the sums of what the children counted, as a note. */
void exec_speak_stats(struct exec *x);

#endif
