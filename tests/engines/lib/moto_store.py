#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""moto's object store with one user, whose signatures it checks.

usage: moto_store.py BUCKET --ready-fd N

The ready line is URL KEY SECRET.
"""
import json
import os
import sys
import threading
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
url = 'http://%s:%d' % server.get_host_and_port()
know = {'endpoint_url': url, 'region_name': 'us-east-1', 'aws_access_key_id': 'x', 'aws_secret_access_key': 'y'}
iam = boto3.client('iam', **know)
iam.create_user(UserName='u')
iam.put_user_policy(UserName='u', PolicyName='p', PolicyDocument=json.dumps(
    {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': '*', 'Resource': '*'}]}))
key = iam.create_access_key(UserName='u')['AccessKey']
boto3.client('s3', **know).create_bucket(Bucket=sys.argv[1])
urllib.request.urlopen(urllib.request.Request(url + '/moto-api/reset-auth', data=b'0', method='POST',
                                              headers={'Content-Type': 'text/plain'}))
with os.fdopen(int(sys.argv[sys.argv.index('--ready-fd') + 1]), 'w') as ready:
    print(url, key['AccessKeyId'], key['SecretAccessKey'], file=ready)
threading.Event().wait()
