"""A stand-in for the OpenML server, below the code that speaks HTTP with it."""

import hashlib
import io
import json
import urllib.error
import urllib.request
from email.message import Message
from urllib.response import addinfourl


class Offline(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> addinfourl:
        raise urllib.error.URLError("no route to host")


def openml_server(**arff: str) -> type[urllib.request.HTTPSHandler]:
    """Return a handler that answers like the OpenML server, which holds the given sets.

    The last attribute of each is the class.
    """
    answers = {}
    for number, (key, text) in enumerate(arff.items(), start=21):
        answers |= _answers_about(key.replace("_", "-"), number, text)

    class Server(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> addinfourl:
            body = answers[request.selector].encode()
            response = addinfourl(io.BytesIO(body), Message(), request.full_url, 200)
            response.msg = "OK"
            return response

    return Server


def _answers_about(name: str, number: int, arff: str) -> dict[str, str]:
    header, rows = arff.split("@DATA\n")
    attributes = [
        line.split(maxsplit=2)[1:] for line in header.splitlines() if line.startswith("@ATTRIBUTE")
    ]
    columns = list(zip(*(row.split(",") for row in rows.splitlines()), strict=True))
    features = [
        {
            "index": str(index),
            "name": attribute,
            "data_type": "nominal" if kind.startswith("{") else "numeric",
            "is_target": str(index == len(attributes) - 1).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": str(column.count("?")),
        }
        for index, ((attribute, kind), column) in enumerate(zip(attributes, columns, strict=True))
    ]
    description = {
        "id": str(number),
        "name": name,
        "version": "1",
        "description": f"A small set named {name}",
        "format": "ARFF",
        "file_id": str(number),
        "url": f"https://www.openml.org/data/download/{number}/{name}.arff",
        "default_target_attribute": attributes[-1][0],
        "status": "active",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    found = {"did": number, "name": name, "version": 1, "status": "active"}
    api = "/api/v1/json/data"
    answers = {
        f"{api}/list/data_name/{name}/limit/2/data_version/1": {"data": {"dataset": [found]}},
        f"{api}/{number}": {"data_set_description": description},
        f"{api}/features/{number}": {"data_features": {"feature": features}},
        f"{api}/qualities/{number}": {
            "data_qualities": {
                "quality": [{"name": "NumberOfInstances", "value": str(len(columns[0]))}]
            }
        },
    }
    return {path: json.dumps(answer) for path, answer in answers.items()} | {
        f"/data/download/{number}/{name}.arff": arff
    }
