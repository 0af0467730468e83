#!/usr/bin/python3
# proto=msgpack: answers each text with two elements, the text in capitals and its length.
import msgpack
hear, out = msgpack.Unpacker(open(0, "rb", 0)), open(1, "wb", 0)
say = lambda message: out.write(msgpack.packb(message))
next(hear)  # {"dsvc": 1, "proto": "msgpack", ...}
say({"dsvc": 1, "name": "shout.py 1.0"})
for number, text in hear:
    if text:
        say([number, "ok", text.upper(), len(text)])
    else:
        say([number, "error", "no text", {"retry": False}])
