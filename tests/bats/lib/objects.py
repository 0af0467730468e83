#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A web server and an object store, with what goes wrong with them.

usage: objects.py FOLDER [--key ID:SECRET[:TOKEN]] [--region NAME] [--log FILE] [--tls CERT] [--ready-fd N]

GET /web/NAME is a file of FOLDER by HTTP; /BUCKET/KEY is an object of FOLDER/BUCKET as S3 has
it, with signatures (AWS Signature Version 4, checked here as its specification says, not by any
library) when there is a key. Words in a name say what goes wrong with it:

  noranges   the whole is sent, whatever part is asked for
  busy       each part is refused with 503 the first time it is asked for
  cut        of each part half is sent the first time, and the connection closed
  changes    is another object after the first answer
  untagged   has neither ETag nor Last-Modified
  lies       gives another part than the one asked for
  gone       404, forbid: 403, broken: 500
  moved      is at /web/real.NAME; away: at an address with another scheme; unsafe: at one of http
  nohead     403 for HEAD

PUT and DELETE write and remove an object; POST KEY?uploads=, PUT KEY?partNumber=N&uploadId=ID, POST and DELETE
KEY?uploadId=ID are an upload in parts, GET /BUCKET/?uploads= lists those that have not ended; for each there is an
empty file FOLDER/upload-N. What goes wrong with writing is said by --faults WORD,WORD...:

  busyput    each request that writes is refused with 503 the first time
  cutput     of each part the connection is closed, once, before all of it is read
  lostend    the end of an upload is done, and the connection closed without an answer
  badend     the end of an upload is answered by 200 and an error, once
  hold       the end of an upload, or of an object in one piece below data-, waits until FOLDER/go is there
  down       while FOLDER/down is there, what writes is refused with 503
  slowlist   a list is answered once FOLDER/go is there; FOLDER/listing is there once one was asked for
  slow       a position of dsvc-save is answered after --slow SECONDS; FOLDER/slow is there once one has come

The log has a line for each request: METHOD PATH RANGE CODE.
"""
import hashlib
import hmac
import itertools
import os
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

options = {'--key': None, '--region': 'us-east-1', '--log': None, '--ready-fd': None, '--tls': None, '--faults': '',
           '--slow': '0'}
folder = sys.argv[1]
words = iter(sys.argv[2:])
for word in words:
    options[word] = next(words)
key = options['--key'] and (options['--key'].split(':') + [None])[:3]
seen, lock = set(), threading.Lock()
faults = set(options['--faults'].split(','))
uploads, numbers = {}, itertools.count(1) # id: (bucket/key, {number: bytes})


def first_time(what):
    with lock:
        if what in seen:
            return False
        seen.add(what)
        return True


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *a):
        pass

    def say(self, code, headers=(), body=b'', head=False):
        with lock:
            if options['--log']:
                with open(options['--log'], 'a') as f:
                    print(self.command, self.path, self.headers.get('Range', '-'), code, file=f)
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if not any(n == 'Content-Length' for n, _ in headers):
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if not head and self.command != 'HEAD':
            self.wfile.write(body)

    def fault(self, code, name, headers=()):
        self.say(code, [('Content-Type', 'application/xml'), *headers],
                 f'<?xml version="1.0"?><Error><Code>{name}</Code></Error>'.encode())

    # The signature of a request, by the steps that the specification of version 4 has.
    def signed(self):
        if not key:
            return None
        auth = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, *'
                            r'SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})', self.headers.get('Authorization', ''))
        if not auth:
            return 'AccessDenied'
        ident, day, region, names, signature = auth.groups()
        if ident != key[0]:
            return 'InvalidAccessKeyId'
        if region != options['--region']:
            return 'AuthorizationHeaderMalformed'
        if key[2] and (self.headers.get('x-amz-security-token') != key[2] or 'x-amz-security-token' not in names):
            return 'InvalidToken'
        path, _, query = self.path.partition('?')
        if query and sorted(query.split('&')) != query.split('&'):
            return 'SignatureDoesNotMatch'
        if 'host' not in names.split(';') or not self.headers.get('x-amz-content-sha256'):
            return 'MissingSecurityHeader'
        canonical = '\n'.join([self.command, path, query,
                               *(n + ':' + ' '.join(self.headers.get(n, '').split()) for n in names.split(';')), '', names,
                               self.headers['x-amz-content-sha256']])
        scope = f'{day}/{region}/s3/aws4_request'
        to_sign = '\n'.join(['AWS4-HMAC-SHA256', self.headers['x-amz-date'], scope, sha(canonical)])
        k = ('AWS4' + key[1]).encode()
        for part in (day, region, 's3', 'aws4_request', to_sign):
            k = hmac.new(k, part.encode(), hashlib.sha256).digest()
        return None if k.hex() == signature else 'SignatureDoesNotMatch'

    def listing(self, bucket, query):
        ask = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        root, prefix, keys, common = os.path.join(folder, bucket), ask.get('prefix', ''), [], set()
        for at, _, files in os.walk(root):
            for name in (f for f in files if f[-1] != '~'):
                k = os.path.relpath(os.path.join(at, name), root)
                rest = k[len(prefix):]
                if not k.startswith(prefix):
                    continue
                if ask.get('delimiter') and ask['delimiter'] in rest:
                    common.add(prefix + rest.split('/')[0] + '/')
                else:
                    keys.append(k)
        keys.sort(key=lambda k: k.encode())
        most = int(os.environ.get('OBJECTS_PAGE', ask.get('max-keys', '1000')))
        token = ask.get('continuation-token')
        if token:
            keys = [k for k in keys if k > bytes.fromhex(token[5:]).decode()]
        more = len(keys) > most
        keys = keys[:most]
        body = ''.join('<Contents><Key>%s</Key><Size>%d</Size><ETag>%s</ETag></Contents>' % (
            escape(k), os.path.getsize(os.path.join(root, k)), escape(self.tag(os.path.join(root, k)), {'"': '&quot;'}))
            for k in keys)
        body += ''.join('<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>' % escape(c) for c in common)
        if more: # a token with signs that must be encoded
            body += '<NextContinuationToken>a+/=&amp;%s</NextContinuationToken>' % keys[-1].encode().hex()
        self.say(200, [('Content-Type', 'application/xml')],
                 ('<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                  '<IsTruncated>%s</IsTruncated>%s</ListBucketResult>' % (str(more).lower(), body)).encode())

    def tag(self, file):
        return '"' + hashlib.md5(file.encode() + str(os.stat(file).st_mtime_ns).encode()).hexdigest() + '"'

    def object(self, file, name):
        tag = self.tag(file)
        if 'changes' in name and not first_time(('changes', file)):
            tag = '"another"'
        if self.headers.get('If-Match', tag) != tag:
            return self.fault(412, 'PreconditionFailed')
        if self.headers.get('If-None-Match') == tag:
            return self.say(304, [('ETag', tag)], head=True)
        size, want = os.path.getsize(file), re.fullmatch(r'bytes=(\d+)-(\d+)', self.headers.get('Range', ''))
        headers = [] if 'untagged' in name else [('ETag', tag)]
        start, end, code = 0, size, 200
        if 'noranges' not in name:
            headers.append(('Accept-Ranges', 'bytes'))
        if want and 'noranges' not in name:
            start, end, code = int(want[1]), min(size, int(want[2]) + 1), 206
            if 'lies' in name:
                start = max(0, start - 1)
            if start >= size:
                return self.say(416, [('Content-Range', f'bytes */{size}')])
            headers.append(('Content-Range', f'bytes {start}-{end - 1}/{size}'))
        if 'busy' in name and first_time(('busy', file, start)):
            return self.say(503, [('Retry-After', '0')])
        with open(file, 'rb') as f:
            f.seek(start)
            body = f.read(end - start)
        headers.append(('Content-Length', str(len(body))))
        if 'cut' in name and len(body) > 1 and self.command == 'GET' and first_time(('cut', file, end)):
            body = body[:len(body) // 2]
            self.close_connection = True
        self.say(code, headers, body)

    # ---- writing ----

    def tag_of(self, body):
        return '"' + hashlib.md5(body).hexdigest() + '"'

    def store(self, name, body):
        file = os.path.join(folder, name)
        if not os.path.isdir(os.path.join(folder, name.split('/')[0])):
            self.fault(404, 'NoSuchBucket')
            return False
        with lock:
            if self.headers.get('If-None-Match') == '*' and os.path.exists(file):
                code = 412
            else:
                code = 200
                os.makedirs(os.path.dirname(file), exist_ok=True)
                with open(file + '~', 'wb') as f:
                    f.write(body)
                os.replace(file + '~', file)
        if code == 412:
            self.fault(412, 'PreconditionFailed')
        return code == 200

    def xml(self, text):
        self.say(200, [('Content-Type', 'application/xml')], ('<?xml version="1.0"?>' + text).encode())

    def upload_over(self, ident):
        with lock:
            if uploads.pop(ident, None):
                os.remove(os.path.join(folder, 'upload-' + ident[3:-2]))

    def until_go(self):
        while not os.path.exists(os.path.join(folder, 'go')):
            time.sleep(0.01)

    def hold(self):
        if 'hold' in faults:
            self.until_go()

    def slow(self):
        if 'slow' in faults:
            open(os.path.join(folder, 'slow'), 'w').close()
            time.sleep(float(options['--slow']))

    def end(self, name, ident, body):
        with lock:
            parts = uploads.get(ident)
        if not parts or parts[0] != name:
            return self.fault(404, 'NoSuchUpload')
        listed = re.findall(r'<PartNumber>(\d+)</PartNumber><ETag>(.*?)</ETag>', body.decode())
        if not listed or [int(n) for n, _ in listed] != sorted(parts[1]) or any(
                self.tag_of(parts[1][int(n)]) != t.replace('&quot;', '"') for n, t in listed):
            return self.fault(400, 'InvalidPart')
        if any(len(parts[1][int(n)]) < 5 << 20 for n, _ in listed[:-1]):
            return self.fault(400, 'EntityTooSmall')
        self.hold()
        if 'badend' in faults and first_time(('badend', name)):
            return self.xml('<Error><Code>InternalError</Code></Error>')
        self.store(name, b''.join(parts[1][int(n)] for n, _ in listed))
        self.upload_over(ident)
        if 'lostend' in faults and first_time(('lostend', name)):
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        return self.xml('<CompleteMultipartUploadResult/>')

    def do_write(self):
        path, _, query = self.path.partition('?')
        name, ask = urllib.parse.unquote(path)[1:], dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        size = int(self.headers.get('Content-Length', 0))
        if 'cutput' in faults and 'partNumber' in ask and first_time(('cutput', self.path)):
            self.rfile.read(size // 2)
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        body = self.rfile.read(size)
        if len(body) < size: # the client is gone
            return None
        why = self.signed()
        if why:
            return self.fault(403, why)
        if os.path.exists(os.path.join(folder, 'down')) or ('busyput' in faults and first_time(
                ('busyput', self.command, self.path))):
            return self.say(503, [('Retry-After', '0')])
        if 'uploads' in ask:
            ident = 'up/%d+&' % next(numbers)
            with lock:
                uploads[ident] = (name, {})
                open(os.path.join(folder, 'upload-' + ident[3:-2]), 'w').close()
            return self.xml('<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>'
                            % escape(ident))
        ident = ask.get('uploadId')
        if ident and self.command == 'POST':
            return self.end(name, ident, body)
        if ident:
            with lock:
                there = ident in uploads and uploads[ident][0] == name
                if there and self.command == 'PUT':
                    uploads[ident][1][int(ask['partNumber'])] = body
            if there and self.command == 'DELETE':
                self.upload_over(ident)
            if not there:
                return self.fault(404, 'NoSuchUpload')
            return self.say(200 if self.command == 'PUT' else 204, [('ETag', self.tag_of(body))])
        if self.command == 'DELETE':
            try:
                os.remove(os.path.join(folder, name))
            except FileNotFoundError:
                pass
            return self.say(204)
        if '/data-' in name:
            self.hold()
        if '/.dsvc-position' in name:
            self.slow()
        return self.store(name, body) and self.say(200, [('ETag', self.tag_of(body))])

    do_PUT = do_POST = do_DELETE = do_write

    def upload_list(self, bucket, query):
        ask = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        with lock:
            found = sorted((n[len(bucket) + 1:], i) for i, (n, _) in uploads.items()
                           if n.startswith(bucket + '/' + ask.get('prefix', '')))
        after = (ask.get('key-marker', ''), ask.get('upload-id-marker', ''))
        found = [f for f in found if f > after]
        most = int(os.environ.get('OBJECTS_PAGE', '1000'))
        body = ''.join('<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>' % (escape(k), escape(i))
                       for k, i in found[:most])
        if len(found) > most:
            body += '<IsTruncated>true</IsTruncated><NextKeyMarker>%s</NextKeyMarker><NextUploadIdMarker>%s' \
                    '</NextUploadIdMarker>' % tuple(map(escape, found[most - 1]))
        return self.xml('<ListMultipartUploadsResult>%s</ListMultipartUploadsResult>' % body)

    def do_GET(self):
        path, _, query = self.path.partition('?')
        name = urllib.parse.unquote(path)[1:]
        if 'moved' in name:
            return self.say(302, [('Location', '/web/real.' + name.split('/')[-1].replace('moved', ''))])
        if 'unsafe' in name:
            return self.say(302, [('Location', 'http://127.0.0.1/x')])
        if 'away' in name:
            return self.say(302, [('Location', 'ftp://127.0.0.1/x')])
        for word, code in (('gone', 404), ('forbid', 403), ('broken', 500)):
            if word in name:
                return self.fault(code, word)
        if 'nohead' in name and self.command == 'HEAD':
            return self.fault(403, 'AccessDenied')
        if not name.startswith('web/'):
            why = self.signed()
            if why == 'AuthorizationHeaderMalformed':
                return self.fault(400, why, [('x-amz-bucket-region', options['--region'])])
            if why:
                return self.fault(403, why)
            if name.endswith('/') and name.count('/') == 1 and query.endswith('&uploads='):
                return self.upload_list(name[:-1], query)
            if name.endswith('/') and name.count('/') == 1 and query:
                if 'slowlist' in faults:
                    open(os.path.join(folder, 'listing'), 'w').close()
                    self.until_go()
                return self.listing(name[:-1], query)
        file = os.path.join(folder, name)
        if not os.path.isfile(file):
            return self.fault(404, 'NoSuchKey')
        self.object(file, name)

    do_HEAD = do_GET


server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
server.daemon_threads = True
scheme = 'http'
if options['--tls']:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options['--tls'])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = 'https'
if options['--ready-fd']:
    with os.fdopen(int(options['--ready-fd']), 'w') as ready:
        print(f'{scheme}://127.0.0.1:{server.server_address[1]}', file=ready)
server.serve_forever()
