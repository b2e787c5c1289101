"""A loader of a training program in Python: processes read small files by boto3, each its share of the order.

loader.py ENDPOINT ACCESS_KEY SECRET_KEY BUCKET PROCESSES LIST, where LIST is a file of keys.
"""

import json
import multiprocessing
import sys
import time

import boto3
from botocore.config import Config

ENDPOINT, ACCESS, SECRET, BUCKET, PROCESSES, LIST = sys.argv[1:]


def load(keys, ready, begin):
    client = boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        aws_access_key_id=ACCESS,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )
    ready.release()
    begin.wait()
    for key in keys:
        client.get_object(Bucket=BUCKET, Key=key)["Body"].read()


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with open(LIST) as lines:
        keys = lines.read().split("\n")
    count = int(PROCESSES)
    ready, begin = context.Semaphore(0), context.Event()
    workers = [context.Process(target=load, args=(keys[at::count], ready, begin)) for at in range(count)]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    began = time.monotonic()
    begin.set()
    for worker in workers:
        worker.join()
    took = time.monotonic() - began
    if any(worker.exitcode for worker in workers):
        sys.exit("A worker failed.")
    print(json.dumps({"seconds": took, "files": len(keys)}))
