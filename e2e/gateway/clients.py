"""Writes a dataset of Parquet files, and reads versions of it through a gateway by S3 clients of Python."""

import json
import os
import sys

PARTS = 3
ROWS = 20_000


def write(folder, version):
    import numpy
    import pyarrow
    import pyarrow.parquet

    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(version)
    for part in range(PARTS):
        table = pyarrow.table(
            {
                "id": numpy.arange(ROWS) + part * ROWS,
                "value": numpy.arange(ROWS, dtype="int64") * version,
                "noise": [random.bytes(100) for _ in range(ROWS)],
            }
        )
        pyarrow.parquet.write_table(table, f"{folder}/part-{part}.parquet", row_group_size=5_000)


def read_boto3(endpoint, ref):
    import io

    import boto3
    import pandas

    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket="data", Prefix=f"{ref}/table/", PaginationConfig={"PageSize": 2}
    )
    keys = [found["Key"] for page in pages for found in page["Contents"]]
    assert len(keys) == PARTS, keys
    import urllib.request

    import botocore.client

    signer = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        config=botocore.client.Config(signature_version="s3v4"),
    )
    url = signer.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": keys[0]})
    assert urllib.request.urlopen(url).read()[:4] == b"PAR1"
    bodies = [s3.get_object(Bucket="data", Key=key)["Body"].read() for key in keys]
    return sum(int(pandas.read_parquet(io.BytesIO(body))["value"].sum()) for body in bodies)


def read_pandas(endpoint, ref):
    import pandas

    options = {"client_kwargs": {"endpoint_url": endpoint}}
    paths = [f"s3://data/{ref}/table/part-{part}.parquet" for part in range(PARTS)]
    frames = [pandas.read_parquet(path, columns=["value"], storage_options=options) for path in paths]
    return sum(int(frame["value"].sum()) for frame in frames)


def read_s3fs(endpoint, ref):
    import pandas
    import s3fs

    files = s3fs.S3FileSystem(endpoint_url=endpoint)
    found = files.ls(f"data/{ref}/table")
    assert len(found) == PARTS, found
    total = 0
    for path in found:
        with files.open(path, "rb") as file:
            total += int(pandas.read_parquet(file, columns=["value"])["value"].sum())
    return total


def read_pyarrow(endpoint, ref):
    import pyarrow.compute
    import pyarrow.dataset
    import pyarrow.fs

    scheme, _, host = endpoint.partition("://")
    files = pyarrow.fs.S3FileSystem(endpoint_override=host, scheme=scheme, region="us-east-1")
    dataset = pyarrow.dataset.dataset(f"data/{ref}/table", filesystem=files, format="parquet")
    table = dataset.to_table(columns=["value"])
    return pyarrow.compute.sum(table["value"]).as_py()


def duckdb_with_httpfs():
    import pathlib

    import duckdb
    import duckdb_extension_httpfs

    (package,) = duckdb_extension_httpfs.__path__
    (extension,) = pathlib.Path(package).glob("**/httpfs.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"INSTALL '{extension}'")
    return connection


def read_duckdb(endpoint, ref):
    scheme, _, host = endpoint.partition("://")
    connection = duckdb_with_httpfs()
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    connection.execute("LOAD httpfs")
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', ENDPOINT '{host}', "
        f"URL_STYLE 'path', USE_SSL {scheme == 'https'})"
    )
    (total,) = connection.execute(
        f"SELECT sum(value)::BIGINT FROM read_parquet('s3://data/{ref}/table/*.parquet')"
    ).fetchone()
    return total


def run_sql(text):
    """The rows of the last statement."""
    return len(duckdb_with_httpfs().execute(text).fetchall())


if __name__ == "__main__":
    if sys.argv[1] == "sql":
        print(run_sql(sys.argv[2]))
    elif sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]))
    else:
        print(json.dumps(globals()[f"read_{sys.argv[1]}"](*sys.argv[2:])))
