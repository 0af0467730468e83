#!/usr/bin/python3
# proto=msgpack: adds up odd numbers without an answer, and answers even ones with the
# sum so far. It works on many elements at a time (delay), counts, and keeps a state, so
# a stream that continues on another worker continues with its sum.
import msgpack

hear, out = msgpack.Unpacker(open(0, "rb", 0)), open(1, "wb", 0)
total, held = 0, []


def say(*messages):
    out.write(b"".join(map(msgpack.packb, messages)))


def work():
    global total
    answers = []
    for number, x in held:
        total += x
        answers.append([number, "skip"] if x % 2 else [number, "ok", total])
    if held:
        say(*reversed(answers), ["stat", "batches", 1])  # in any order
    held.clear()


hello = next(hear)
say({"dsvc": 1, "name": "total.py 1.0", "caps": ["delay", "skip", "state", "stats"]})
if hello["type"] not in ("int", "any"):
    say(["log", "warning", "elements are " + hello["type"]])
for message in hear:
    if message[0] == "save":
        work()
        say(["state", b"%d" % total])
    elif message[0] == "load":
        total = int(message[1])
    elif message[0] == "flush":
        work()
    else:
        held.append(message)
        if len(held) == 32:
            work()
work()
